/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Numbers, counted; see value_counts.h. The bits of a double, with its sign turned, are in the order of the numbers. */
#include "view/hist/value_counts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"

enum {
	FRACTION_BITS = 52,
	SHIFT = FRACTION_BITS - VALUE_BUCKET_BITS,
};

/* The number of a bucket among all, in their order. -0 is 0. */
static uint64_t value_bucket(double value)
{
	uint64_t bits;

	value = value == 0 ? 0 : value;
	memcpy(&bits, &value, sizeof(bits));
	bits = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
	return bits >> SHIFT;
}

/* The number in a bucket that is nearest to 0. */
static double bucket_value(uint64_t bucket)
{
	uint64_t bits = bucket << SHIFT;
	double value;

	if (bits >> 63)
		bits &= ~(UINT64_C(1) << 63);
	else
		bits = ~(bits | ((UINT64_C(1) << SHIFT) - 1));
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The counts of an octave; a new one is put into its place. Return: NULL: no memory. */
static uint64_t *value_octave(struct value_counts *counts, uint16_t number)
{
	struct value_octave *at;
	size_t n = 0;

	if (counts->last < counts->octave_count && counts->octaves[counts->last].number == number)
		return counts->octaves[counts->last].counts;
	while (n < counts->octave_count && counts->octaves[n].number < number)
		n++;
	counts->last = n;
	if (n < counts->octave_count && counts->octaves[n].number == number)
		return counts->octaves[n].counts;
	if (!array_reserve(counts->octaves, counts->octave_room, counts->octave_count + 1))
		return NULL;
	at = &counts->octaves[n];
	memmove(at + 1, at, (counts->octave_count - n) * sizeof(*at));
	at->number = number;
	at->counts = calloc(VALUE_BUCKETS, sizeof(*at->counts));
	counts->octave_count++;
	return at->counts;
}

bool value_counts_add(struct value_counts *counts, double value)
{
	const uint64_t bucket = value_bucket(value);
	uint64_t *octave = value_octave(counts, (uint16_t)(bucket >> VALUE_BUCKET_BITS));

	if (!octave)
		return false;
	octave[bucket & (VALUE_BUCKETS - 1)]++;
	counts->min = value < counts->min || !counts->count ? value : counts->min;
	counts->max = value > counts->max || !counts->count ? value : counts->max;
	counts->count++;
	/* Not by a sum, which the largest numbers would make infinite. */
	counts->mean += value / (double)counts->count - counts->mean / (double)counts->count;
	return true;
}

/* Buckets of numbers below 0 are in the opposite order. */
static bool add_power(struct value_counts *counts, unsigned power, bool negative, const uint64_t *buckets)
{
	const double value = ldexp(negative ? -1 : 1, (int)power);
	uint64_t *octave = NULL;

	for (unsigned n = 0; n < VALUE_BUCKETS; n++) {
		if (!buckets[n])
			continue;
		if (!octave)
			octave = value_octave(counts, (uint16_t)(value_bucket(value) >> VALUE_BUCKET_BITS));
		if (!octave)
			return false;
		octave[negative ? VALUE_BUCKETS - 1 - n : n] += buckets[n];
		counts->count += buckets[n];
	}
	return true;
}

bool value_counts_add_integers(struct value_counts *counts, const struct value_integers *integers)
{
	const double before = (double)counts->count, all = before + (double)integers->count;
	const uint64_t zero = value_bucket(0);
	uint64_t *octave;

	if (!integers->count)
		return true;
	counts->min = integers->min < counts->min || !counts->count ? integers->min : counts->min;
	counts->max = integers->max > counts->max || !counts->count ? integers->max : counts->max;
	counts->mean = counts->mean * (before / all) + integers->sum / all;
	for (unsigned n = 0; n < 128; n++) {
		const uint64_t *buckets = integers->power(integers->data, n & 63, n & 64);

		if (buckets && !add_power(counts, n & 63, n & 64, buckets))
			return false;
	}
	octave = integers->zeros ? value_octave(counts, (uint16_t)(zero >> VALUE_BUCKET_BITS)) : NULL;
	if (octave)
		octave[zero & (VALUE_BUCKETS - 1)] += integers->zeros;
	counts->count += octave ? integers->zeros : 0;
	return octave || !integers->zeros;
}

void value_counts_free(struct value_counts *counts)
{
	for (size_t n = 0; n < counts->octave_count; n++)
		free(counts->octaves[n].counts);
	free(counts->octaves);
	*counts = (struct value_counts){ .count = 0 };
}

/* Go through the buckets that are not empty, in their order. @at: 0 at first. Return: false: there are no more. */
static bool next_bucket(const struct value_counts *counts, uint64_t *at, double *value, uint64_t *count)
{
	for (; *at < counts->octave_count * VALUE_BUCKETS; ++*at) {
		const struct value_octave *octave = &counts->octaves[*at / VALUE_BUCKETS];
		const uint64_t bucket = *at % VALUE_BUCKETS;

		if (!octave->counts || !octave->counts[bucket])
			continue;
		*value = bucket_value((uint64_t)octave->number << VALUE_BUCKET_BITS | bucket);
		*count = octave->counts[bucket];
		++*at;
		return true;
	}
	return false;
}

double value_counts_quantile(const struct value_counts *counts, unsigned permille)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)counts->count * permille + 999) / 1000), at = 0,
		 count = 0, below = 0;
	double value = 0;

	rank = rank ? rank : 1;
	while (below < rank && next_bucket(counts, &at, &value, &count))
		below += count;
	value = value < counts->min ? counts->min : value;
	return value > counts->max ? counts->max : value;
}

