/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages of sendmsg and recvmsg; see kernel_message.h. */
#include "source/kernel/kernel_message.h"

#include <assert.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
	HEAD = TRACEPOINT_MESSAGE_HEAD,
	VECTOR_SHIFT = 4,
	BEFORE_MASK = 127, /* of the bytes before the last part */
};

static_assert(sizeof(struct msghdr) == HEAD && sizeof(struct iovec) == 1 << VECTOR_SHIFT,
	      "as the kernel has them");
static_assert(KERNEL_MESSAGE_RECEIVED < 128 && KERNEL_MESSAGE_SENT < 256,
	      "BEFORE_MASK, and the numbers of bytes fit");

/* Let register @target be not more than a number. */
static void put_limit(struct bpf_program *to, unsigned target, int most)
{
	const unsigned few = bpf_put_jump(to, BPF_JLE, target, most);

	bpf_put_set(to, target, most);
	bpf_land(to, few);
}

/*
 * Copy as many bytes as register 2 has from register 3 behind those that KERNEL_STACK_SOCKET_BYTES counts, and count them, too.
 * Return: a jump if they cannot be read.
 */
static unsigned put_more(struct bpf_program *to, unsigned base, int offset)
{
	unsigned bad;

	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_2);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, BEFORE_MASK);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, base);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, offset);
	bpf_put_call(to, BPF_FUNC_probe_read_user);
	bad = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	kernel_put_load(to, BPF_REG_2, BPF_REG_10, KERNEL_STACK_SOCKET);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_2);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_1);
	return bad;
}

/* Without a vector there is no data: the bytes where it would lie are older ones. */
void kernel_message_put(struct bpf_program *to, const struct kernel_layout *layout, unsigned base, int offset,
			bool exits)
{
	unsigned ends[5], count = 0;

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	if (exits) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_6, KERNEL_RESULT);
		ends[count++] = bpf_put_jump(to, BPF_JSLT, BPF_REG_2, 0);
	}
	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, kernel_argument_places[1]);
	bpf_put_set(to, BPF_REG_2, HEAD);
	ends[count++] = put_more(to, base, offset);
	kernel_put_load(to, BPF_REG_3, base, offset + (int)offsetof(struct msghdr, msg_iov));
	kernel_put_load(to, BPF_REG_2, base, offset + (int)offsetof(struct msghdr, msg_iovlen));
	ends[count++] = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, 0);
	put_limit(to, BPF_REG_2, TRACEPOINT_MESSAGE_VECTORS);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, VECTOR_SHIFT);
	ends[count++] = put_more(to, base, offset);
	if (!exits) {
		kernel_put_load(to, BPF_REG_3, base, offset + HEAD + (int)offsetof(struct iovec, iov_base));
		kernel_put_load(to, BPF_REG_2, base, offset + HEAD + (int)offsetof(struct iovec, iov_len));
		put_limit(to, BPF_REG_2, TRACEPOINT_MESSAGE_DATA);
		ends[count++] = put_more(to, base, offset);
	}
	while (count)
		bpf_land(to, ends[--count]);
}
