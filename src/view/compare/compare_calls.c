/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls by function; see compare.h. Times are of one call, and calls are a share of all calls: so neither the recording's length nor the
 * speed of other functions matters. A call belongs to the slice in which it ends. A total counts recursion once, as in the report.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/text.h"
#include "burin/calls.h"
#include "view/calls/call_durations.h"
#include "view/calls/call_stats.h"
#include "view/compare/compare.h"

/* By key of the function. */
struct compare_call {
	double counts[COMPARE_SLICES], selves[COMPARE_SLICES], totals[COMPARE_SLICES];
	double self_squares, total_squares;
};

struct compare_calls {
	struct compare *compare;
	struct compare_call *rows; /* by key */
	size_t room;
	uint64_t begin, end;	       /* ticks */
	double counts[COMPARE_SLICES]; /* of all */
	double all;
};

static int compare_calls_seen(void *data, const struct call_row *row, uint64_t end, uint64_t self,
			      uint64_t total)
{
	struct compare_calls *calls = data;
	const unsigned slice = compare_slice_of(end, calls->begin, calls->end);
	struct compare_call *call;

	if (!array_reserve_zeroed(calls->rows, calls->room, (size_t)row->key + 1))
		return -ENOMEM;
	call = &calls->rows[row->key];
	call->counts[slice]++;
	call->selves[slice] += (double)self;
	call->totals[slice] += (double)total;
	call->self_squares += (double)self * (double)self;
	call->total_squares += (double)total * (double)total;
	calls->counts[slice]++;
	calls->all++;
	return 0;
}

/* The mean of times in ns. Its variance is that by slices, at least that of calls that do not depend on each other. */
static struct significance_value compare_calls_mean(const double times[COMPARE_SLICES],
						    const double counts[COMPARE_SLICES], double count,
						    double squares, double tick_ns)
{
	const struct significance_value mean = compare_ratio(times, counts);
	const double apart = (squares / count - mean.value * mean.value) / count;

	return (struct significance_value){ mean.value * tick_ns,
					    fmax(mean.variance, apart) * tick_ns * tick_ns };
}

static int compare_calls_add(const struct compare_calls *calls, const struct compare_call *call,
			     const char *text, double tick_ns)
{
	struct compare *compare = calls->compare;
	const uint32_t name = view_string(&compare->names, text);
	double count = 0;

	for (unsigned n = 0; n < COMPARE_SLICES; n++)
		count += call->counts[n];
	if (count == 0)
		return 0;
	return compare_add(compare, name, COMPARE_CALLS,
			   compare_ratio(call->counts, calls->counts),
			   (uint64_t)count)
		       ?: compare_add(compare, name, COMPARE_SELF,
				      compare_calls_mean(call->selves, call->counts, count,
							 call->self_squares, tick_ns),
				      (uint64_t)count)
		       ?: compare_add(compare, name, COMPARE_TOTAL,
				      compare_calls_mean(call->totals, call->counts, count,
							 call->total_squares, tick_ns),
				      (uint64_t)count);
}

static int compare_calls_values(const struct compare_calls *calls, const struct call_stats *stats)
{
	struct compare_recording *recording = &calls->compare->recordings[calls->compare->at - 1];
	char count[TEXT_SHORT], time[TEXT_SHORT];
	int result = 0;

	view_losses_read(stats->trace, &recording->losses);
	recording->count = (uint64_t)calls->all;
	recording->size = call_ns(stats->trace, calls->end - calls->begin);
	recording->draws = calls->all;
	view_buffer_print(&recording->head, "%s call%s in %s\n", text_count(count, recording->count),
			  text_plural(recording->count), text_duration(time, recording->size));
	for (size_t n = 0; n < stats->rows.count && !result; n++) {
		const uint32_t key = stats->rows.rows[n]->key;

		if (key < calls->room)
			result = compare_calls_add(calls, &calls->rows[key],
						   view_key_text(&stats->keys, key, VIEW_SYMBOL),
						   1e9 / (double)stats->trace->clock.hz);
	}
	return result;
}

int compare_calls(struct compare *compare, const struct burin_trace *trace,
		  const struct view_profile_filter *filter, unsigned threads)
{
	struct compare_calls calls = { .compare = compare };
	const struct call_stats_visitor visitor = { compare_calls_seen, &calls };
	struct call_stats stats;
	int result;

	compare_range(trace, filter, &calls.begin, &calls.end);
	result = call_stats_make(&stats, trace, filter, 1u << VIEW_SYMBOL, threads, &visitor);
	if (!result) {
		result = compare_calls_values(&calls, &stats);
		call_stats_free(&stats);
	}
	free(calls.rows);
	return result;
}
