/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of counted records, whether these are in a trace (hist.c) or were counted in the kernel (hist_live.c). */
#ifndef BURIN_VIEW_HIST_HIST_ROWS_H
#define BURIN_VIEW_HIST_HIST_ROWS_H

#include "view/hist/value_counts.h"
#include "view/losses.h"
#include "view/profile/profile_view.h"
#include "view/records/where.h"

enum {
	HIST_BY_MAX = 8,
	HIST_ROWS_MAX = 1000000,
};

struct hist_options {
	const struct view_globs *events; /* empty: all that have the field */
	const struct view_conditions *where;
	const char *field;	     /* NULL: records are only counted */
	const char *by[HIST_BY_MAX]; /* fields; program, thread, pid, tid and cpu */
	unsigned by_count;
	uint64_t every_ns; /* interval; 0: none */
	uint64_t from, to; /* ticks; to exclusive, 0: no end */
	unsigned threads;
};

struct hist_key {
	uint32_t event;		  /* string */
	uint32_t by[HIST_BY_MAX]; /* strings; 0: the event has no such field */
	uint32_t value;		  /* string: of a field that is counted by its values */
	uint64_t slot;		  /* number of the interval */
};

struct hist_row {
	struct hist_key key;
	uint64_t
		begin_ns; /* of its interval, since the first record of the trace; UINT64_MAX: there are none */
	uint64_t records;
	uint64_t rate_bits; /* a double: records a second, in its interval or in all */
	struct value_counts values;
	uint32_t time; /* string: seconds from the first record to the begin of the interval */
	unsigned bar;  /* columns: of the records, with most of them VIEW_BAR */
};

/* An interval that was ended by a clock, so that it is longer than was asked for if the machine was busy. */
struct hist_interval {
	uint64_t begin_ns; /* since the first */
	uint64_t ns;
};

struct hist {
	const struct burin_trace *trace;  /* NULL: there is none, but ... */
	const struct view_losses *losses; /* ... what is lost of live counts */
	const struct hist_options *options;
	struct view_strings strings;
	struct hist_row **rows;
	size_t count, room;
	struct hash_table numbers;
	uint64_t records;  /* of all rows */
	uint64_t unfinite; /* values that are no number, or infinite: counted as records only */
	bool by_value;	   /* some field is counted by its values, ... */
	bool by_number;	   /* ... some by its numbers */
	double seconds;	   /* from the first record to the last, within the times */
	const struct hist_interval
		*intervals; /* of live counts, by slot; NULL: each is as long as was asked for */
};

/* hist_find_row - the row of a key, which is added if there is none. Return: 0; -E2BIG; -ENOMEM. */
int hist_find_row(struct hist *hist, const struct hist_key *key, struct hist_row **row);

void hist_free(struct hist *hist);

/* hist_sort - put all rows into order, and add those of intervals without records. Return: 0; -E2BIG; -ENOMEM. */
int hist_sort(struct hist *hist);

/* hist_set_rate - of all rows, which are counts of so many seconds, or of their intervals. */
void hist_set_rate(struct hist *hist, double seconds);

#endif
