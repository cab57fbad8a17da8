/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Selected spans; see span_threads.h. */
#include "view/spans/span_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"

/* The last span of a thread. */
struct span_thread_last {
	struct call_thread_span span;
	bool counted;
};

void span_threads_init(struct span_threads *threads, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, struct view_strings *strings, unsigned parts)
{
	*threads = (struct span_threads){ .list = NULL };
	call_threads_init(&threads->threads, trace, filter, strings, parts);
}

int span_threads_select(struct span_threads *threads, const struct span_ended *span, uint32_t *group)
{
	const uint64_t time = span->end ? span->end : span->begin;
	struct span_thread_last *last;
	int error = 0;

	if (span->begin < threads->threads.filter->from)
		return 0;
	if (!array_reserve_zeroed(threads->list, threads->room, (size_t)span->thread + 1))
		return -ENOMEM;
	last = &threads->list[span->thread];
	if (!call_threads_has(&last->span, span->tid, time))
		error = call_threads_find(&threads->threads, span->tid, time, &last->span);
	if (error)
		return error;
	threads->count += last->span.selected && !last->counted;
	last->counted |= last->span.selected;
	*group = last->span.group;
	return last->span.selected;
}

void span_threads_free(struct span_threads *threads)
{
	free(threads->list);
	call_threads_free(&threads->threads);
}
