/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans by name; see compare.h. The records are read twice: once for the numbers, and once to count in which slices the spans are that are
 * longer than a percentile. By them the percentile's own inexactness is known (Woodruff): the part of spans above it varies by so much, and
 * the percentiles of these parts are the bounds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/text.h"
#include "view/calls/call_durations.h"
#include "view/compare/compare.h"
#include "view/spans/span_threads.h"

enum {
	QUANTILES = 2,
};

static const struct {
	enum compare_measure measure;
	unsigned permille;
} compare_quantiles[QUANTILES] = { { COMPARE_P50, 500 }, { COMPARE_P99, 990 } };

/* By name. */
struct compare_span {
	struct call_durations durations;
	double squares; /* of the durations */
	double counts[COMPARE_SLICES], times[COMPARE_SLICES], above[QUANTILES][COMPARE_SLICES];
	uint64_t quantiles[QUANTILES];
};

struct compare_spans {
	struct compare *compare;
	const struct burin_trace *trace;
	const struct view_profile_filter *filter;
	struct span_join join;
	struct span_threads threads;
	struct compare_span *rows; /* by name */
	size_t room;
	uint32_t count;
	uint64_t begin, end; /* ticks */
	bool again;	     /* the second time */
};

static int compare_spans_count(struct compare_spans *spans, const struct span_ended *span)
{
	const uint32_t name = spans->join.events.definitions[span->definition].name;
	const unsigned slice = compare_slice_of(span->end, spans->begin, spans->end);
	const uint64_t time = span->end - span->begin;
	struct compare_span *row;

	if (!array_reserve_zeroed(spans->rows, spans->room, (size_t)name + 1))
		return -ENOMEM;
	spans->count = name >= spans->count ? name + 1 : spans->count;
	row = &spans->rows[name];
	for (unsigned n = 0; spans->again && n < QUANTILES; n++)
		row->above[n][slice] += time > row->quantiles[n];
	if (spans->again)
		return 0;
	row->counts[slice]++;
	row->times[slice] += (double)time;
	row->squares += (double)time * (double)time;
	return call_durations_add(&row->durations, time) ? 0 : -ENOMEM;
}

static int compare_spans_give(void *data, const struct span_ended *span)
{
	struct compare_spans *spans = data;
	uint32_t group;
	const int selected = span->end ? span_threads_select(&spans->threads, span, &group) : 0;

	return selected > 0 ? compare_spans_count(spans, span) : selected;
}

static int compare_spans_read(struct compare_spans *spans, const struct span_choice *choice, unsigned threads)
{
	const char *missing = NULL;
	int result;

	span_threads_init(&spans->threads, spans->trace, spans->filter, &spans->compare->names, 0);
	result = span_join_make(&spans->join, spans->trace, choice, &spans->compare->names, &missing);
	spans->join.give = compare_spans_give;
	spans->join.data = spans;
	if (!result)
		result = span_join_read(&spans->join, spans->filter->from, spans->filter->to, threads);
	span_threads_free(&spans->threads);
	span_join_free(&spans->join);
	return !result && spans->compare->names.failed ? -ENOMEM : result;
}

/* ---- Values */

/* The standard error of a percentile: half of what is between the percentiles that are as far from it as the part above varies. */
static double compare_spans_error(const struct compare_span *row, unsigned which)
{
	const double count = (double)row->durations.count,
		     above = 1 - compare_quantiles[which].permille / 1000.0;
	double parts[COMPARE_SLICES], error;
	int low, high;

	for (unsigned n = 0; n < COMPARE_SLICES; n++)
		parts[n] = row->above[which][n] - above * row->counts[n];
	error = sqrt(fmax(compare_slices(parts), above * (1 - above) * count)) / count * 1000;
	low = (int)fmax(compare_quantiles[which].permille - error, 1);
	high = (int)fmin(ceil(compare_quantiles[which].permille + error), 1000);
	return (double)(call_durations_quantile(&row->durations, (unsigned)high) -
			call_durations_quantile(&row->durations, (unsigned)low)) /
	       2;
}

static int compare_spans_add(struct compare_spans *spans, uint32_t name, double tick_ns, double seconds)
{
	const struct compare_span *row = &spans->rows[name];
	const struct significance_value mean = compare_ratio(row->times, row->counts);
	const double count = (double)row->durations.count,
		     apart = (row->squares / count - mean.value * mean.value) / count;
	double rates[COMPARE_SLICES];
	int result = 0;

	for (unsigned n = 0; n < COMPARE_SLICES; n++)
		rates[n] = row->counts[n] - count / COMPARE_SLICES;
	if (seconds > 0)
		result = compare_add(spans->compare, name, COMPARE_RATE,
				     (struct significance_value){ count / seconds,
								  compare_slices(rates) / seconds / seconds },
				     row->durations.count);
	if (!result)
		result = compare_add(
			spans->compare, name, COMPARE_MEAN,
			(struct significance_value){ mean.value * tick_ns,
						     fmax(mean.variance, apart) * tick_ns * tick_ns },
			row->durations.count);
	for (unsigned n = 0; n < QUANTILES && !result; n++) {
		const double error = compare_spans_error(row, n) * tick_ns;

		result = compare_add(
			spans->compare, name, compare_quantiles[n].measure,
			(struct significance_value){ (double)row->quantiles[n] * tick_ns, error * error },
			row->durations.count);
	}
	return result;
}

static void compare_spans_head(struct compare_recording *recording)
{
	char spans[32], time[32];

	view_buffer_print(&recording->head, "%s span%s in %s\n", text_count(spans, recording->count),
			  text_plural(recording->count), text_duration(time, recording->size));
}

static int compare_spans_values(struct compare_spans *spans)
{
	struct compare_recording *recording = &spans->compare->recordings[spans->compare->at - 1];
	int result = 0;

	view_losses_read(spans->trace, &recording->losses);
	recording->size = call_ns(spans->trace, spans->end - spans->begin);
	recording->draws = (double)recording->size / 1e9;
	for (uint32_t name = 0; name < spans->count && !result; name++) {
		const uint64_t count = spans->rows[name].durations.count;

		recording->count += count;
		if (count)
			result = compare_spans_add(spans, name, 1e9 / (double)spans->trace->clock.hz,
						   recording->draws);
	}
	compare_spans_head(recording);
	return result;
}

int compare_spans(struct compare *compare, const struct burin_trace *trace, const struct span_choice *choice,
		  const struct view_profile_filter *filter, unsigned threads)
{
	struct compare_spans spans = { .compare = compare, .trace = trace, .filter = filter };
	int result;

	compare_range(trace, filter, &spans.begin, &spans.end);
	result = compare_spans_read(&spans, choice, threads);
	for (uint32_t name = 0; name < spans.count; name++)
		for (unsigned n = 0; n < QUANTILES; n++)
			spans.rows[name].quantiles[n] = call_durations_quantile(
				&spans.rows[name].durations, compare_quantiles[n].permille);
	spans.again = true;
	if (!result)
		result = compare_spans_read(&spans, choice, threads);
	if (!result)
		result = compare_spans_values(&spans);
	for (uint32_t name = 0; name < spans.count; name++)
		call_durations_free(&spans.rows[name].durations);
	free(spans.rows);
	return result;
}
