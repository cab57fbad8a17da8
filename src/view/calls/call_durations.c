/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Durations, counted; see call_durations.h.
 *
 * The histogram has 64 buckets for each power of two, from 64 on; below, a bucket for each value. A quantile is the
 * middle of its bucket, cut to the least and the longest duration, which are exact: so a quantile of one duration is
 * that duration.
 *
 * Ranks are integers, rounded up (the nearest rank), in 128 bits: counts times 100 may pass 64.
 */
#include "view/calls/call_durations.h"

#include <inttypes.h>

#include "base/text.h"

/* The columns, in their order. */
enum {
	AVERAGE,
	LEAST,
	MEDIAN,
	P99,
	LONGEST,
	COLUMNS,
};

bool call_durations_join(struct call_durations *durations, const struct call_durations *from)
{
	if (!from->count)
		return true;
	for (unsigned octave = 0; octave < CALL_OCTAVES; octave++) {
		uint64_t *to = durations->octaves[octave];

		if (!from->octaves[octave])
			continue;
		if (!to)
			to = durations->octaves[octave] = calloc(CALL_BUCKETS, sizeof(*to));
		if (!to)
			return false;
		for (unsigned n = 0; n < CALL_BUCKETS; n++)
			to[n] += from->octaves[octave][n];
	}
	durations->min = from->min < durations->min || !durations->count ? from->min : durations->min;
	durations->max = from->max > durations->max ? from->max : durations->max;
	durations->sum += from->sum;
	durations->count += from->count;
	return true;
}

void call_durations_free(struct call_durations *durations)
{
	for (unsigned n = 0; n < CALL_OCTAVES; n++)
		free(durations->octaves[n]);
}

uint64_t call_durations_average(const struct call_durations *durations)
{
	return durations->count ? durations->sum / durations->count : 0;
}

/* The middle of the bucket that has the duration at a rank, from 1. */
static uint64_t duration_at(const struct call_durations *durations, uint64_t rank)
{
	uint64_t before = 0, last = 0;

	for (unsigned octave = 0; octave < CALL_OCTAVES; octave++)
		for (unsigned bucket = 0; durations->octaves[octave] && bucket < CALL_BUCKETS; bucket++) {
			const uint64_t count = durations->octaves[octave][bucket];
			const unsigned shift = octave ? octave - 1 : 0;

			if (!count)
				continue;
			last = ((uint64_t)bucket + (octave ? CALL_BUCKETS : 0)) << shift;
			last += (UINT64_C(1) << shift) / 2;
			before += count;
			if (before >= rank)
				return last;
		}
	return last;
}

uint64_t call_durations_quantile(const struct call_durations *durations, unsigned percent)
{
	uint64_t time;

	if (!durations->count)
		return 0;
	time = duration_at(durations, (uint64_t)(((unsigned __int128)durations->count * percent + 99) / 100));
	time = time < durations->min ? durations->min : time;
	return time > durations->max ? durations->max : time;
}

uint64_t call_ns(const struct burin_trace *trace, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000 / trace->clock.hz);
}

/* ---- Output */

static uint64_t column(const struct call_durations *durations, unsigned number)
{
	switch (number) {
	case AVERAGE:
		return call_durations_average(durations);
	case LEAST:
		return durations->min;
	case MEDIAN:
		return call_durations_quantile(durations, 50);
	case P99:
		return call_durations_quantile(durations, 99);
	default:
		return durations->max;
	}
}

void call_duration_text(const struct burin_trace *trace, uint64_t ticks, bool known, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_buffer_print(out, "%10s  ", known ? text_duration(text, call_ns(trace, ticks)) : "-");
}

void call_durations_text(const struct call_durations *durations, const struct burin_trace *trace,
			 struct view_buffer *out)
{
	for (unsigned n = 0; n < COLUMNS; n++)
		call_duration_text(trace, column(durations, n), durations->count > 0, out);
}

void call_durations_json(const struct call_durations *durations, const struct burin_trace *trace,
			 struct json *json)
{
	static const char *const keys[] = { [AVERAGE] = "average_ns",
					    [LEAST] = "min_ns",
					    [MEDIAN] = "p50_ns",
					    [P99] = "p99_ns",
					    [LONGEST] = "max_ns" };

	for (unsigned n = 0; n < COLUMNS; n++) {
		if (durations->count)
			json_u64(json, keys[n], call_ns(trace, column(durations, n)));
		else
			json_null(json, keys[n]);
	}
}

void call_durations_csv(const struct call_durations *durations, const struct burin_trace *trace,
			struct view_buffer *out)
{
	for (unsigned n = 0; n < COLUMNS; n++) {
		view_buffer_print(out, ",");
		if (durations->count)
			view_buffer_print(out, "%" PRIu64, call_ns(trace, column(durations, n)));
	}
}
