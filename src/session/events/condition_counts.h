/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples and limits of conditions: the part of struct wire_condition in which writers of records count. */
#ifndef BURIN_SESSION_EVENTS_CONDITION_COUNTS_H
#define BURIN_SESSION_EVENTS_CONDITION_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire_event.h"

static inline bool condition_within(struct wire_condition *condition, uint32_t limit, uint32_t second)
{
	uint64_t seen = __atomic_load_n(&condition->window, __ATOMIC_RELAXED), next;

	do {
		bool same = (uint32_t)(seen >> 32) == second;

		if (same && (uint32_t)seen >= limit)
			return false;
		next = same ? seen + 1 : (uint64_t)second << 32 | 1;
	} while (!__atomic_compare_exchange_n(&condition->window, &seen, next, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

static inline bool condition_sampled(struct wire_condition *condition, uint32_t sample)
{
	return __atomic_fetch_add(&condition->passed, 1, __ATOMIC_RELAXED) % sample == 0;
}

/*
 * condition_counts_pass - whether an event that passed the filter is recorded, by sample and limit.
 * @second: returns the present second of a clock; called only if there is a limit
 * Context: any.
 */
static inline __attribute__((always_inline)) bool condition_counts_pass(struct wire_condition *condition,
									uint32_t (*second)(void))
{
	const uint32_t sample = __atomic_load_n(&condition->sample, __ATOMIC_RELAXED);
	const uint32_t limit = __atomic_load_n(&condition->limit, __ATOMIC_RELAXED);

	if (sample > 1 && !condition_sampled(condition, sample)) {
		__atomic_fetch_add(&condition->sampled_out, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (limit && !condition_within(condition, limit, second())) {
		__atomic_fetch_add(&condition->limited, 1, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

#endif
