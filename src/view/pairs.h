/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples, put together by task, stack and event. There may be nearly as many different ones as samples, and a hash
 * table of them misses the cache with each sample. So samples are appended, unless one like it came just before;
 * and now and then the list is sorted, and what is the same becomes one.
 */
#ifndef BURIN_VIEW_PAIRS_H
#define BURIN_VIEW_PAIRS_H

#include <stddef.h>
#include <stdint.h>

/* Samples of a task in a stack. */
struct view_pair {
	uint32_t task, stack;
	uint32_t state; /* enum view_state; while samples are counted, the id of their event */
	uint64_t samples, weight;
	double squares; /* the sum of the samples' weights, each squared */
};

/* Zero it before use. */
struct view_pairs {
	struct view_pair *list;
	size_t count, room;
	struct view_recent *recent; /* those that came last, by hash */
};

/* A sum, or the largest number if it is larger. */
static inline uint64_t view_add(uint64_t one, uint64_t other)
{
	uint64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? UINT64_MAX : sum;
}

/* Order: by task, stack, state. */
int view_pair_order(const void *one, const void *other);
/* Return: 0 or -ENOMEM. */
int view_pairs_add(struct view_pairs *pairs, const struct view_pair *pair);
/* Puts them in order, and together what is the same. Return: 0 or -ENOMEM. */
int view_pairs_settle(struct view_pairs *pairs);
void view_pairs_free(struct view_pairs *pairs);

#endif
