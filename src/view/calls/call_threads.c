/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads of calls; see call_threads.h.
 *
 * A thread has names one after the other. read_thread_find() returns the name at a time, and for how long it holds; a
 * caller keeps that span and asks again only outside of it (call_threads_has()). So hundred millions of calls cost a
 * comparison each.
 *
 * Groups are by the strings of the selected parts. Threads with equal parts are one group, so rows need not be merged
 * later. Their numbers begin at 1: 0 is for callers that ask for no thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "read/trace.h"
#include "view/calls/call_threads.h"

enum {
	NUMBER_BYTES = 12, /* of an id as text */
};

void call_threads_init(struct call_threads *threads, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, struct view_strings *strings, unsigned parts)
{
	*threads = (struct call_threads){
		.trace = trace,
		.filter = filter,
		.strings = strings,
		.parts = parts & ((1u << VIEW_TASK_PARTS) - 1),
	};
}

void call_threads_free(struct call_threads *threads)
{
	free(threads->groups);
	hash_table_free(&threads->numbers);
}

/* The last part of its path; any bytes. */
static const char *call_program(const struct burin_thread *thread)
{
	const char *path = thread && thread->process ? thread->process->exe : "", *slash = strrchr(path, '/');

	if (slash && slash[1])
		return slash + 1;
	return *path ? path : "[unknown]";
}

static uint32_t number_text(struct view_strings *strings, uint32_t number)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	return view_string(strings, text);
}

static int call_threads_find_group(struct call_threads *threads, const struct call_group *group,
				   uint32_t *number)
{
	const uint64_t hash = hash_pair(hash_pair(group->task[0], group->task[1]),
					hash_pair(group->task[2], group->task[3]));

	_Static_assert(VIEW_TASK_PARTS == 4, "the hash has all parts");
	for (size_t at = 0; (*number = hash_table_next(&threads->numbers, hash, &at));)
		if (!memcmp(&threads->groups[*number], group, sizeof(*group)))
			return 0;
	*number = threads->count ? threads->count : 1;
	if (!array_reserve(threads->groups, threads->room, (size_t)*number + 1) ||
	    !hash_table_reserve(&threads->numbers))
		return -ENOMEM;
	threads->groups[*number] = *group;
	threads->count = *number + 1;
	hash_table_add(&threads->numbers, hash, *number);
	return 0;
}

int call_threads_find(struct call_threads *threads, uint32_t tid, uint64_t time,
		      struct call_thread_span *span)
{
	const struct view_profile_filter *filter = threads->filter;
	const struct burin_thread *thread =
		read_thread_find(threads->trace, tid, time, &span->from, &span->until);
	const char *name = thread ? thread->name : "[unknown]", *program = call_program(thread);
	struct call_group group = { { 0 } };

	span->tid = tid;
	span->selected = (thread ? view_set_has(&filter->pids, thread->pid) : !filter->pids.count) &&
			 view_globs_match(&filter->threads, name) &&
			 view_globs_match(&filter->programs, program) &&
			 view_where_task_holds(threads->where, tid, thread);
	if (threads->parts & 1u << VIEW_PROGRAM)
		group.task[VIEW_PROGRAM] = view_string(threads->strings, program);
	if (threads->parts & 1u << VIEW_THREAD)
		group.task[VIEW_THREAD] = view_string(threads->strings, name);
	if (threads->parts & 1u << VIEW_PID)
		group.task[VIEW_PID] = number_text(threads->strings, thread ? thread->pid : 0);
	if (threads->parts & 1u << VIEW_TID)
		group.task[VIEW_TID] = number_text(threads->strings, tid);
	return call_threads_find_group(threads, &group, &span->group);
}
