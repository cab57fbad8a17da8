/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Pairs of task and stack, in order: the input of all reports. */
#ifndef BURIN_VIEW_PROFILE_PAIRS_H
#define BURIN_VIEW_PROFILE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct view_pair {
	uint32_t task, stack;
	uint32_t state; /* enum view_state */
	uint64_t samples, weight;
	double squares; /* the sum of the samples' weights, each squared */
};

/* A sum that saturates. */
static inline uint64_t view_add(uint64_t one, uint64_t other)
{
	uint64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/* Order: by task, stack, state. */
int view_pair_order(const void *one, const void *other);

/*
 * view_pairs_sort - sort pairs, and join equal ones.
 * @pairs: allocated by malloc; replaced. Return: 0; -ENOMEM: unchanged.
 */
int view_pairs_sort(struct view_pair **pairs, size_t *count);

#endif
