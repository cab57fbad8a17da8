/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls, counted: how many, how long, by function or by other parts.
 *
 * A row has the calls whose parts are equal. Its total is the time in which at least one of them was open on its stack: so
 * recursion counts once, and a row by image counts a call of the image by itself once. Its self time is that of its calls
 * without their callees.
 *
 * Quantiles come from a histogram with 64 buckets for each power of two, so they are exact to 0.8 %.
 */
#ifndef BURIN_VIEW_CALLS_CALL_STATS_H
#define BURIN_VIEW_CALLS_CALL_STATS_H

#include "burin/calls.h"
#include "view/profile/profile_view.h"

enum {
	CALL_BUCKET_BITS = 6, /* of buckets for each power of two */
	CALL_BUCKETS = 1 << CALL_BUCKET_BITS,
	CALL_OCTAVES = 64 - CALL_BUCKET_BITS + 1, /* the first one has the ticks below CALL_BUCKETS */
};

/* Durations in ticks. Parts are allocated when they are needed. */
struct call_histogram {
	uint64_t *octaves[CALL_OCTAVES]; /* NULL or CALL_BUCKETS */
};

/* Return: false: no memory. */
bool call_histogram_add(struct call_histogram *histogram, uint64_t ticks);
/* The middle of the bucket that has the value at a rank, from 0. */
uint64_t call_histogram_at(const struct call_histogram *histogram, uint64_t rank);
void call_histogram_free(struct call_histogram *histogram);

struct call_row {
	uint32_t task[VIEW_TASK_PARTS]; /* strings of the keys; 0: part not selected */
	uint32_t key;
	uint64_t calls; /* with those that had not ended */
	uint64_t open;	/* calls that had not ended: their times reach to the end of the trace */
	/* Ticks. */
	uint64_t self, total;
	uint64_t time;	   /* the sum of the durations of calls that ended */
	uint64_t min, max; /* of calls that ended */
	struct call_histogram durations;
};

/* A function whose calls were counted, not recorded. */
struct call_counted {
	uint32_t key;
	uint64_t calls;
};

struct call_stats {
	const struct burin_trace *trace;
	struct burin_calls *calls;
	struct view_keys keys;
	struct view_keys names; /* symbol and image, for `counted` */
	struct call_row **rows;
	size_t count, room;
	struct call_counted *counted; /* largest first */
	size_t counted_count;
	uint64_t call_count, open;
	uint64_t without_caller; /* their callers are not in the trace */
	uint64_t time;		 /* ticks: the sum of all self times */
	size_t threads;
};

enum call_order {
	CALL_BY_SELF,
	CALL_BY_TOTAL,
	CALL_BY_CALLS,
	CALL_BY_AVERAGE,
	CALL_BY_P99,
	CALL_BY_MAX,
};

/*
 * call_stats_make - count the calls that a filter selects: calls of its threads and functions, within its times.
 * @parts: 1 << enum view_part
 * Context: allocates; uses threads. Return: 0; -ENODATA: the trace has no calls; -ENOMEM.
 */
int call_stats_make(struct call_stats *stats, const struct burin_trace *trace,
		    const struct view_profile_filter *filter, unsigned parts, unsigned threads);
void call_stats_free(struct call_stats *stats);

void call_stats_sort(struct call_stats *stats, enum call_order order);

const char *call_row_text(const struct call_stats *stats, const struct call_row *row, enum view_part part);

/* Durations of the calls of a row that ended, in ticks; 0: none has ended. @percent: 50: the median */
uint64_t call_row_quantile(const struct call_row *row, unsigned percent);
uint64_t call_row_average(const struct call_row *row);

/* A duration in nanoseconds. */
uint64_t call_ns(const struct burin_trace *trace, uint64_t ticks);

/* What is printed of the rows. */
struct call_report {
	enum view_part by[VIEW_PARTS];
	unsigned by_count;
	double min;	/* percent of all time, of a row's total */
	uint64_t limit; /* rows */
	bool color;
};

/* call_stats_choose - put the rows that are printed first, in their order. Return: how many they are. */
size_t call_stats_choose(const struct call_stats *stats, const struct call_report *report);

/* Rows as text, with what is missing below; as a JSON document (docs/schema/report-calls.json); as CSV. */
void call_stats_text(const struct call_stats *stats, const struct call_report *report,
		     struct view_buffer *out);
void call_stats_json(const struct call_stats *stats, const struct call_report *report,
		     struct view_buffer *out);
/* The object "lost" of JSON: records by cause. */
void call_losses_json(struct json *json, const struct burin_trace *trace);
void call_stats_csv(const struct call_stats *stats, const struct call_report *report,
		    struct view_buffer *out);

#endif
