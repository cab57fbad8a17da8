/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring: atomic append.
 *
 * A record exists if and only if the tail has passed it. A writer prepares its record in private memory. Then it
 * enters a section that excludes all other writers of this ring. There it reads the clock, loads the tail, copies the
 * record behind the tail and stores the new tail. That store is the commit. Nothing is ever reserved, so a record is
 * never half there. A writer that dies or is interrupted in the section has written nothing, and the next one
 * overwrites its bytes behind the tail. Records are in order of time, because the clock is read inside the section.
 *
 * There are three sections (section_rseq.h and section_plain.h say what makes them exclusive):
 *
 * put: the usual case, a compact record into the open packet.
 *
 * extend: the same with the full time. It is needed when the packet's time base is 2^32 ticks or more behind, or was
 * never committed. It moves the base: base_offset first (which makes the base void until the tail has passed it),
 * base_time second.
 *
 * open: closes the packet with a header over its rest, which has stale bytes of the last lap; writes the header of the
 * next packet; and puts the record there. The writer computes all this outside the section, from the tail `old`.
 * Inside, the tail must still be `old` and the previous packet must still have the same sequence; otherwise another
 * writer has been here. The tail alone is not enough, because it wraps.
 *
 * A clock value behind the last record (`time_end`) is clamped to that time; it is counted when a packet is opened.
 *
 * Full: in overwrite mode the oldest packet is overwritten; otherwise the new record is lost and counted. Writers
 * never wait.
 *
 * Size. A ring is a window of slots. Their number is a power of two and never changes; all masks are the window's.
 * Only the first `size` slots are used, and `size` may change at any moment. If the slot of a new packet would not be
 * one of these, the writer continues at the next multiple of the window, in slot 0. So laps differ in length, and each
 * packet has the length of the lap before its own (`lap`); with it, slots follow from sequences. Packet n in slot j
 * overwrites packet n - lap if j < lap. Otherwise the lap before did not use its slot. Hence every packet that is not
 * overwritten, or not yet read, belongs to this lap or the one before.
 *
 * So the slot of the next packet is not certain until the packet is committed. A restarted attempt may have written to
 * slot 0 as well as to the slot behind the tail's. Therefore `open` first removes the sequence from the slot: a copied
 * packet is whole if its sequence is still there after the copy.
 *
 * Trust. Any process may corrupt the shared memory at any moment. Loaded positions are masked at once with values from
 * struct ring, which is private, so no store can leave the slots. Every loop is bounded.
 */
#ifndef BURIN_RING_RING_H
#define BURIN_RING_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire_packet.h"
#include "wire/wire_record.h"
#include "wire/wire_ring.h"

/* A writer's private view of one ring. */
struct ring {
	struct wire_ring *control;
	char *slots;	      /* NULL: not in use yet */
	uint64_t word_mask;   /* words of the window - 1 */
	uint64_t packet_mask; /* words of a packet - 1 */
	uint64_t packet_words;
	uint32_t window;     /* slots, a power of two; as many as ring_size() says are in use */
	uint32_t record_max; /* longest compact record, bytes */
	/* Low half: the slots that have memory, as far as this process knows. Upper half: the change count of the size
	 * for which that holds, since a smaller size frees memory. Other slots get memory when they are opened. */
	uint64_t backed;
	bool overwrite;
	bool locked; /* written under its lock; otherwise by restartable sequences on its CPU */
	bool fixed;  /* the whole window is always in use */
	uint32_t cpu;
	const struct wire_packet
		*header; /* constant fields of every packet header, but stream_instance and cpu */
	uint32_t stream_instance;
	uint32_t ready_words; /* packet_words if the ring is in use, otherwise 0 */
};

enum ring_result {
	RING_DONE,
	RING_MOVED, /* not on that CPU any more, or interrupted: nothing was written */
	RING_ROOM,  /* no packet is open, or the record does not fit into its rest */
	RING_GAP,   /* the time needs an extended record */
	RING_FULL,  /* no packet can be opened: the reader is too slow, or there is no memory */
	RING_BUSY,  /* the lock is held by another writer */
};

