/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring: atomic append.
 *
 * A record exists if and only if the tail has passed it. A writer prepares its record in private memory;
 * then, in one section that no other writer of this ring can interleave with, it looks at the tail, reads the
 * clock, copies the record behind the tail and stores the new tail. That store is the commit. Nothing is ever
 * reserved, so there is no state in which a record is half there: a writer that dies or is interrupted in the
 * section has written nothing, and the next one overwrites what it left behind the tail. The order of records
 * is the order of time, because the clock is read inside.
 *
 * Three sections do everything (ring_deps.h says what makes each exclusive in each world):
 *
 * put: the usual case, a compact record into the open packet.
 *
 * extend: the same with the full time, when the packet's time base is 2^32 ticks or more behind, or is one
 * that was never committed. Moves the base: base_offset first (which makes the base void until the tail has
 * passed it), base_time second.
 *
 * open: closes the packet (a header over its rest, for it holds stale bytes of the last lap), writes the
 * header of the next one, and puts the record there. What it writes was computed outside the section from the
 * tail `old`; inside, the tail must still be `old` and the packet before must still have the sequence number
 * that was seen, or somebody else has been here (the tail alone could have come round: it wraps).
 *
 * A clock that is behind the last record's (`time_end`) is held at that time, and counted when a packet is
 * opened.
 *
 * Full: in overwrite mode the oldest packet goes; otherwise the new record does, and is counted. Writers
 * never wait.
 *
 * Size. A ring is a window of slots, whose number is a power of two and never changes; all masks are the window's.
 * Only the first slots of it are used, `size` of them, and that may change at any moment: whoever opens a packet
 * and finds its slot to be none of those goes on at the next multiple of the window, in slot 0. So laps differ in
 * length, and each packet says how long the lap before its own was (`lap`): with that, slots follow from sequences.
 * In one place stands what was there before the last lap: a packet with number n, in slot j, lies where n - lap lay
 * if j < lap, and otherwise where nobody has been since the lap before. Hence all that has not been overwritten,
 * or not been read, is of this lap and the one before.
 *
 * Where the next packet goes is thus not certain until it is there, and an attempt that was restarted may have
 * scribbled in slot 0 as well as in the slot behind the tail's. So `open` first takes away the sequence of what
 * lies in the slot: a packet that was copied is whole if it still has its sequence after that.
 *
 * Trust. Everything in shared memory may be scribbled upon at any moment. Positions are masked with values
 * from struct ring, which is private, right after they are loaded, so that no store can leave the slots;
 * every loop is bounded.
 */
#ifndef BURIN_RING_RING_H
#define BURIN_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"
#include "wire/record.h"
#include "wire/ring.h"

/* A writer's private view of one ring. */
struct ring {
	struct wire_ring *control;
	char *slots;	      /* NULL: not in use yet */
	uint64_t word_mask;   /* words of the window - 1 */
	uint64_t packet_mask; /* words of a packet - 1 */
	uint64_t packet_words;
	uint32_t window;     /* slots, a power of two; as many as ring_size() says are in use */
	uint32_t record_max; /* longest compact record, bytes */
	/* Slots that have memory, as far as this process has seen, and in the upper half of which size that holds:
	 * when a ring gets a smaller one, memory is given back. The other slots get theirs when they are opened. */
	uint64_t backed;
	bool overwrite;
	bool locked; /* written under its lock; otherwise by restartable sequences on its CPU */
	bool fixed;  /* the whole window is in use, always */
	uint32_t cpu;
	const struct wire_packet
		*header; /* constant fields of every packet header, but stream_instance and cpu */
	uint32_t stream_instance;
};

enum ring_result {
	RING_DONE,
	RING_MOVED, /* not on that CPU any more, or interrupted: nothing was written */
	RING_ROOM,  /* no packet is open, or the record does not fit into its rest */
	RING_GAP,   /* the time needs an extended record */
	RING_FULL,  /* no packet can be opened: the reader is behind, or there is no memory */
	RING_BUSY,  /* the lock is held by another writer */
};

