/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What arguments of system calls point to, as strace writes it: `{st_mode=S_IFREG|0644, st_size=5, ...}`. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_MEMORY_TEXT_H
#define BURIN_VIEW_SYSCALLS_VALUES_MEMORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"
#include "view/syscalls/values/descriptor_calls.h"
#include "view/syscalls/values/memory_form.h"
#include "view/syscalls/values/syscall_words.h"

enum {
	MEMORY_MAX = 128, /* bytes that a record has */
	MEMORY_PIECES = 4,
};

/* An argument, and what it points to. */
struct memory_pointer {
	unsigned argument;
	enum memory_form form;
};

/* A call by the name of its manual page. Further lines of it are further pieces of memory that it has. */
struct memory_call {
	const char *call;
	struct memory_pointer begin, end; /* what the record of its begin has, and that of its end */
};

/* memory_call_find - NULL: its arguments point to nothing that is known. */
const struct memory_call *memory_call_find(const char *call);

/* memory_call_next - the call's next line; NULL: there is none. */
const struct memory_call *memory_call_next(const struct memory_call *line);

/* memory_command_form - what an ioctl of this command points to; MEMORY_NONE: it is unknown. */
enum memory_form memory_command_form(uint32_t command);

/*
 * memory_lock_form, memory_name_form - the same of an fcntl, of which locks are known, and of a prctl with the name of a thread. @returned: at the end
 * of the call
 */
enum memory_form memory_lock_form(uint32_t command, bool returned);
enum memory_form memory_name_form(uint32_t option, bool returned);

/* memory_option_form - what an option of a socket is. */
enum memory_form memory_option_form(uint32_t level, uint32_t option);

/* memory_arguments - how many arguments one of this form stands for; 0: it stands behind the result. */
static inline unsigned memory_arguments(enum memory_form form)
{
	if (form == MEMORY_POLL_RETURNED || (form >= MEMORY_SET_IN && form <= MEMORY_LEFT_MICRO))
		return 0;
	return form == MEMORY_SOCKET_RETURNED || form == MEMORY_OPTION_RETURNED ? 2 : 1;
}

/* memory_may_be_empty - whether it is written if there are no elements, and so no bytes. */
static inline bool memory_may_be_empty(enum memory_form form)
{
	return form == MEMORY_SENT || form == MEMORY_POLL || form == MEMORY_POLL_RETURNED ||
	       form == MEMORY_SET_IN || form == MEMORY_EPOLL_RETURNED || form == MEMORY_VECTOR;
}

/*
 * memory_set_end - how much of a set counts that a select has returned: the kernel may leave what is behind the last one that is ready.
 * @times: descriptors that it may have; @ready: those that are ready, in this set and in those behind it, of which the ones that it has are taken
 */
int64_t memory_set_end(const uint8_t *bytes, size_t count, int64_t times, int64_t *ready);

/*
 * memory_text - write it.
 * @machine: may be NULL
 * @place: of its descriptors
 * @times: of an array or a set, its elements, of which fewer may be there, or -1: unknown; at the end of a call, its result
 * Return: false: these bytes are not what they should be, and nothing was written.
 */
bool memory_text(enum memory_form form, const struct syscall_machine *machine,
		 const struct descriptor_place *place, const uint8_t *bytes, size_t count, int64_t times,
		 struct view_buffer *out);

#endif
