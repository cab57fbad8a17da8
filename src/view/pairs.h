/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Who ran in which stack, in order: what reports are made of. */
#ifndef BURIN_VIEW_PAIRS_H
#define BURIN_VIEW_PAIRS_H

#include <stddef.h>
#include <stdint.h>

/* Samples of a task in a stack. */
struct view_pair {
	uint32_t task, stack;
	uint32_t state; /* enum view_state */
	uint64_t samples, weight;
	double squares; /* the sum of the samples' weights, each squared */
};

/* A sum, or the largest number if it is larger. */
static inline uint64_t view_add(uint64_t one, uint64_t other)
{
	uint64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/* Order: by task, stack, state. */
int view_pair_order(const void *one, const void *other);

/*
 * view_pairs_sort - put pairs in order, and together what is the same.
 * @pairs: allocated by malloc; replaced. Return: 0 or -ENOMEM, and they are as they were.
 */
int view_pairs_sort(struct view_pair **pairs, size_t *count);

#endif
