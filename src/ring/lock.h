/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A lock that threads of several processes share, that nobody waits for, and that a dead owner does not keep.
 *
 * The word holds the owner's thread id below (0: free) and a count of uses above. The count makes sure that a
 * lock is taken over from the owner that was found dead, and not from a new thread to which the kernel has
 * given the same id meanwhile. What a lock protects must be sound whatever its owner was doing when it died.
 */
#ifndef BURIN_RING_LOCK_H
#define BURIN_RING_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_deps.h"

/*
 * lock_take - take a lock, or find that somebody else has it.
 * @tid: the calling thread
 * Context: any thread, signal handlers: one that has interrupted the owner, its own thread, finds it taken.
 */
static inline bool lock_take(uint64_t *lock, uint32_t tid)
{
	uint64_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED);
	uint32_t owner = (uint32_t)seen;
	uint64_t next = ((seen >> 32) + 1) << 32 | tid;

	if (owner != 0 && (owner == tid || !ring_owner_is_dead(owner)))
		return false;
	/* Acquire pairs with the release in lock_drop(); a dead owner's stores have all happened. */
	return __atomic_compare_exchange_n(lock, &seen, next, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * lock_disown - free a lock whose owner died and had the id that the calling thread has been given since.
 * Only for a thread that holds no lock: otherwise it could be its own.
 */
static inline void lock_disown(uint64_t *lock, uint32_t tid)
{
	uint64_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED);

	if ((uint32_t)seen == tid)
		__atomic_compare_exchange_n(lock, &seen, seen & ~(uint64_t)UINT32_MAX, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/*
 * lock_bury - free a lock whose owner is dead but not yet reaped by its parent. For those who found it taken
 * and would otherwise lose something: it asks in /proc. Return: whether it is free now.
 */
static inline bool lock_bury(uint64_t *lock)
{
	uint64_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED);
	uint32_t owner = (uint32_t)seen;

	if (owner == 0)
		return true;
	return ring_owner_is_zombie(owner) &&
	       __atomic_compare_exchange_n(lock, &seen, seen & ~(uint64_t)UINT32_MAX, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static inline void lock_drop(uint64_t *lock)
{
	uint64_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED);

	__atomic_store_n(lock, seen & ~(uint64_t)UINT32_MAX, __ATOMIC_RELEASE);
}

#endif
