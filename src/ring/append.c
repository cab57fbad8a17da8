/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The append's slow path: extended records, packet switches, locks. The essay is in ring.h. */
#include "ring/lock.h"
#include "ring/ring.h"
#include "ring/section_plain.h"
#include "ring/section_rseq.h"

enum {
	/*
	 * How often one append begins anew because others were faster. Each time somebody else's append has
	 * succeeded, unless the shared memory is being scribbled upon, and then nothing is lost by giving up.
	 */
	APPEND_TRIES = 1000,
};

enum wire_clock ring_clock_source = WIRE_CLOCK_MONOTONIC;

static enum ring_result append_put(const struct ring *ring, struct ring_record record)
{
#if RING_HAVE_RSEQ
	if (!ring->locked)
		return section_rseq_put(ring, record);
#endif
	return section_plain_put(ring, record);
}

static enum ring_result append_extend(const struct ring *ring, struct ring_record record)
{
	uint64_t compact, extended;

	/* Word 0 of the buffer is the extended form's; word 1, the compact form's, stays as it is. */
	memcpy(&compact, (const char *)record.buffer + 8, 8);
	extended = WIRE_ID_EXTENDED | (uint64_t)(record.length + 8) << 16 | (compact & 0xffff) << 32;
	memcpy(record.buffer, &extended, 8);
#if RING_HAVE_RSEQ
	if (!ring->locked)
		return section_rseq_extend(ring, record);
#endif
	return section_plain_extend(ring, record);
}

/* The packet to come: where, and which. */
struct place {
	uint64_t position; /* in words */
	uint32_t slot;
	uint32_t lap; /* packets of the lap before */
	uint64_t sequence;
	uint64_t events_before;
};

/* Fill in the header of the packet to come. The order of loads does not matter: `open` looks again. */
static void opening_image(const struct ring *ring, struct wire_packet *image, const struct place *next)
{
	*image = *ring->header;
	image->stream_instance = ring->stream_instance;
	image->cpu = ring->cpu;
	image->sequence = next->sequence;
	image->events_before = next->events_before;
	image->lap = next->lap;
	image->discarded = 0;
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		image->lost[cause] = __atomic_load_n(&ring->control->lost[cause], __ATOMIC_RELAXED);
		image->discarded += image->lost[cause];
	}
}

/* Count a clock that is behind the last record: rare, and slow enough to be looked for only here. */
static void count_clock_step(const struct ring *ring, const struct wire_packet *previous)
{
	/* Before the clock: it must be a time that has been. */
	uint64_t before = __atomic_load_n(&previous->time_end, __ATOMIC_ACQUIRE);

	if (ring_clock() < before)
		__atomic_fetch_add(&ring->control->clock_steps, 1, __ATOMIC_RELAXED);
}

/*
 * Slots are opened in order: those before this one have been opened in this lap, so they have memory. Memory that
 * cannot be had is found out here, and never by a store.
 */
static bool have_slot(struct ring *ring, uint32_t slot, uint64_t size)
{
	const uint64_t changes = size >> WIRE_RING_CHANGES_SHIFT,
		       backed = __atomic_load_n(&ring->backed, __ATOMIC_RELAXED);

	if (__builtin_expect(backed >> WIRE_RING_CHANGES_SHIFT == changes && slot < (uint32_t)backed, 1))
		return true;
	if (!ring_have_memory(ring->slots + slot * ring->packet_words * 8, ring->packet_words * 8))
		return false;
	__atomic_store_n(&ring->backed, changes << WIRE_RING_CHANGES_SHIFT | (slot + 1), __ATOMIC_RELAXED);
	return true;
}

/* Behind the packet at `current`: in the next slot if it is in use, or else in the next lap. */
static struct place place_behind(const struct ring *ring, uint64_t current,
				 const struct wire_packet *previous, uint32_t slots)
{
	const uint64_t position_mask = UINT64_MAX >> WIRE_TAIL_COUNT_BITS;
	const uint32_t slot = (uint32_t)((current & ring->word_mask) / ring->packet_words);

	if (slot + 1 < slots)
		return (struct place){ .position = (current + ring->packet_words) & position_mask,
				       .slot = slot + 1,
				       .lap = __atomic_load_n(&previous->lap, __ATOMIC_RELAXED) };
	return (struct place){ .position = ((current | ring->word_mask) + 1) & position_mask,
			       .lap = slot + 1 };
}

/* Whether what lay in the slot of a packet to come has been read. */
static bool is_read(const struct ring *ring, const struct place *next)
{
	const uint64_t span = next->slot < next->lap ? next->lap : next->slot + 1;

	/* Acquire: what the reader gave back it has finished copying. Pairs with the release in
	 * ring_give_back(). */
	return next->sequence - __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE) < span;
}

