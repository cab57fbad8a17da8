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

bool call_durations_number(const void *durations, unsigned which, uint64_t *number)
{
	const struct call_durations *of = durations;

	switch (which) {
	case CALL_AVERAGE:
		*number = call_durations_average(of);
		break;
	case CALL_MIN:
		*number = of->min;
		break;
	case CALL_P50:
		*number = call_durations_quantile(of, 50);
		break;
	case CALL_P99:
		*number = call_durations_quantile(of, 99);
		break;
	default:
		*number = of->max;
	}
	return of->count;
}
