/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A message of sendmsg or recvmsg as strace writes it: `{msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="a", iov_len=1}], ...}`. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_MESSAGE_TEXT_H
#define BURIN_VIEW_SYSCALLS_VALUES_MESSAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"
#include "view/syscalls/values/descriptor_calls.h"
#include "view/syscalls/values/syscall_words.h"

enum {
	MESSAGE_VECTORS = 4, /* that a record has */
	MESSAGE_DATA = 128,  /* bytes of all of them */
};

/* Bytes of a record. */
struct message_part {
	const void *bytes;
	size_t count;
};

struct message {
	struct message_part name; /* the address that it is sent to, or came from */
	struct message_part
		head; /* struct msghdr, the first of its struct iovec, and the first bytes of these; none: an older trace, of which the rest is dots */
	struct message_part control;
};

/*
 * message_text - append it. Addresses stand for bytes that the record lacks.
 * @machine: may be NULL
 * @place: of the descriptors that it has
 * Return: false: there is neither a name nor a head, and nothing was written.
 */
bool message_text(const struct syscall_machine *machine, const struct descriptor_place *place,
		  const struct message *message, struct view_buffer *out);

/*
 * message_text_vectors - append vectors: `[{iov_base="a", iov_len=1}]`.
 * @part: the first ones, and their first bytes; @count: how many there are
 * Return: false: the record has none of them, and nothing was written.
 */
bool message_text_vectors(const struct message_part *part, uint64_t count, struct view_buffer *out);

#endif
