/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The slowest spans of a trace: so many of all, or a share of those of each name. With a share also those around the median, with which the
 * slowest are compared.
 */
#ifndef BURIN_VIEW_SPANS_SPAN_PICK_H
#define BURIN_VIEW_SPANS_SPAN_PICK_H

#include "view/spans/span_stats.h"

enum {
	SPAN_PICK_MAX =
		5000, /* spans of a list whose times are taken apart; of more, so many are chosen at random */
	SPAN_BAND_FROM = 40,
	SPAN_BAND_TO = 60, /* percent: the ranks of the spans around the median */
};

struct span_picked {
	uint64_t begin, end; /* ticks */
	uint32_t name;	     /* string */
	uint32_t tid, end_tid;
	bool failed;
};

struct span_picks {
	struct span_picked *spans; /* the slowest first; those around the median by time */
	size_t count, room;
	uint64_t all; /* from which they were chosen */
};

/* Spans of one name; or of all, if so many were asked for. */
struct span_group {
	uint32_t name; /* string; 0: of all names */
	uint64_t count, time;
	uint64_t median; /* ticks */
	struct span_picks slowest, band;
};

struct span_pick_options {
	const struct span_options *spans;
	uint64_t count; /* so many ... */
	double share;	/* ... or, if it is not 0, this share of each name's, below 1 */
	size_t max;	/* spans of a list; 0: SPAN_PICK_MAX */
};

struct span_pick {
	const struct burin_trace *trace;
	struct view_strings strings;
	const struct span_choice *choice;
	struct span_group *groups; /* that have most time first */
	size_t group_count, group_room;
	uint64_t spans, open, unbegun;
};

/* span_pick_make - as span_stats_make(). */
int span_pick_make(struct span_pick *pick, const struct burin_trace *trace,
		   const struct span_pick_options *options, const char **missing);
void span_pick_free(struct span_pick *pick);

#endif
