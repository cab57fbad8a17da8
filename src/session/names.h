/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names ring of a session in flight mode, which its writers compact (names_compact.c). */
#ifndef BURIN_SESSION_NAMES_H
#define BURIN_SESSION_NAMES_H

#include "session/session.h"

/*
 * names_append_compacting - append a record to the names ring, and make room for it if there is none.
 * Context: the ring's lock is held; any thread, signal handlers. May take some hundred microseconds.
 * Return: as ring_append(); RING_FULL: all records of the ring are needed.
 */
enum ring_result names_append_compacting(struct session *session, struct ring *ring,
					 struct ring_record record);

#endif
