/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print the records of a trace as lines, merged by time and filtered. Several threads render them.
 */
#ifndef BURIN_VIEW_RECORDS_DUMP_H
#define BURIN_VIEW_RECORDS_DUMP_H

#include "view/records/selection.h"
#include "view/records/line.h"
#include "view/records/where.h"

struct view_dump {
	struct view_style style;
	bool names;	    /* print announcements of processes and threads too */
	bool without_paths; /* of the descriptors of system calls */
	struct view_globs events;
	struct view_conditions where;
	struct view_globs functions; /* of calls: only these records */
	struct view_set pids, tids, cpus;
	struct view_set correlations;
	uint64_t from, to; /* ticks; to exclusive, 0: no end */
	uint64_t limit;	   /* lines; 0: all */
	unsigned threads;
	int file;
};

/* Return: 0; -EDOM: conditions do not fit, see ->where; -EPIPE; another negative errno. Faults of the trace do not end the dump. */
int view_dump(const struct burin_trace *trace, const struct view_dump *dump);

#endif
