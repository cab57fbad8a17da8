/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lock of the calls area, for the functions of session_calls.h. */
#ifndef BURIN_SESSION_CALLS_CALL_LOCK_H
#define BURIN_SESSION_CALLS_CALL_LOCK_H

#include <sched.h>
#include <time.h>

#include "ring/lock.h"
#include "session/session.h"
#include "wire/wire_call.h"

enum {
	CALL_LOCK_WAIT_MS =
		200, /* then the owner has been stopped; a busy machine lets it wait for some 10 ms */
};

static inline uint64_t call_lock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* @self: the calling thread */
static inline bool call_lock_take(const struct session *session, uint32_t self)
{
	uint64_t *lock = &session->calls.header->lock, begun = 0;

	for (unsigned tries = 1; !lock_take(lock, self); tries++) {
		if ((uint32_t)__atomic_load_n(lock, __ATOMIC_RELAXED) == self)
			return false;
		if (tries % 256 == 0) {
			const uint64_t now = call_lock_ms();

			lock_break_stale(lock);
			if (!begun)
				begun = now;
			else if (now - begun > CALL_LOCK_WAIT_MS)
				return false;
		}
		sched_yield();
	}
	return true;
}

static inline void call_lock_drop(const struct session *session)
{
	lock_drop(&session->calls.header->lock);
}

#endif
