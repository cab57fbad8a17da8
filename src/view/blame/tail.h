/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The slowest spans against those around the median: in which parts of their time they differ, and how sure that is. The module knows
 * nothing of traces.
 *
 * A part's number is the mean time of a set's spans in it. Spans may be much shorter than the time from one sample to the next, so the samples
 * of a set share the time that all of its spans ran. The interval of a difference comes from sets of the same sizes, drawn from both at
 * random, with repetition.
 */
#ifndef BURIN_VIEW_BLAME_TAIL_H
#define BURIN_VIEW_BLAME_TAIL_H

#include "view/blame/blame.h"

enum {
	TAIL_DRAWS = 1000,
	TAIL_ROWS = 64,	     /* parts with the largest differences */
	TAIL_SPANS_MIN = 5,  /* in both sets: of fewer, nothing is sure */
	TAIL_EXTRA_MIN = 25, /* percent: if the slowest take less more than the others, nothing is sure */
	TAIL_ROW_MIN = 2,    /* percent of what they take more, of a part that is sure */
};

struct tail_set {
	const struct blame_vector *const *vectors;
	size_t count;
};

struct tail_row {
	uint32_t part;
	double slow, band; /* means, ns */
	double low, high;  /* of slow - band: 95 % of the draws are between these */
	bool sure;	   /* the difference is none by chance, and not too small */
	size_t example;	   /* the slowest set's vector with most of it */
};

struct tail {
	double slow, band;	  /* means of the whole times, ns */
	double more[BLAME_KINDS]; /* of slow - band, by kind of part */
	struct tail_row *rows;	  /* the largest difference first */
	size_t count;
	size_t left;	 /* parts with smaller differences */
	bool by_samples; /* the slowest are slow because samples were taken in them */
};

/*
 * tail_make - compare two sets.
 * @parts: as many as @part_count, 0 is none
 * @in_ns: weights of samples are times
 * Return: 0; -ENOMEM.
 */
int tail_make(struct tail *tail, const struct blame_part *parts, size_t part_count, struct tail_set slow,
	      struct tail_set band, bool in_ns);
void tail_free(struct tail *tail);

#endif
