/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans of a trace, joined from the records of their ends, in the order of the ends. The caller counts them, or looks for the slowest.
 *
 * A span of a thread is in the innermost one that is open when it begins. A pair, and a span with an id, is in none and contains none: its
 * ends may be of two threads.
 */
#ifndef BURIN_VIEW_SPANS_SPAN_JOIN_H
#define BURIN_VIEW_SPANS_SPAN_JOIN_H

#include "view/spans/span_events.h"
#include "view/spans/span_open.h"

/* The values of the fields of struct span_choice. */
struct span_values {
	uint32_t texts[SPAN_BY_FIELDS]; /* strings; 0: none */
};

/* A span that has ended, or that is known to have no end in the trace. */
struct span_ended {
	uint32_t definition; /* of ->events */
	uint32_t parent;     /* definition, which need not be wanted; 0: none */
	uint32_t values;     /* number in ->values */
	uint32_t tid;	     /* in which it began */
	uint32_t end_tid;    /* in which it ended */
	uint32_t thread;     /* its index: threads are numbered from 0 */
	bool failed;
	uint64_t begin, end; /* ticks; end 0: it has none */
	uint64_t children;   /* ticks in wanted spans within it */
};

struct span_join {
	const struct burin_trace *trace;
	struct view_strings *strings; /* the caller's */
	struct span_events events;
	struct span_values *values; /* 0: none */
	size_t value_room;
	uint32_t value_count;
	struct hash_table value_numbers;
	struct span_thread *threads;
	size_t count, room;
	struct hash_table numbers; /* of threads */
	size_t last;		   /* thread + 1 of the last item; 0: none */
	struct span_open open;
	size_t open_count;
	uint64_t unbegun; /* ends of wanted spans without a begin in the trace */
	int (*give)(void *data,
		    const struct span_ended *span); /* takes a wanted span. Return: 0; negative: stop */
	void *data;
};

/* span_join_make - look at the events of a trace; as span_events_make(). Call span_join_free() in any case. */
int span_join_make(struct span_join *join, const struct burin_trace *trace, const struct span_choice *choice,
		   struct view_strings *strings, const char **missing);

/*
 * span_join_read - give all wanted spans whose records are within a time to ->give().
 * @from, @to: ticks; @to exclusive, 0: no end. @threads: that may read
 * Return: 0; -ENOMEM; the result of ->give().
 */
int span_join_read(struct span_join *join, uint64_t from, uint64_t to, unsigned threads);

void span_join_free(struct span_join *join);

#endif
