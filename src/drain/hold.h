/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a snapshot holds: the rings' living packets, copied at the speed of memory.
 *
 * Writers may be as fast as 2.4 GB/s on each CPU. Whoever wrote to disk while they go on would be overtaken; so
 * first everything is copied, into memory that is there already, and looked at only then. That can wait: while
 * somebody goes on writing, who takes pieces is made to rest half of the time. The writer's processor may share a core
 * with ours, and who writes to disk beside it slows it by 12 % (bench/run snapshot).
 */
#ifndef BURIN_DRAIN_HOLD_H
#define BURIN_DRAIN_HOLD_H

#include "ring/copy.h"
#include "session/session.h"

struct held_ring {
	struct wire_ring control; /* as it was behind the last piece */
	char *memory;		  /* a slot for each piece; NULL: nobody has used the ring */
	size_t bytes;
	struct ring_piece *pieces;
	uint32_t slots, count, next;
	bool stale;
};

struct hold {
	const struct session *session;
	struct held_ring *rings;
	unsigned count;
	uint64_t until;	 /* the moment at which it was begun: what is later belongs to others */
	size_t given;	 /* bytes of pieces since the last rest */
	uint64_t rested; /* when that was, ns; 0: there was none */
};

/*
 * hold_rings - copy what lives in a session's rings, the names last. Stores nothing into the session.
 * Return: 0 or -ENOMEM; hold_free() in any case.
 */
int hold_rings(struct hold *hold, struct session *session);

/*
 * hold_next - the next piece of a ring, as ring_copy() gives it.
 * @packet: set to its packet, which is the caller's to change
 */
int hold_next(struct hold *hold, unsigned index, struct wire_packet **packet, struct ring_piece *piece);

/* hold_release - a ring's memory is not needed any more. */
void hold_release(struct hold *hold, unsigned index);

void hold_free(struct hold *hold);

#endif
