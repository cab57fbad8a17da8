/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Spans, counted: how many, how many failed or did not end, how long they took, and how much of it was not in spans within them. */
#ifndef BURIN_VIEW_SPANS_SPAN_STATS_H
#define BURIN_VIEW_SPANS_SPAN_STATS_H

#include "view/calls/call_rows.h"
#include "view/spans/span_join.h"

struct span_row {
	struct call_row row; /* its key is a number of ->keys; ->calls are the spans that ended */
	uint64_t failed;
	uint64_t open; /* begins without an end */
};

/* By what rows differ, besides threads and programs. */
struct span_key {
	uint32_t span, parent; /* strings; 0: not asked for, or none */
	struct span_values values;
};

struct span_stats {
	const struct burin_trace *trace;
	struct view_strings strings;
	struct call_rows rows; /* of struct span_row */
	struct span_key *keys;
	size_t key_room;
	uint32_t key_count;
	uint64_t spans, failed, open;
	uint64_t unbegun; /* ends without a begin in the trace */
	size_t threads;
};

struct span_options {
	struct span_choice choice;
	const struct view_profile_filter
		*filter; /* times in which spans begin and end; threads, of a pair the one of its begin */
	unsigned parts;	 /* 1 << enum view_part, of tasks */
	bool by_parent;
	unsigned threads; /* that may read */
};

/*
 * span_stats_make - count the spans of a trace.
 * @missing: set if a pair has no begins or no ends: their glob
 * Return: 0; -ENODATA: the trace has no such spans; -EINVAL: see @missing; -ENOMEM.
 */
int span_stats_make(struct span_stats *stats, const struct burin_trace *trace,
		    const struct span_options *options, const char **missing);
void span_stats_free(struct span_stats *stats);

/* A part of rows. */
enum span_part {
	SPAN_PART_NAME = VIEW_PARTS,
	SPAN_PART_PARENT,
	SPAN_PART_FIELD, /* and those behind it */
};

/* span_stats_print - rows in the form of the report; JSON is as docs/schema/report-spans.json. @names: columns of the rows, by enum span_part */
void span_stats_print(struct span_stats *stats, const struct view_report *report, const struct column *names,
		      unsigned name_count, bool histogram, struct view_buffer *out);

#endif
