/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages of sendmsg and recvmsg, and vectors; see kernel_message.h.
 *
 * An array in the record gets the header, the vectors, and bytes of what they lead to, one behind the other.
 * KERNEL_STACK_SOCKET_BYTES counts them: put_more() copies behind that many, and adds. A part that cannot be read
 * ends the array there, so its length is what was copied.
 *
 * The verifier must know that each copy stays in the ring. So the count is masked (BEFORE_MASK), each size is limited
 * right before its use (kernel_message_put_limit()), and their sum is bounded by constants: TRACEPOINT_MESSAGE_VECTORS,
 * TRACEPOINT_MESSAGE_DATA.
 *
 * Header and vectors are read from the record, where they were copied, and not from the process again. So what is
 * followed is what is recorded, also if another thread changes the memory in between. Their numbers are foreign: the
 * number of vectors is asked before each (kernel_message_put_count()), since behind the last one lie older bytes of the ring.
 */
#include "source/kernel/bpf/kernel_message.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
	HEAD = TRACEPOINT_MESSAGE_HEAD,
	VECTOR_SHIFT = 4,
	BEFORE_MASK = 255, /* of the bytes before a part */
};

static_assert(sizeof(struct msghdr) == HEAD && sizeof(struct iovec) == 1 << VECTOR_SHIFT,
	      "as the kernel has them");
static_assert(KERNEL_MESSAGE_SENT < 256 && BEFORE_MASK == 255, "the numbers of bytes fit");

/* Where the vectors of a call are: behind their head, which has their number, or else the third argument has it. */
struct vectors {
	const struct kernel_layout *layout;
	unsigned base;
	int offset; /* of the array */
	bool has_head;
};

/* Let register @target be not more than a number. */
static void kernel_message_put_limit(struct bpf_program *to, unsigned target, int most)
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
	unsigned bad, null;

	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_2);
	bpf_put_set(to, BPF_REG_0, -EFAULT);
	null = bpf_put_jump(to, BPF_JEQ, BPF_REG_3, 0); /* as kernel_put_socket() */
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, BEFORE_MASK);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, base);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, offset);
	bpf_put_call(to, BPF_FUNC_probe_read_user);
	bpf_land(to, null);
	bad = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	kernel_put_load(to, BPF_REG_2, BPF_REG_10, KERNEL_STACK_SOCKET);
	bpf_put_alu_register(to, BPF_ADD, BPF_REG_1, BPF_REG_2);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_1);
	return bad;
}

/* Register @target: how many vectors there are. */
static void kernel_message_put_count(struct bpf_program *to, const struct vectors *of, unsigned target)
{
	if (of->has_head)
		kernel_put_load(to, target, of->base, of->offset + (int)offsetof(struct msghdr, msg_iovlen));
	else
		kernel_put_register(to, of->layout, BPF_DW, target, kernel_argument_places[2]);
}

/* Copy the vectors at register 3. Return: a jump if there are none, and one if they cannot be read. */
static void put_vectors(struct bpf_program *to, const struct vectors *of, unsigned ends[2])
{
	kernel_message_put_count(to, of, BPF_REG_2);
	ends[0] = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, 0);
	kernel_message_put_limit(to, BPF_REG_2, TRACEPOINT_MESSAGE_VECTORS);
	bpf_put_alu(to, BPF_LSH, BPF_REG_2, VECTOR_SHIFT);
	ends[1] = put_more(to, of->base, of->offset);
}

/* Copy the first bytes of each vector while there is room. */
static void kernel_message_put_data(struct bpf_program *to, const struct vectors *of)
{
	unsigned ends[TRACEPOINT_MESSAGE_VECTORS * 2], count = 0;
	int at = of->offset + (of->has_head ? HEAD : 0);

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_LENGTH, TRACEPOINT_MESSAGE_DATA);
	for (unsigned n = 0; n < TRACEPOINT_MESSAGE_VECTORS; n++, at += 1 << VECTOR_SHIFT) {
		unsigned few, none;

		if (n) { /* behind the last one are older bytes of the ring */
			kernel_message_put_count(to, of, BPF_REG_1);
			ends[count++] = bpf_put_jump(to, BPF_JLE, BPF_REG_1, (int)n);
		}
		kernel_put_load(to, BPF_REG_3, of->base, at + (int)offsetof(struct iovec, iov_base));
		kernel_put_load(to, BPF_REG_2, of->base, at + (int)offsetof(struct iovec, iov_len));
		bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_LENGTH);
		few = bpf_put_jump_register(to, BPF_JLE, BPF_REG_2, BPF_REG_1);
		bpf_put_copy(to, BPF_REG_2, BPF_REG_1);
		bpf_land(to, few);
		kernel_message_put_limit(to, BPF_REG_2, TRACEPOINT_MESSAGE_DATA);
		bpf_put_alu_register(to, BPF_SUB, BPF_REG_1, BPF_REG_2);
		bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_LENGTH, BPF_REG_1);
		none = bpf_put_jump(to, BPF_JEQ, BPF_REG_2, 0);
		ends[count++] = put_more(to, of->base, of->offset);
		bpf_land(to, none);
	}
	while (count)
		bpf_land(to, ends[--count]);
}

void kernel_message_put(struct bpf_program *to, const struct kernel_layout *layout, unsigned base, int offset,
			bool exits)
{
	const struct vectors vectors = { layout, base, offset, true };
	unsigned ends[4], count = 0;

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	if (exits) {
		kernel_put_load(to, BPF_REG_2, BPF_REG_6, KERNEL_RESULT);
		ends[count++] = bpf_put_jump(to, BPF_JSLT, BPF_REG_2, 0);
	}
	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, kernel_argument_places[1]);
	bpf_put_set(to, BPF_REG_2, HEAD);
	ends[count++] = put_more(to, base, offset);
	kernel_put_load(to, BPF_REG_3, base, offset + (int)offsetof(struct msghdr, msg_iov));
	put_vectors(to, &vectors, &ends[count]);
	count += 2;
	if (!exits)
		kernel_message_put_data(to, &vectors);
	while (count)
		bpf_land(to, ends[--count]);
}

void kernel_message_put_vectors(struct bpf_program *to, const struct kernel_layout *layout, unsigned base,
				int offset)
{
	const struct vectors vectors = { layout, base, offset, false };
	unsigned ends[2];

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, kernel_argument_places[1]);
	put_vectors(to, &vectors, ends);
	kernel_message_put_data(to, &vectors);
	bpf_land(to, ends[0]);
	bpf_land(to, ends[1]);
}

/* A header that could not be read has none. */
void kernel_message_control(struct bpf_program *to, unsigned base, int offset)
{
	unsigned none;

	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_LENGTH, 0);
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	none = bpf_put_jump(to, BPF_JLT, BPF_REG_1, HEAD);
	kernel_put_load(to, BPF_REG_2, base, offset + (int)offsetof(struct msghdr, msg_controllen));
	kernel_message_put_limit(to, BPF_REG_2, TRACEPOINT_SOCKET_MAX);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_LENGTH, BPF_REG_2);
	kernel_put_load(to, BPF_REG_1, base, offset + (int)offsetof(struct msghdr, msg_control));
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_1);
	bpf_land(to, none);
}
