/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A session for a program that will not be allowed to make system calls: all system calls of recording are made
 * beforehand.
 */
#include <errno.h>

#include "ring/ring_deps.h"
#include "session/session.h"

static bool populate_ring(struct session *session, unsigned index)
{
	struct ring *ring = session_ring_use(session, index);

	return ring && ring_populate(ring);
}

int session_populate(struct session *session)
{
	const unsigned names = session_names_index(session), cpus = session->geometry.cpus;
	/* Locked rings are for threads without restartable sequences, which are rare if the CPUs have rings. */
	const unsigned end = cpus ? cpus : names;
	bool done = session_ask_beforehand() && populate_ring(session, names);

	for (unsigned n = 0; done && n < end; n++)
		done = populate_ring(session, n);
	ring_silent = true;
	return done ? 0 : -ENOMEM;
}