/* The parameters of section `open`, computed from the tail `old`. */
struct ring_opening {
	uint64_t old;
	uint64_t new;
	const struct wire_packet *previous; /* NULL at the very first packet */
	uint64_t previous_sequence;
	uint32_t *rest;			 /* first bytes of the old packet's rest, NULL if there is none */
	struct wire_packet *packet;	 /* the slot */
	const struct wire_packet *image; /* its new header without the times */
};

/*
 * A prepared record: an 8-aligned buffer of WIRE_HEADROOM bytes, then the payload, whose last word is padded with
 * zeros. The buffer has room for both forms: the compact header begins at byte 8, the extended one at 0.
 */
struct ring_record {
	void *buffer;
	uint32_t length; /* of the compact form, bytes */
};

/*
 * ring_prepare - write both headers of a record into its buffer, all but the time.
 *
 * All stores and loads are whole words: a load that spans two smaller stores waits until both have left the
 * processor's store buffer, which costs more than all the rest. So the tid and the payload's first four bytes, which
 * share a word, are combined in a register.
 */
static inline void ring_prepare(void *buffer, uint16_t id, uint32_t length, uint32_t tid)
{
	uint64_t *word = (uint64_t *)buffer, context;
	uint32_t first;

	__builtin_memcpy(&first, (const char *)buffer + WIRE_HEADROOM, 4);
	context = (uint64_t)first << 32 | tid;
	__asm__("" : "+r"(context));	       /* otherwise the compiler stores the tid's four bytes alone */
	word[1] = id | (uint64_t)length << 16; /* compact: the section adds the time in the upper half */
	word[2] = context;
}

/*
 * ring_append - append a record, in the extended form or a new packet if needed.
 *
 * Context: as the section; any thread, signal handlers. If the ring is a locked one, the caller holds its lock.
 * Return: RING_DONE; RING_MOVED: choose the ring anew; RING_FULL. Losses are not counted here.
 */
enum ring_result ring_append(struct ring *ring, struct ring_record record);

/* ring_append_extended - the same, in the extended form unless the record is the first of a packet. */
enum ring_result ring_append_extended(struct ring *ring, struct ring_record record);

/*
 * ring_append_locked - append to a ring that is written under its lock.
 * @tid: the calling thread, the lock's owner
 *
 * Context: any thread, signal handlers; a handler that interrupts a writer of its own thread finds the lock busy.
 * Return: RING_DONE, RING_FULL or RING_BUSY. Losses are not counted here.
 */
enum ring_result ring_append_locked(struct ring *ring, struct ring_record record, uint32_t tid);

/* ring_break_stale_lock - free the lock of a ring that was busy, if its owner is a zombie. Return: whether it is free
 * now. */
bool ring_break_stale_lock(struct ring *ring);

/*
 * ring_switch_packet - open the next packet without a record, so that the open one is not written to any more. The
 * process that shrinks a ring calls it, not a writer. Does nothing if no packet was ever opened.
 *
 * Context: as ring_append(). Return: RING_DONE; RING_MOVED: not on that CPU; RING_FULL.
 */
enum ring_result ring_switch_packet(struct ring *ring);

/* ring_switch_packet_locked - the same for a locked ring. Return: RING_DONE, RING_FULL or RING_BUSY. */
enum ring_result ring_switch_packet_locked(struct ring *ring, uint32_t tid);

/* ring_populate - allocate the memory of a ring at its present size. Return: false: there is not enough. */
bool ring_populate(struct ring *ring);

/* ring_slots_of - the slots of a value of wire_ring.size, which may be corrupt: always within the window. */
static inline uint32_t ring_slots_of(const struct ring *ring, uint64_t size)
{
	const uint32_t slots = (uint32_t)size;

	if (ring->fixed || slots > ring->window)
		return ring->window;
	return slots < WIRE_RING_PACKETS_MIN ? WIRE_RING_PACKETS_MIN : slots;
}

/* ring_size - the slots in use from the next packet on. */
static inline uint32_t ring_size(const struct ring *ring)
{
	return ring_slots_of(ring, __atomic_load_n(&ring->control->size, __ATOMIC_RELAXED));
}

/* ring_lose - count one lost record. Context: any. */
static inline void ring_lose(const struct ring *ring, enum wire_loss cause)
{
	__atomic_fetch_add(&ring->control->lost[cause], 1, __ATOMIC_RELAXED);
}

#endif
