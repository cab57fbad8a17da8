/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A lock that threads of several processes share. No thread waits for it, and a dead owner does not keep it.
 *
 * The low half of the word is the owner's thread id (0: free), the high half a count of uses. A thread takes the lock
 * over from a dead owner only if the count is unchanged: the kernel may have given the same id to a new thread
 * meanwhile. The protected data must be consistent at every instruction of the owner, since it may die there.
 */
#ifndef BURIN_RING_LOCK_H
#define BURIN_RING_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_deps.h"

/*
 * lock_take - try to take a lock. Return: whether it was taken.
 * @tid: the calling thread
 * Context: any thread, signal handlers; a handler that interrupted the owner, its own thread, finds it taken.
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
 * lock_break_reused - free a lock whose dead owner had the same id as the calling thread.
 * The calling thread must hold no lock: it could be its own.
 */
static inline void lock_break_reused(uint64_t *lock, uint32_t tid)
{
	uint64_t seen = __atomic_load_n(lock, __ATOMIC_RELAXED);

	if ((uint32_t)seen == tid)
		__atomic_compare_exchange_n(lock, &seen, seen & ~(uint64_t)UINT32_MAX, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/*
 * lock_break_stale - free a lock whose owner is dead but not yet reaped by its parent. It reads /proc, so call it
 * only where a taken lock means a loss. Return: whether it is free now.
 */
static inline bool lock_break_stale(uint64_t *lock)
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
