/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which thread and program a call is of, and whether it is selected. */
#ifndef BURIN_VIEW_CALLS_CALL_THREADS_H
#define BURIN_VIEW_CALLS_CALL_THREADS_H

#include "view/profile/profile_view.h"

/* Threads whose parts are equal. */
struct call_group {
	uint32_t task[VIEW_TASK_PARTS]; /* strings; 0: part not selected */
};

struct call_threads {
	const struct burin_trace *trace;
	const struct view_profile_filter *filter;
	const struct view_where
		*where; /* of view_where_make_tasks(), the caller's; NULL: there are no conditions */
	struct view_strings *strings; /* the caller's */
	unsigned parts;
	struct call_group *groups; /* by number */
	uint32_t count;
	size_t room;
	struct hash_table numbers;
};

/* A thread with one name and program. */
struct call_thread_span {
	uint64_t from, until; /* ticks; until inclusive */
	uint32_t tid;
	uint32_t group;
	bool selected;
};

void call_threads_init(struct call_threads *threads, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, struct view_strings *strings,
		       unsigned parts);
void call_threads_free(struct call_threads *threads);

/* call_threads_find - a thread at a time. Return: 0; -ENOMEM. */
int call_threads_find(struct call_threads *threads, uint32_t tid, uint64_t time,
		      struct call_thread_span *span);

/* call_threads_has - whether a span is that of a thread at a time. One of zeros is of no thread. */
static inline bool call_threads_has(const struct call_thread_span *span, uint32_t tid, uint64_t time)
{
	return span->tid == tid && time >= span->from && time <= span->until;
}

#endif
