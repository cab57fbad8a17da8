/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Taking records out of a ring: the reader's half of the protocol in ring.h.
 *
 * The reader copies first and then looks at the tail again. In overwrite mode the slot behind the tail's
 * belongs to the writers: an attempt that was restarted may have scribbled there before any tail said so. So
 * of n slots n - 1 are alive, the tail's own among them, and a packet that has left them by the second look
 * is not used.
 *
 * Otherwise all n slots are alive from the first packet that was not given back. Whoever gives packets back has
 * nothing to look at twice; anybody else reads passively, and a packet that has been given back by the second
 * look is not used.
 *
 * What is copied are bytes that other processes wrote: only its place and size are certain. See drain/sift.h.
 */
#ifndef BURIN_RING_COPY_H
#define BURIN_RING_COPY_H

#include "ring/ring.h"

/* How far a reader has come. All zero: at the beginning. */
struct ring_cursor {
	uint64_t sequence; /* of the packet to read next */
	uint32_t offset;   /* bytes of it that have been read, header included; 0: not yet begun */
	bool passive;	   /* somebody else gives the packets back */
};

struct ring_piece {
	uint64_t sequence;
	uint32_t begin; /* the new bytes lie in the buffer at [begin, end), where they lie in the packet */
	uint32_t end;
	bool last;	/* the packet is closed: a WIRE_ID_CLOSED header or its end ends its records */
	uint32_t count; /* records from the packet's first to `end`; only if not last */
};

/*
 * ring_copy - copy what one packet holds beyond the cursor.
 * @buffer: of the packet's size; on success its first bytes are the packet's header, as it lies in the ring
 *
 * Moves the cursor behind what was copied; if that packet is not alive any more, first to the oldest that is.
 *
 * Context: one reader per cursor, of all cursors at most one that is not passive; any process that maps the ring, if
 * only for reading.
 * Return: 1 and *piece; 0: nothing new; -ESTALE: the tail is not one that writers could have made (scribbled
 * upon): the cursor stays.
 */
int ring_copy(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_piece *piece);

/* ring_skip - move the cursor to the packet that is open now, if it is not there yet. Context: as ring_copy(). */
void ring_skip(const struct ring *ring, struct ring_cursor *cursor);

/* ring_give_back - let the writers have the packets before `sequence` (stream mode). */
static inline void ring_give_back(const struct ring *ring, uint64_t sequence)
{
	/* Release: the copy is finished. Pairs with the acquire in append_open(). */
	__atomic_store_n(&ring->control->consumed, sequence, __ATOMIC_RELEASE);
}

#endif
