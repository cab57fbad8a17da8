/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The messages of sendmsg and recvmsg: struct msghdr, TRACEPOINT_MESSAGE_VECTORS of its struct iovec at most, and of one that is sent the first bytes of the
 * first one. They are one array, behind that of the address.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_MESSAGE_H
#define BURIN_SOURCE_KERNEL_KERNEL_MESSAGE_H

#include "source/kernel/kernel_put.h"

enum {
	/* Of one that is received, and of one that is sent. */
	KERNEL_MESSAGE_RECEIVED = TRACEPOINT_MESSAGE_HEAD + TRACEPOINT_MESSAGE_VECTORS * 16,
	KERNEL_MESSAGE_SENT = KERNEL_MESSAGE_RECEIVED + TRACEPOINT_MESSAGE_DATA,
};

/*
 * kernel_message_put - copy the message to register @base plus an offset. It ends where memory cannot be read. Changes registers 0 to 5 and KERNEL_STACK_SOCKET.
 * @exits: at the exit of the call
 * KERNEL_STACK_SOCKET_BYTES: how many bytes it has.
 */
void kernel_message_put(struct bpf_program *to, const struct kernel_layout *layout, unsigned base, int offset,
			bool exits);

#endif
