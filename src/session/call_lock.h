/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lock of the calls area, for the functions of session_calls.h. */
#ifndef BURIN_SESSION_CALL_LOCK_H
#define BURIN_SESSION_CALL_LOCK_H

#include <sched.h>

#include "ring/lock.h"
#include "session/session.h"
#include "wire/wire_call.h"

enum {
	CALL_LOCK_TRIES = 10000, /* then the owner has been stopped, or is this thread itself */
};

/* @self: the calling thread */
static inline bool call_lock_take(const struct session *session, uint32_t self)
{
	uint64_t *lock = &session->calls.header->lock;

	for (int tries = 0; tries < CALL_LOCK_TRIES; tries++) {
		if (lock_take(lock, self))
			return true;
		if ((uint32_t)__atomic_load_n(lock, __ATOMIC_RELAXED) == self)
			return false;
		if (tries % 256 == 255)
			lock_break_stale(lock);
		sched_yield();
	}
	return false;
}

static inline void call_lock_drop(const struct session *session)
{
	lock_drop(&session->calls.header->lock);
}

#endif