/* @committed: bytes of the record that the tail is to pass: all, or 0 */
static enum ring_result append_open(struct ring *ring, struct ring_record record, uint32_t committed)
{
	const uint64_t old = __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
	/* Behind the tail: who makes the ring smaller relies on it that then only the slot behind the tail that he
	 * sees can still be opened out of bounds. */
	const uint64_t size = __atomic_load_n(&ring->control->size, __ATOMIC_ACQUIRE);
	const uint64_t position = old >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	struct place next = { 0 };
	struct wire_packet image;
	struct ring_opening opening = { .old = old, .image = &image };

	if (old != 0) {
		uint64_t current = inside ? position - inside : position - ring->packet_words;
		const struct wire_packet *previous =
			(const struct wire_packet *)(ring->slots + (current & ring->word_mask) * 8);

		opening.previous = previous;
		/* Before the rest: if it is the same inside the section, what is read after it is of that
		 * packet. */
		opening.previous_sequence = __atomic_load_n(&previous->sequence, __ATOMIC_ACQUIRE);
		if (inside)
			opening.rest = (uint32_t *)(ring->slots + (position & ring->word_mask) * 8);
		next = place_behind(ring, current, previous, ring_slots_of(ring, size));
		next.sequence = opening.previous_sequence + 1;
		next.events_before = section_load(&previous->events_before) + (old & WIRE_TAIL_COUNT_MASK);
		count_clock_step(ring, previous);
	}
	if (!ring->overwrite && !is_read(ring, &next))
		/* What was read may be of several moments: it counts only if nobody has been here since. */
		return section_load(&ring->control->tail) == old ? RING_FULL : RING_ROOM;

	opening.packet = (struct wire_packet *)(ring->slots + (next.position & ring->word_mask) * 8);
	if (!have_slot(ring, next.slot, size))
		return RING_FULL;
	opening.new = (next.position + (sizeof(image) + wire_stride(committed)) / 8) << WIRE_TAIL_COUNT_BITS |
		      (committed != 0);
	opening_image(ring, &image, &next);
#if RING_HAVE_RSEQ
	if (!ring->locked)
		return section_rseq_open(ring, record, &opening);
#endif
	return section_plain_open(ring, record, &opening);
}

/* Go on after a first attempt, whatever it takes. */
static enum ring_result append_after(struct ring *ring, struct ring_record record, enum ring_result result)
{
	for (int tries = 0; tries < APPEND_TRIES; tries++) {
		switch (result) {
		case RING_ROOM:
			result = append_open(ring, record, record.length);
			break;
		case RING_GAP:
			result = append_extend(ring, record);
			break;
		default:
			return result;
		}
	}
	return RING_MOVED;
}

enum ring_result ring_append(struct ring *ring, struct ring_record record)
{
	return append_after(ring, record, append_put(ring, record));
}

enum ring_result ring_append_extended(struct ring *ring, struct ring_record record)
{
	return append_after(ring, record, append_extend(ring, record));
}

enum ring_result ring_append_locked(struct ring *ring, struct ring_record record, uint32_t tid)
{
	enum ring_result result;

	if (!lock_take(&ring->control->lock, tid))
		return RING_BUSY;
	result = ring_append(ring, record);
	lock_drop(&ring->control->lock);
	/* Under the lock nobody moves; only scribbling can have kept the append from succeeding. */
	return result == RING_MOVED ? RING_BUSY : result;
}

enum ring_result ring_turn(struct ring *ring)
{
	uint64_t buffer[WIRE_HEADROOM / 8 + 1] = { 0 };
	/* What the section writes lies behind the tail, where anything may lie. */
	const struct ring_record nothing = { buffer, sizeof(struct wire_compact) };
	enum ring_result result = RING_DONE;

	for (int tries = 0; tries < APPEND_TRIES && __atomic_load_n(&ring->control->tail, __ATOMIC_RELAXED);
	     tries++) {
		result = append_open(ring, nothing, 0);
		if (result != RING_ROOM)
			break;
	}
	return result == RING_ROOM ? RING_MOVED : result;
}

enum ring_result ring_turn_locked(struct ring *ring, uint32_t tid)
{
	enum ring_result result;

	if (!lock_take(&ring->control->lock, tid))
		return RING_BUSY;
	result = ring_turn(ring);
	lock_drop(&ring->control->lock);
	return result == RING_MOVED ? RING_BUSY : result;
}

bool ring_bury(struct ring *ring)
{
	return lock_bury(&ring->control->lock);
}