/* What section `open` has to write; computed from the tail `old`. */
struct ring_opening {
	uint64_t old;
	uint64_t new;
	const struct wire_packet *previous; /* NULL at the very first packet */
	uint64_t previous_sequence;
	uint32_t *rest;			 /* first bytes of the old packet's rest, NULL if there is none */
	struct wire_packet *packet;	 /* the slot */
	const struct wire_packet *image; /* what its header becomes, but for the times */
};

/*
 * A prepared record: an 8-aligned buffer of WIRE_HEADROOM bytes, then the payload, whose last word is filled
 * up with zeros. The buffer serves both forms: the compact header begins at byte 8, the extended one at 0.
 */
struct ring_record {
	void *buffer;
	uint32_t length; /* of the compact form, bytes */
};

/*
 * ring_prepare - write both headers of a record into its buffer, all but the time.
 *
 * Whole words are stored and loaded everywhere: a load that spans two smaller stores has to wait until both
 * have left the processor's store buffer, which costs more than all the rest. So the payload's first four
 * bytes and the tid, which share a word, are put together in a register.
 */
static inline void ring_prepare(void *buffer, uint16_t id, uint32_t length, uint32_t tid)
{
	uint64_t *word = (uint64_t *)buffer, context;
	uint32_t first;

	__builtin_memcpy(&first, (const char *)buffer + WIRE_HEADROOM, 4);
	context = (uint64_t)first << 32 | tid;
	__asm__("" : "+r"(context));	       /* or the compiler stores the tid's four bytes alone */
	word[1] = id | (uint64_t)length << 16; /* compact: the time joins in the upper half */
	word[2] = context;
}

/*
 * ring_append - append whatever it takes: extended records, new packets.
 *
 * Context: as the section; any thread, signal handlers. The ring's lock is held if the ring is a locked one.
 * Return: RING_DONE; RING_MOVED: choose the ring anew; RING_FULL. Losses are not counted here.
 */
enum ring_result ring_append(struct ring *ring, struct ring_record record);

/* ring_append_extended - the same, always in the extended form, unless it is the first of a packet. */
enum ring_result ring_append_extended(struct ring *ring, struct ring_record record);

/*
 * ring_append_locked - append to a ring that is written under its lock.
 * @tid: the calling thread, which the lock names
 *
 * Context: any thread, signal handlers: one that interrupts a writer of its own thread finds the lock busy.
 * Return: RING_DONE, RING_FULL or RING_BUSY. Losses are not counted here.
 */
enum ring_result ring_append_locked(struct ring *ring, struct ring_record record, uint32_t tid);

/* ring_bury - free the lock of a ring that was busy, if its owner is a zombie. Return: whether it is free
 * now. */
bool ring_bury(struct ring *ring);

/*
 * ring_turn - open the next packet, without a record in it, so that the open one is not written to any more.
 *
 * Context: as ring_append(), but not a writer's business: for who has made the ring smaller. Does nothing if no packet
 * was ever opened. Return: RING_DONE; RING_MOVED: not on that CPU; RING_FULL.
 */
enum ring_result ring_turn(struct ring *ring);

/* ring_turn_locked - the same for a ring that is written under its lock. Return: RING_DONE, RING_FULL or RING_BUSY. */
enum ring_result ring_turn_locked(struct ring *ring, uint32_t tid);

/* ring_slots_of - how many slots a size, as in wire_ring.size, means: anybody may have scribbled over it. */
static inline uint32_t ring_slots_of(const struct ring *ring, uint64_t size)
{
	const uint32_t slots = (uint32_t)size;

	if (ring->fixed || slots > ring->window)
		return ring->window;
	return slots < WIRE_RING_PACKETS_MIN ? WIRE_RING_PACKETS_MIN : slots;
}

/* ring_size - slots that are in use from the next packet on. */
static inline uint32_t ring_size(const struct ring *ring)
{
	return ring_slots_of(ring, __atomic_load_n(&ring->control->size, __ATOMIC_RELAXED));
}

/* ring_lose - count one record that was not kept. Context: any. */
static inline void ring_lose(const struct ring *ring, enum wire_loss cause)
{
	__atomic_fetch_add(&ring->control->lost[cause], 1, __ATOMIC_RELAXED);
}

#endif
