/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which calls change descriptors, and which paths the descriptors of a trace's calls have (descriptors.h). */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_DESCRIPTOR_CALLS_H
#define BURIN_VIEW_SYSCALLS_VALUES_DESCRIPTOR_CALLS_H

#include "view/syscalls/values/descriptors.h"
#include "view/kernel/kernel_view.h"

struct descriptor_calls {
	const struct kernel_view *view;
	struct descriptor_call *calls; /* by event */
	struct descriptors all;
	struct view_strings paths;
	uint64_t from, to; /* the trace has each call in between */
	uint64_t faults;   /* of the trace, when all was known */
	bool off;	   /* none is known */
};

/* A descriptor in a record: of which thread, and since when it must be known. */
struct descriptor_place {
	struct descriptor_calls *calls;
	size_t thread;
	uint64_t before;
};

/* descriptor_calls_lack - why no descriptor of a trace can be known; NULL: they can. */
const char *descriptor_calls_lack(const struct burin_trace *trace);

/* descriptor_calls_make - @view: must stay. @off: let none be known. Return: false: no memory. */
bool descriptor_calls_make(struct descriptor_calls *calls, const struct kernel_view *view, bool off);
void descriptor_calls_free(struct descriptor_calls *calls);

/*
 * The records in order, by threads as descriptors.h has them. descriptor_calls_begin - a call begins, or its arguments were read at its
 * end; descriptor_calls_end - @begin: when it began; 0: that was not recorded; descriptor_calls_fork - @record: of KERNEL_NEWTASK; @begin: of the call that
 * the thread is in. @path: receives that of the result; NULL: it is unknown, or no descriptor. descriptor_calls_exit - the thread makes no
 * more calls. Return: false: no memory.
 */
bool descriptor_calls_begin(struct descriptor_calls *calls, size_t thread, const struct burin_record *record,
			    uint64_t time);
bool descriptor_calls_end(struct descriptor_calls *calls, size_t thread, const struct burin_record *record,
			  uint64_t begin, int64_t result, const char **path);
bool descriptor_calls_fork(struct descriptor_calls *calls, size_t thread, size_t child,
			   const struct burin_record *record, uint64_t begin);
void descriptor_calls_exit(struct descriptor_calls *calls, size_t thread, uint64_t time);

/* descriptor_path - the path of a descriptor. Return: NULL: unknown. */
const char *descriptor_path(const struct descriptor_place *place, uint64_t descriptor);

/* descriptor_text - append `</etc/passwd>`. @path: NULL: nothing */
void descriptor_text(const char *path, struct view_buffer *out);

/* descriptor_is_argument - whether an argument of a call is a descriptor. */
bool descriptor_is_argument(const char *call, const char *argument);

#endif
