/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Another size for the rings of a session in which others trace (ring/ring.h, "Size"): a store into each ring, which
 * holds from its next packet on. What follows is about memory only: that of slots which are not used any more.
 */
#ifndef BURIN_CONTROL_RESIZE_H
#define BURIN_CONTROL_RESIZE_H

#include "session/session.h"

struct resized {
	uint64_t before, after,
		most;	/* bytes of each ring: until now, from now on, and what it can be at most */
	uint64_t freed; /* bytes of memory that were given back, of all rings */
	uint64_t kept;	/* bytes beyond the size that could not be given back yet ... */
	bool unread;	/* ... since there are records in them that the recorder has not read */
};

/*
 * resize_rings - give each ring of records so many bytes, in whole packets and at least four of them.
 *
 * To give memory back it opens a packet, as a writer does, in rings whose tail stands in what is to go; for those of
 * a CPU it runs on that CPU for a moment. It waits up to a second for a recorder to read what is there.
 *
 * Context: a command, not a traced program, with session_open(); moves the calling thread between CPUs.
 * Return: 0; -E2BIG: more than ->most; -EBUSY: somebody else has been at it for a second.
 */
int resize_rings(struct session *session, uint64_t bytes, struct resized *resized);

#endif
