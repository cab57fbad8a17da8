/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The messages of sendmsg and recvmsg, and the vectors of writev: struct msghdr, at most TRACEPOINT_MESSAGE_VECTORS of struct iovec, and of what is sent
 * at most TRACEPOINT_MESSAGE_DATA bytes, of each vector as many as there is room for behind those before. They are one array. The control
 * messages are another one.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_MESSAGE_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_MESSAGE_H

#include "source/kernel/bpf/kernel_put.h"

enum {
	/* Of one that is received, and of one that is sent. */
	KERNEL_MESSAGE_RECEIVED = TRACEPOINT_MESSAGE_HEAD + TRACEPOINT_MESSAGE_VECTORS * 16,
	KERNEL_MESSAGE_SENT = KERNEL_MESSAGE_RECEIVED + TRACEPOINT_MESSAGE_DATA,
};

/*
 * kernel_message_put - copy the message to register @base plus an offset. It ends where memory cannot be read. Changes registers 0 to 5, KERNEL_STACK_SOCKET and KERNEL_STACK_LENGTH.
 * @exits: at the exit of the call
 * KERNEL_STACK_SOCKET_BYTES: how many bytes it has.
 *
 * kernel_message_put_vectors - the same of the vectors to which the second argument points, as many as the third one says.
 *
 * kernel_message_control - behind kernel_message_put(), KERNEL_STACK_SOCKET: where its control messages are. KERNEL_STACK_LENGTH: their
 * bytes. Changes registers 1 and 2.
 */
void kernel_message_put(struct bpf_program *to, const struct kernel_layout *layout, unsigned base, int offset,
			bool exits);
void kernel_message_put_vectors(struct bpf_program *to, const struct kernel_layout *layout, unsigned base,
				int offset);
void kernel_message_control(struct bpf_program *to, unsigned base, int offset);

#endif
