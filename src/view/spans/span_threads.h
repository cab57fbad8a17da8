/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whether a span is one that the user selected, by its time and thread. */
#ifndef BURIN_VIEW_SPANS_SPAN_THREADS_H
#define BURIN_VIEW_SPANS_SPAN_THREADS_H

#include "view/calls/call_threads.h"
#include "view/spans/span_join.h"

struct span_threads {
	struct call_threads threads;
	struct span_thread_last *list; /* by the index of the thread in struct span_join */
	size_t room;
	size_t count; /* threads of selected spans */
};

/* span_threads_init - @filter: threads, of a pair the one of its begin; and the time from which spans begin. @parts: 1 << enum view_part */
void span_threads_init(struct span_threads *threads, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, struct view_strings *strings,
		       unsigned parts);
void span_threads_free(struct span_threads *threads);

/* span_threads_select - @group: receives that of its thread. Return: 1: it is selected; 0; -ENOMEM. */
int span_threads_select(struct span_threads *threads, const struct span_ended *span, uint32_t *group);

#endif
