/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print the calls of a trace in the order of their begins, indented, with the events and samples between them.
 *
 * The records of calls are in the order of their ends; the outermost call comes last. A first pass finds the calls that do
 * not begin and end in the same slice of time. At any time only the open calls of each stack can be such, so they are few.
 * After that a slice needs nothing but its own records and these calls. Several threads render slices.
 */
#ifndef BURIN_VIEW_CALLS_REPLAY_H
#define BURIN_VIEW_CALLS_REPLAY_H

#include "view/records/line.h"
#include "view/records/selection.h"

struct view_replay {
	struct view_style style;
	bool no_events;		     /* calls only */
	struct view_globs events;    /* those to print */
	struct view_globs functions; /* only their calls, and what these call */
	struct view_set pids, tids;
	uint64_t from, to;  /* ticks; to exclusive, 0: no end */
	uint64_t min_ns;    /* shorter calls are left out */
	uint64_t limit;	    /* lines; 0: all */
	uint32_t depth;	    /* levels; 0: all */
	uint32_t backtrace; /* callers to print above a selected function */
	unsigned threads;
	int file;
};

/* Return: 0; -ENODATA: the trace has no calls; -EPIPE; another negative errno. */
int view_replay(const struct burin_trace *trace, const struct view_replay *replay);

#endif
