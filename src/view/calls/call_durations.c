/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Durations, counted; see call_durations.h.
 *
 * The histogram has 64 buckets for each power of two, from 64 on; below, a bucket for each value. A quantile is the
 * middle of its bucket, cut to the least and the longest duration, which are exact: so a quantile of one duration is
 * that duration.
 *
 * Ranks are integers, rounded up (the nearest rank), in 128 bits: counts times 1000 may pass 64.
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

/* The middle of a bucket. */
static uint64_t bucket_middle(unsigned octave, unsigned bucket)
{
	const unsigned shift = octave ? octave - 1 : 0;

	return (((uint64_t)bucket + (octave ? CALL_BUCKETS : 0)) << shift) + (UINT64_C(1) << shift) / 2;
}

/* The middle of the bucket that has the duration at a rank, from 1. */
static uint64_t duration_at(const struct call_durations *durations, uint64_t rank)
{
	uint64_t before = 0, last = 0;

	for (unsigned octave = 0; octave < CALL_OCTAVES; octave++)
		for (unsigned bucket = 0; durations->octaves[octave] && bucket < CALL_BUCKETS; bucket++) {
			const uint64_t count = durations->octaves[octave][bucket];

			if (!count)
				continue;
			last = bucket_middle(octave, bucket);
			before += count;
			if (before >= rank)
				return last;
		}
	return last;
}

/* The middle, cut to the least and the longest duration, which are exact. */
static uint64_t call_durations_cut(const struct call_durations *durations, uint64_t time)
{
	time = time < durations->min ? durations->min : time;
	return time > durations->max ? durations->max : time;
}

uint64_t call_durations_quantile(const struct call_durations *durations, unsigned permille)
{
	if (!durations->count)
		return 0;
	return call_durations_cut(
		durations,
		duration_at(durations,
			    (uint64_t)(((unsigned __int128)durations->count * permille + 999) / 1000)));
}

/* The bounds 0, 1, 2, 5, 10, 20, 50, ... that a time is between. */
static struct call_bar bar_of(uint64_t ns)
{
	struct call_bar bar = { 0, 1, 0 };
	uint64_t power = 1;

	while (ns >= bar.to) {
		const uint64_t next = bar.to == power	    ? power * 2
				      : bar.to == power * 2 ? power * 5
							    : power * 10;

		if (bar.to == power * 5)
			power *= 10;
		bar.from = bar.to;
		bar.to = next > bar.to ? next : UINT64_MAX;
		if (bar.to == UINT64_MAX)
			break;
	}
	return bar;
}

/* Add so many durations behind all others. Bars without any that are between are added, too. */
static unsigned add_to_bar(struct call_bar bars[CALL_BARS], unsigned used, uint64_t ns, uint64_t count)
{
	const struct call_bar wanted = bar_of(ns);

	if (!used)
		bars[used++] = wanted;
	while (bars[used - 1].from < wanted.from && used < CALL_BARS) {
		bars[used] = bar_of(bars[used - 1].to);
		used++;
	}
	bars[used - 1].count += count;
	return used;
}

/* Units of @hz in ns, at most what fits. */
static uint64_t unit_ns(uint64_t time, uint64_t hz)
{
	const unsigned __int128 ns = (unsigned __int128)time * 1000000000 / hz;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

unsigned call_durations_histogram(const struct call_durations *durations, uint64_t hz,
				  struct call_bar bars[CALL_BARS])
{
	unsigned used = 0;

	for (unsigned octave = 0; octave < CALL_OCTAVES; octave++)
		for (unsigned bucket = 0; durations->octaves[octave] && bucket < CALL_BUCKETS; bucket++) {
			const uint64_t count = durations->octaves[octave][bucket],
				       time = call_durations_cut(durations, bucket_middle(octave, bucket));

			if (count)
				used = add_to_bar(bars, used, unit_ns(time, hz), count);
		}
	return used;
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
	case CALL_MAX:
		*number = of->max;
		break;
	default:
		*number = call_durations_quantile(of, which);
	}
	return of->count;
}
