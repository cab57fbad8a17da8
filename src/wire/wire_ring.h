/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The shared control block of a ring (docs/format.md, "Ring"). ring/ring.h describes the protocol.
 *
 * The tail is one word, because its store is the commit of a record. Its upper 40 bits are the position behind the last
 * record, in 8-byte words since the ring was made, modulo 2^40 (8 TiB). Its lower 24 bits are the number of records in
 * the packet before that position. It is 0 before the first record.
 */
#ifndef BURIN_WIRE_WIRE_RING_H
#define BURIN_WIRE_WIRE_RING_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_packet.h"

enum {
	WIRE_TAIL_COUNT_BITS = 24,
	WIRE_TAIL_COUNT_MASK = (1 << WIRE_TAIL_COUNT_BITS) - 1,
};

enum {
	WIRE_RING_PACKETS_MIN = 4,
	WIRE_RING_CHANGES_SHIFT = 32,
};

enum wire_ring_state {
	WIRE_RING_ABSENT, /* not used yet */
	WIRE_RING_READY,
};

struct wire_ring {
	/* written by the writers */
	uint64_t tail;
	uint64_t lost[WIRE_LOST_CAUSES]; /* FULL, BUSY and SIZE are the writers'; the rest stays 0 here */
	uint64_t clock_steps; /* packets at whose opening the clock was clamped to the last record's time */
	uint64_t
		lock; /* locked rings: thread id of the owner, 0 if none; above it a count of uses (ring/lock.h) */
	uint32_t state; /* enum wire_ring_state */
	uint32_t reserved0;
	uint64_t compaction; /* names ring: sequence + 1 of the packet that is being compacted, or was last */
	/* Slots in use, WIRE_RING_PACKETS_MIN to the window's; in bits 32..63, how often the size was changed. */
	uint64_t size;
	uint64_t reserved1[4];
	/* The sequence of the first packet that was not given back. The reader writes it (stream mode), or the names
	 * ring's writers (flight mode). */
	uint64_t consumed;
	uint64_t reserved2[15];
};

static_assert(sizeof(struct wire_ring) == 256, "wire_ring");
static_assert(offsetof(struct wire_ring, lost) == 8, "wire_ring.lost");
static_assert(offsetof(struct wire_ring, clock_steps) == 56, "wire_ring.clock_steps");
static_assert(offsetof(struct wire_ring, lock) == 64, "wire_ring.lock");
static_assert(offsetof(struct wire_ring, state) == 72, "wire_ring.state");
static_assert(offsetof(struct wire_ring, compaction) == 80, "wire_ring.compaction");
static_assert(offsetof(struct wire_ring, size) == 88, "wire_ring.size");
static_assert(offsetof(struct wire_ring, consumed) == 128, "the reader's word has a cache line of its own");

#endif