/* ---- Bars */

/* The number of the bound 1, 2 or 5 times a power of ten that a positive number reaches: three for each power. */
static int value_bound(double value)
{
	int power = (int)floor(log10(value));
	double scaled = value / pow(10, power);

	/* The logarithm and the quotient are not exact. */
	if (scaled >= 10 * (1 - 1e-12))
		return 3 * (power + 1);
	return 3 * power + (scaled >= 5 * (1 - 1e-12) ? 2 : scaled >= 2 * (1 - 1e-12) ? 1 : 0);
}

static double bound_value(int bound)
{
	static const int steps[] = { 1, 2, 5 };
	const int power = (bound - (bound % 3 + 3) % 3) / 3;
	const int step = steps[(bound % 3 + 3) % 3];

	/* The least and the largest numbers have no bound below or above them. */
	return fmax(DBL_MIN, fmin(DBL_MAX, power < 0 ? step / pow(10, -power) : step * pow(10, power)));
}

/* The bar of a number, without its count. */
static struct value_bar value_bar(double value)
{
	if (value == 0)
		return (struct value_bar){ 0, 0, 0 };
	if (value > 0)
		return (struct value_bar){ bound_value(value_bound(value)),
					   bound_value(value_bound(value) + 1), 0 };
	return (struct value_bar){ -bound_value(value_bound(-value) + 1), -bound_value(value_bound(-value)),
				   0 };
}

/* The bar that follows, so that an empty one is seen. */
static struct value_bar bar_behind(const struct value_bar *bar)
{
	if (bar->from > 0)
		return (struct value_bar){ bar->to, bound_value(value_bound(bar->to * 1.01) + 1), 0 };
	return (struct value_bar){ bar->to, -bound_value(value_bound(-bar->to * 0.99)), 0 };
}

unsigned value_counts_bars(const struct value_counts *counts, struct value_bar bars[VALUE_BARS])
{
	uint64_t at = 0, count;
	unsigned used = 0;
	double value;

	while (next_bucket(counts, &at, &value, &count)) {
		struct value_bar bar = value_bar(value);

		/* Bars between numbers of one sign; between signs there may be hundreds. */
		while (used && used < VALUE_BARS / 2 && bars[used - 1].from * value > 0 &&
		       bar.from > bars[used - 1].to * (value > 0 ? 1.01 : 0.99)) {
			bars[used] = bar_behind(&bars[used - 1]);
			used++;
		}
		if (used && (bars[used - 1].from == bar.from || used == VALUE_BARS)) {
			bars[used - 1].to = bar.to > bars[used - 1].to ? bar.to : bars[used - 1].to;
			bars[used - 1].count += count;
			continue;
		}
		bar.count = count;
		bars[used++] = bar;
	}
	return used;
}
