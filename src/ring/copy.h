/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Taking records out of a ring: the reader's half of the protocol in ring.h.
 *
 * A look at the tail and its packet tells where all others lie: those of its lap in the slots before it, those of
 * the lap before, whose length it has, in the slots behind it.
 *
 * The reader copies a packet first, and then looks whether it was there all the while. In overwrite mode it was if it
 * still has its sequence: that goes before anything else in the slot changes.
 *
 * Otherwise all is alive from the first packet that was not given back. Whoever gives packets back has nothing to
 * look at twice; anybody else reads passively, and a packet that has been given back by the second look is not used.
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

/* What one look at a ring says. */
struct ring_look {
	uint64_t position; /* of the open packet, in words, modulo 2^40 */
	uint64_t sequence; /* of the open packet */
	uint64_t events_before;
	uint32_t slot;	/* of the open packet */
	uint32_t lap;	/* packets of the lap before */
	uint32_t end;	/* bytes of the open packet below the tail */
	uint32_t count; /* records of it */
	bool empty;	/* nothing was ever opened */
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

/*
 * ring_look - look at the tail, and at its packet. The position alone would not do: it wraps, and a reader that
 * slept would not know how often. They belong together if the packet is the same before and after.
 * Return: false if it was not: *look is of several moments.
 */
bool ring_look(const struct ring *ring, struct ring_look *look);

/* ring_present - packets that a look has found, the open one included. All but the first few may be gone by now. */
uint32_t ring_present(const struct ring *ring, const struct ring_look *look);

/* ring_packet - where the packet of a sequence lies, if it is one of those. Always within the slots. */
const struct wire_packet *ring_packet(const struct ring *ring, const struct ring_look *look,
				      uint64_t sequence);

/* ring_behind - packets from the cursor's to the open one, at most those of the window. */
uint32_t ring_behind(const struct ring *ring, const struct ring_cursor *cursor);

/* ring_move - go on at the beginning of a packet. */
static inline void ring_move(struct ring_cursor *cursor, uint64_t sequence)
{
	cursor->sequence = sequence;
	cursor->offset = 0;
}

/* ring_skip - move the cursor to the packet that is open now, if it is not there yet. Context: as ring_copy(). */
void ring_skip(const struct ring *ring, struct ring_cursor *cursor);

/* ring_give_back - let the writers have the packets before `sequence` (stream mode). */
static inline void ring_give_back(const struct ring *ring, uint64_t sequence)
{
	/* Release: the copy is finished. Pairs with the acquire in append_open(). */
	__atomic_store_n(&ring->control->consumed, sequence, __ATOMIC_RELEASE);
}

#endif
