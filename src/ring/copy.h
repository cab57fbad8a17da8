/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Copy records out of a ring: the reader's half of the protocol in ring.h.
 *
 * The tail and the header of its packet determine the slots of all other packets. Packets of the same lap lie in the
 * slots before it. Packets of the lap before lie in the slots behind it; the header has that lap's length.
 *
 * The reader copies a packet first, and then checks whether it was there during the whole copy. In overwrite mode it
 * was if its sequence is unchanged: a writer removes the sequence before it changes anything else in the slot.
 *
 * In stream mode all packets from the first one that was not given back (`consumed`) are alive. The reader that gives
 * packets back needs no second check. Any other reader is passive: it drops a copy whose packet was given back
 * meanwhile.
 *
 * Other processes wrote the copied bytes: only their position and size are certain. See drain/validation.h.
 */
#ifndef BURIN_RING_COPY_H
#define BURIN_RING_COPY_H

#include "ring/ring.h"

/* No ring has had so many packets: they would hold an exbibyte. Sums of sequences below it do not overflow. */
#define RING_SEQUENCE_MAX (UINT64_C(1) << 48)

/* The position of a reader. All zero: at the beginning. */
struct ring_cursor {
	uint64_t sequence; /* of the packet to read next */
	uint32_t offset;   /* bytes of it that have been read, header included; 0: not yet begun */
	bool passive;	   /* another reader, if any, gives the packets back */
};

/* The state of a ring at one moment, from its tail and the open packet. */
struct ring_look {
	uint64_t position; /* of the open packet, in words, modulo 2^40 */
	uint64_t sequence; /* of the open packet */
	uint64_t events_before;
	uint32_t slot;	/* of the open packet */
	uint32_t lap;	/* packets of the lap before */
	uint32_t end;	/* bytes of the open packet below the tail */
	uint32_t count; /* records of the open packet */
	bool empty;	/* no packet was ever opened */
};

struct ring_piece {
	uint64_t sequence;
	uint32_t begin; /* the new bytes are [begin, end), at the same offsets in buffer and packet */
	uint32_t end;
	bool last;	/* the packet is closed: a WIRE_ID_CLOSED header or its end ends its records */
	uint32_t count; /* records from the packet's first to `end`; only if not last */
};

/*
 * ring_copy - copy the bytes of one packet behind the cursor.
 * @buffer: of the packet's size; on success its first bytes are the packet's header, as in the ring
 *
 * Moves the cursor behind the copied bytes. If the cursor's packet is not alive any more, it continues at the oldest
 * that is.
 *
 * Context: one reader per cursor; at most one cursor of a ring is not passive. A read-only mapping is enough.
 * Return: 1 and *piece; 0: nothing new; -ESTALE: no writer can have made this tail (the memory is corrupt), and the
 * cursor stays.
 */
int ring_copy(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_piece *piece);

/*
 * ring_look - load the tail and the header of its packet. The tail alone is not enough: its position wraps, and a
 * reader that slept does not know how often. Both belong together if the tail's packet is the same before and after.
 * Return: false if it was not: *look mixes several moments.
 */
bool ring_look(const struct ring *ring, struct ring_look *look);

/* ring_present - the number of packets at a look, the open one included. The older ones may be overwritten by now. */
uint32_t ring_present(const struct ring *ring, const struct ring_look *look);

/* ring_packet - the address of one of those packets, by its sequence. For any sequence it lies within the slots. */
const struct wire_packet *ring_packet(const struct ring *ring, const struct ring_look *look,
				      uint64_t sequence);

/* ring_behind - packets from the cursor's to the open one, at most those of the window. */
uint32_t ring_behind(const struct ring *ring, const struct ring_cursor *cursor);

/* ring_move - move the cursor to the beginning of a packet. */
static inline void ring_move(struct ring_cursor *cursor, uint64_t sequence)
{
	cursor->sequence = sequence;
	cursor->offset = 0;
}

/* ring_skip - move the cursor forward to the packet that is open now. Context: as ring_copy(). */
void ring_skip(const struct ring *ring, struct ring_cursor *cursor);

/* ring_give_back - let the writers reuse the packets before `sequence` (stream mode). */
static inline void ring_give_back(const struct ring *ring, uint64_t sequence)
{
	/* Release: the copy is finished. Pairs with the acquire in is_read() (append.c). */
	__atomic_store_n(&ring->control->consumed, sequence, __ATOMIC_RELEASE);
}

#endif
