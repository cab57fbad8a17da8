/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of chosen events, counted: how many, how many a second, and how one of their fields is distributed; by event, by fields and
 * facts, and by intervals of time. A field that is a text, or has names of values, is counted by its values.
 */
#ifndef BURIN_VIEW_HIST_HIST_H
#define BURIN_VIEW_HIST_HIST_H

#include "view/hist/hist_rows.h"

/*
 * hist_make - count the records of a trace.
 * Return: 0; -ENODATA: no event of the trace matches, or has the field; -EDOM: see the fault of ->where; -E2BIG: more than HIST_ROWS_MAX rows;
 * -ENOMEM. In any case call hist_free().
 */
int hist_make(struct hist *hist, const struct burin_trace *trace, const struct hist_options *options);

/*
 * Counts of the kernel, beside those of traces (hist_live.c):
 *
 * hist_live_begin - begin without rows.
 * hist_live_add - add what was counted to a row; several additions may be of one.
 * hist_live_end - finish. @losses: what was not counted. @intervals: by slot; both stay in use. @seconds: in which all was counted
 * Return: 0; -E2BIG; -ENOMEM, also later ones then. In any case call hist_free().
 */
struct hist_addition {
	uint64_t slot; /* number of the interval */
	const char *event;
	const char *by[HIST_BY_MAX]; /* by the options' words */
	const char *value;	     /* of a field that is counted by its values; NULL: this event's is not */
	uint64_t records;
	const struct value_integers *integers; /* NULL: none */
};

void hist_live_begin(struct hist *hist, const struct hist_options *options);
int hist_live_add(struct hist *hist, const struct hist_addition *addition);
int hist_live_end(struct hist *hist, const struct view_losses *losses, const struct hist_interval *intervals,
		  double seconds);

/* hist_print - in the form of the report; JSON is as docs/schema/hist.json. */
void hist_print(struct hist *hist, const struct view_report *report, struct view_buffer *out);

#endif
