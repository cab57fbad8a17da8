/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls, counted: how many, how long, by function or by other parts.
 *
 * A row has the calls whose parts are equal. Its total is the time in which at least one of them was open on its stack: so
 * recursion counts once, and a row by image counts a call of the image by itself once. Its self time is that of its calls
 * without their callees. The times of calls that had not ended reach to the end of the trace; they have no duration.
 */
#ifndef BURIN_VIEW_CALLS_CALL_STATS_H
#define BURIN_VIEW_CALLS_CALL_STATS_H

#include "burin/calls.h"
#include "view/calls/call_rows.h"

/* A function whose calls were counted, not recorded. */
struct call_counted {
	uint32_t key;
	uint64_t calls;
};

struct call_stats {
	const struct burin_trace *trace;
	struct burin_calls *calls;
	struct view_keys keys;
	struct view_keys names;	      /* symbol and image, for `counted` */
	struct call_rows rows;	      /* keys are those of `keys` */
	struct call_counted *counted; /* largest first */
	size_t counted_count;
	uint64_t *by_function; /* calls of each, recorded and counted */
	uint64_t call_count, open;
	uint64_t without_caller; /* their callers are not in the trace */
	size_t threads;
};

/* Sees each selected call that has ended. */
struct call_stats_visitor {
	/* @self: ticks; @total: ticks, 0 within another call of the row. Return: 0; negative: stop */
	int (*seen)(void *data, const struct call_row *row, uint64_t end, uint64_t self, uint64_t total);
	void *data;
};

/*
 * call_stats_make - count the calls that a filter selects: calls of its threads and functions, within its times.
 * @parts: 1 << enum view_part; @visitor: NULL: none
 * Context: allocates; uses threads. Return: 0; -ENODATA: the trace has no calls; -ENOMEM.
 */
int call_stats_make(struct call_stats *stats, const struct burin_trace *trace,
		    const struct view_profile_filter *filter, unsigned parts, unsigned threads,
		    const struct call_stats_visitor *visitor);
void call_stats_free(struct call_stats *stats);

/* Rows in the form of the report: text has what is missing below, JSON is as docs/schema/report-calls.json. */
void call_stats_print(struct call_stats *stats, const struct view_report *report, struct view_buffer *out);

#endif
