/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Durations of one kind, counted: their sum, the least, the longest, and quantiles.
 *
 * Quantiles come from a histogram with 64 buckets for each power of two, so they are exact to 0.8 %.
 */
#ifndef BURIN_VIEW_CALLS_CALL_DURATIONS_H
#define BURIN_VIEW_CALLS_CALL_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/table.h"

enum {
	CALL_BUCKET_BITS = 6, /* of buckets for each power of two */
	CALL_BUCKETS = 1 << CALL_BUCKET_BITS,
	CALL_OCTAVES = 64 - CALL_BUCKET_BITS + 1, /* the first one has the durations below CALL_BUCKETS */
};

/* In the caller's unit. One of zeros has none. */
struct call_durations {
	uint64_t count, sum, min, max;
	uint64_t *octaves[CALL_OCTAVES]; /* NULL or CALL_BUCKETS; allocated when they are needed */
};

/* call_durations_add - inline: calls are counted by the hundred million. Return: false: no memory. */
static inline bool call_durations_add(struct call_durations *durations, uint64_t time)
{
	unsigned octave = 0;

	if (time >= CALL_BUCKETS)
		octave = 63 - (unsigned)__builtin_clzll(time) - CALL_BUCKET_BITS + 1;
	if (__builtin_expect(!durations->octaves[octave], 0)) {
		durations->octaves[octave] = calloc(CALL_BUCKETS, sizeof(*durations->octaves[octave]));
		if (!durations->octaves[octave])
			return false;
	}
	durations->octaves[octave][time >> (octave ? octave - 1 : 0) & (CALL_BUCKETS - 1)]++;
	durations->min = time < durations->min || !durations->count ? time : durations->min;
	durations->max = time > durations->max ? time : durations->max;
	durations->sum += time;
	durations->count++;
	return true;
}

/* Add all of @from. Return: false: no memory. */
bool call_durations_join(struct call_durations *durations, const struct call_durations *from);
void call_durations_free(struct call_durations *durations);

/*
 * call_durations_average, call_durations_quantile - 0: there is none. A quantile is the least duration that at least @permille of all do not
 * exceed (the nearest rank). 500: the median
 */
uint64_t call_durations_average(const struct call_durations *durations);
uint64_t call_durations_quantile(const struct call_durations *durations, unsigned permille);

/* A bar of a histogram: durations from ->from on, below ->to, ns. The bounds are 1, 2 and 5 times powers of ten. */
struct call_bar {
	uint64_t from, to, count;
};

enum {
	CALL_BARS = 60,
};

/*
 * call_durations_histogram - the bars from the least to the longest duration, those between that are empty, too.
 * @hz: of the durations' unit; Return: how many.
 */
unsigned call_durations_histogram(const struct call_durations *durations, uint64_t hz,
				  struct call_bar bars[CALL_BARS]);

/* Ticks of a trace in nanoseconds. */
uint64_t call_ns(const struct burin_trace *trace, uint64_t ticks);

/* Numbers of durations: up to 1000 a quantile, of so many per mille. */
enum {
	CALL_AVERAGE = 1001,
	CALL_MIN,
	CALL_MAX,
};

/* call_durations_number - one of them, for struct column. Return: false: there is none, since nothing was counted. */
bool call_durations_number(const void *durations, unsigned which, uint64_t *number);

/* Columns of a table. @row: the struct of its rows; @member: their struct call_durations */
#define CALL_DURATION_COLUMN(name, head, columns, row, member, which) \
	COLUMN(name, head, DURATION, columns, row, member, .get = call_durations_number, .part = (which))

#define CALL_DURATION_COLUMNS(row, member)                                            \
	CALL_DURATION_COLUMN("average_ns", "AVERAGE", 10, row, member, CALL_AVERAGE), \
		CALL_DURATION_COLUMN("min_ns", "MIN", 10, row, member, CALL_MIN),     \
		CALL_DURATION_COLUMN("p50_ns", "P50", 10, row, member, 500),          \
		CALL_DURATION_COLUMN("p99_ns", "P99", 10, row, member, 990),          \
		CALL_DURATION_COLUMN("max_ns", "MAX", 10, row, member, CALL_MAX)

#endif
