/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Numbers of any size and sign, counted: their mean, the least and the greatest, quantiles, and bars of a histogram.
 *
 * Each power of two has 128 buckets, so quantiles are exact to 0.8 %, and exact of integers up to 255.
 */
#ifndef BURIN_VIEW_HIST_VALUE_COUNTS_H
#define BURIN_VIEW_HIST_VALUE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VALUE_BUCKET_BITS = 7,
	VALUE_BUCKETS = 1 << VALUE_BUCKET_BITS, /* of each power of two */
	VALUE_BARS = 64,
};

/* Numbers between two powers of two; 0, and what is smaller than any of these, is in one of its own. */
struct value_octave {
	uint16_t number; /* in their order */
	uint64_t *counts;
};

/* One of zeros has none. */
struct value_counts {
	uint64_t count;
	double mean, min, max;
	struct value_octave *octaves; /* in their order */
	size_t octave_count, octave_room, last;
};

/* value_counts_add - @value: finite. Return: false: no memory. */
bool value_counts_add(struct value_counts *counts, double value);
/* Integers that were counted elsewhere, in the same buckets. */
struct value_integers {
	uint64_t count, zeros;
	double sum, min, max;
	const uint64_t *(*power)(const void *data, unsigned power,
				 bool negative); /* VALUE_BUCKETS; NULL: there are none */
	const void *data;
};

/*
 * value_counts_add_integers - add them. Those that have no bucket are in the mean and between the bounds only.
 * ->power: of the numbers from 2^power on, without their sign, below the next one. Return: false: no memory.
 */
bool value_counts_add_integers(struct value_counts *counts, const struct value_integers *integers);
void value_counts_free(struct value_counts *counts);

/* value_counts_quantile - the least number that at least @permille of all do not exceed (the nearest rank). ->count is not 0. */
double value_counts_quantile(const struct value_counts *counts, unsigned permille);

/* Numbers from ->from on, below ->to; 0 alone is from 0 to 0. The bounds are 1, 2 and 5 times powers of ten. */
struct value_bar {
	double from, to;
	uint64_t count;
};

/*
 * value_counts_bars - the bars in their order. Empty ones are left out where there are more than VALUE_BARS, and then the outer bars have
 * all beyond them.
 * Return: how many.
 */
unsigned value_counts_bars(const struct value_counts *counts, struct value_bar bars[VALUE_BARS]);

#endif
