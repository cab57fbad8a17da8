/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of chosen events, counted: how many, how many a second, and how one of their fields is distributed; by event, by fields and
 * facts, and by intervals of time. A field that is a text, or has names of values, is counted by its values.
 */
#ifndef BURIN_VIEW_HIST_HIST_H
#define BURIN_VIEW_HIST_HIST_H

#include "view/hist/value_counts.h"
#include "view/profile/profile_view.h"
#include "view/records/where.h"

enum {
	HIST_BY_MAX = 8,
	HIST_ROWS_MAX = 1000000,
};

struct hist_options {
	const struct view_globs *events; /* empty: all that have the field */
	const struct view_globs *where;	 /* conditions */
	struct view_where_fault *fault;
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

struct hist {
	const struct burin_trace *trace;
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
};

/*
 * hist_make - count the records of a trace.
 * Return: 0; -ENODATA: no event of the trace matches, or has the field; -EINVAL: see ->fault; -E2BIG: more than HIST_ROWS_MAX rows;
 * -ENOMEM. In any case call hist_free().
 */
int hist_make(struct hist *hist, const struct burin_trace *trace, const struct hist_options *options);
void hist_free(struct hist *hist);

/* hist_print - in the form of the report; JSON is as docs/schema/hist.json. */
void hist_print(struct hist *hist, const struct view_report *report, struct view_buffer *out);

#endif
