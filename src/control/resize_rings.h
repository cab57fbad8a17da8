/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Resizing the rings of a session that programs record into (ring/ring.h, "Size"). One store into each ring does it, and
 * takes effect with the next packet. The rest frees the memory of slots that are no longer used.
 */
#ifndef BURIN_CONTROL_RESIZE_RINGS_H
#define BURIN_CONTROL_RESIZE_RINGS_H

#include "session/session.h"

struct resized {
	uint64_t before, after; /* bytes of each ring */
	uint64_t most;		/* the largest possible size of each ring */
	uint64_t freed;		/* freed bytes of all rings */
	uint64_t kept;		/* bytes beyond the size that could not be freed yet ... */
	bool unread;		/* ... since they have records that the recorder has not read */
};

/*
 * resize_rings - resize each ring of records to @bytes, in whole packets and at least four of them.
 *
 * If a ring's tail is in memory that must be freed, it opens the next packet, as a writer does. For a CPU's ring it runs on
 * that CPU for a moment. It waits up to a second for a recorder to read the records.
 *
 * Context: a command, not a traced program, with session_open(); moves the calling thread between CPUs.
 * The kernel resizes its own session, and frees the memory: *resized has only the sizes.
 * Return: 0; -E2BIG: more than ->most; -EBUSY: another process has been resizing for a second; of the kernel: another -errno.
 */
int resize_rings(struct session *session, uint64_t bytes, struct resized *resized);

#endif
