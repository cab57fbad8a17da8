/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options of a replay (replay.h). */
#ifndef BURIN_VIEW_CALLS_REPLAY_REPLAY_OPTIONS_H
#define BURIN_VIEW_CALLS_REPLAY_REPLAY_OPTIONS_H

#include "view/records/line.h"
#include "view/records/where.h"

struct view_replay {
	struct view_style style;
	bool no_events;		      /* calls only */
	struct view_globs events;     /* those to print */
	struct view_globs functions;  /* only their calls, and what these call */
	struct view_conditions where; /* of calls, events and samples */
	struct view_set pids, tids;
	uint64_t
		begin; /* ticks: view_replay_begin(); 0: it is not known yet, and neither from nor to is given */
	uint64_t from, to;  /* ticks; to exclusive, 0: no end */
	uint64_t min_ns;    /* shorter calls are left out */
	uint64_t limit;	    /* lines; 0: all */
	uint32_t depth;	    /* levels; 0: all */
	uint32_t backtrace; /* callers to print above a selected function */
	unsigned threads;
	int file;
};

#endif
