/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A message of sendmsg or recvmsg as strace writes it: `{msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="a", iov_len=1}], ...}`. */
#ifndef BURIN_VIEW_KERNEL_MESSAGE_TEXT_H
#define BURIN_VIEW_KERNEL_MESSAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"
#include "view/kernel/syscall_words.h"

enum {
	MESSAGE_VECTORS = 4, /* that a record has */
};

/* Bytes of a record. */
struct message_part {
	const void *bytes;
	size_t count;
};

/*
 * message_text - append it. Addresses stand for bytes that the record lacks.
 * @machine: may be NULL
 * @name: the address that it is sent to, or came from
 * @message: struct msghdr, the first of its struct iovec, and the first bytes of the first one; none: an older trace, of which the rest is dots
 * Return: false: there is neither of them, and nothing was written.
 */
bool message_text(const struct syscall_machine *machine, const struct message_part *name,
		  const struct message_part *message, struct view_buffer *out);

#endif
