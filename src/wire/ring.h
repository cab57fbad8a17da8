/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The shared control block of a ring (docs/format.md, "Ring"). What the words mean to each other is told in
 * ring/ring.h.
 *
 * The tail is one word, because its store is the commit of a record: the position behind the last record, in
 * 8-byte words since the ring was made, modulo 2^40 (8 TiB), in the upper 40 bits; the number of records in
 * the packet before that position in the lower 24. 0 before the first record.
 */
#ifndef BURIN_WIRE_RING_H
#define BURIN_WIRE_RING_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"

enum {
	WIRE_TAIL_COUNT_BITS = 24,
	WIRE_TAIL_COUNT_MASK = (1 << WIRE_TAIL_COUNT_BITS) - 1,
};

enum {
	WIRE_RING_PACKETS_MIN = 4,
	WIRE_RING_CHANGES_SHIFT = 32,
};

enum wire_ring_state {
	WIRE_RING_ABSENT, /* nobody has traced there */
	WIRE_RING_READY,
};

struct wire_ring {
	/* written by the writers */
	uint64_t tail;
	uint64_t lost[WIRE_LOST_CAUSES]; /* FULL, BUSY and SIZE are the writers'; the rest stays 0 here */
	uint64_t clock_steps; /* packets at whose opening the clock was behind the last record: time held
				 still */
	uint64_t lock; /* locked rings: thread id of the writer inside, 0 if none; above it a count of uses */
	uint32_t state; /* enum wire_ring_state */
	uint32_t reserved0;
	uint64_t cleaning; /* names ring: sequence + 1 of the packet that is, or was last, being cleaned */
	/* Slots in use, WIRE_RING_PACKETS_MIN to the window's; above them, in bits 32..63, how often that was changed */
	uint64_t size;
	uint64_t reserved1[4];
	/* written by the reader (stream mode), or by the names ring's writers (flight mode): packets given back,
	 * that is, the sequence of the first that is not */
	uint64_t consumed;
	uint64_t reserved2[15];
};

static_assert(sizeof(struct wire_ring) == 256, "wire_ring");
static_assert(offsetof(struct wire_ring, lost) == 8, "wire_ring.lost");
static_assert(offsetof(struct wire_ring, clock_steps) == 56, "wire_ring.clock_steps");
static_assert(offsetof(struct wire_ring, lock) == 64, "wire_ring.lock");
static_assert(offsetof(struct wire_ring, state) == 72, "wire_ring.state");
static_assert(offsetof(struct wire_ring, cleaning) == 80, "wire_ring.cleaning");
static_assert(offsetof(struct wire_ring, size) == 88, "wire_ring.size");
static_assert(offsetof(struct wire_ring, consumed) == 128, "the reader's word has a cache line of its own");

#endif
