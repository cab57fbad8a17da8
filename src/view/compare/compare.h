/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Recordings compared, any number on each side: rows of names and measures, such as the share of a function, with a value for each
 * recording; and which of them have changed (significance.h).
 *
 *	compare_begin(&compare, sides, recordings);
 *	for each recording: compare_next(), then one of
 *		compare_samples(), compare_spans(), compare_calls()
 *	compare_finish(&compare);
 *	compare_print(&compare, ...);
 *
 * A recording is read and closed before the next one is opened. Values do not depend on its length: shares, means, rates per second.
 */
#ifndef BURIN_VIEW_COMPARE_COMPARE_H
#define BURIN_VIEW_COMPARE_COMPARE_H

#include "view/compare/significance.h"
#include "view/losses.h"
#include "view/profile/profile_view.h"
#include "view/spans/span_join.h"

enum {
	COMPARE_SLICES = 16, /* of time, of each recording */
	COMPARE_COUNT_MIN =
		10, /* so many samples in all, or spans in a recording, make a row that is judged */
};

enum compare_kind {
	COMPARE_OF_SAMPLES,
	COMPARE_OF_SPANS,
	COMPARE_OF_CALLS,
};

enum compare_measure {
	COMPARE_SHARE, /* of samples */
	COMPARE_RATE,  /* spans per second */
	COMPARE_MEAN,
	COMPARE_P50,
	COMPARE_P99,
	COMPARE_CALLS, /* a function's share of all calls */
	COMPARE_SELF,  /* of a call */
	COMPARE_TOTAL,
	COMPARE_MEASURES = SIGNIFICANCE_GROUPS
};

struct compare_row {
	uint32_t name;
	enum compare_measure measure;
	struct significance_value *values; /* by recording */
	uint64_t least, all; /* what the values are of: in the recording that has least, and in all */
	struct significance_row *judged;
};

struct compare_recording {
	struct view_buffer head;   /* lines about it */
	struct view_losses losses; /* of records and samples */
	const char *path;
	uint64_t count;	  /* samples, spans or calls */
	uint64_t size;	  /* weight of samples, else ns from the first to the last record */
	const char *unit; /* of the size */
	double draws;	  /* what a share or a rate is of: effective samples, seconds, calls */
};

struct compare {
	enum compare_kind kind;
	const uint8_t *sides; /* the caller's */
	unsigned count, at;   /* recordings; the present one + 1 */
	struct compare_recording *recordings;
	struct view_strings names;
	struct compare_row *rows; /* by change, after compare_finish() */
	size_t row_count, room;
	struct hash_table numbers; /* of rows, by name and measure */
	struct significance_row *judged;
	struct significance how;
};

/* compare_begin - @sides: 0 or 1 for each recording. Call compare_free() in any case. Return: 0 or -ENOMEM. */
int compare_begin(struct compare *compare, enum compare_kind kind, const uint8_t *sides, unsigned recordings);
void compare_free(struct compare *compare);

/* compare_next - go on with the next recording. */
struct compare_recording *compare_next(struct compare *compare, const char *path);

/*
 * compare_add - a value of the present recording.
 * @name: in ->names. @variance: of the value by itself. @count: of what it is
 * Return: 0 or -ENOMEM.
 */
int compare_add(struct compare *compare, uint32_t name, enum compare_measure measure,
		struct significance_value value, uint64_t count);

/* compare_slices - the variance of the sum of parts, one for each slice, that add up to nearly 0: by the differences of neighbours. */
double compare_slices(const double parts[COMPARE_SLICES]);

/* compare_ratio - the sum of parts of slices, divided by what they are parts of, such as all samples; with its variance. */
struct significance_value compare_ratio(const double parts[COMPARE_SLICES],
					const double whole[COMPARE_SLICES]);

/* compare_range - the times of a recording that are selected, ticks, both inclusive. Return: false: there are none. */
bool compare_range(const struct burin_trace *trace, const struct view_profile_filter *filter, uint64_t *begin,
		   uint64_t *end);

/* compare_slice_of - the slice of a time. @begin, @end: of the recording, both inclusive */
static inline unsigned compare_slice_of(uint64_t time, uint64_t begin, uint64_t end)
{
	if (time <= begin || end <= begin)
		return 0;
	time = time > end ? end : time;
	return (unsigned)((unsigned __int128)(time - begin) * COMPARE_SLICES /
			  ((unsigned __int128)(end - begin) + 1));
}

/*
 * compare_samples - the shares of functions of a recording.
 * @counted: its samples; @filter: by which they were counted; @total: total costs instead of self costs; @fold: as for view_rows_make()
 * Return: 0 or -ENOMEM.
 */
int compare_samples(struct compare *compare, const struct view_profile *counted,
		    const struct view_profile_filter *filter, bool total, bool fold);

/*
 * compare_spans, compare_calls - the spans of a recording by name, its calls by function.
 * Return: 0; -ENODATA: the trace has none; -ENOMEM.
 */
int compare_spans(struct compare *compare, const struct burin_trace *trace, const struct span_choice *choice,
		  const struct view_profile_filter *filter, unsigned threads);
int compare_calls(struct compare *compare, const struct burin_trace *trace,
		  const struct view_profile_filter *filter, unsigned threads);

/* compare_finish - judge the rows, and put them in order. Return: 0 or -ENOMEM. */
int compare_finish(struct compare *compare);

static inline bool compare_is_change(const struct compare_row *row)
{
	return row->judged->chance <= SIGNIFICANCE_LEVEL;
}

/* compare_print - rows in a form; JSON is as docs/schema/diff.json. @all: also rows that are no changes */
void compare_print(const struct compare *compare, enum table_form form, bool all, bool color,
		   struct view_buffer *out);

#endif
