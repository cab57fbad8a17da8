/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The append's slow path: extended records, packet switches, locks. ring.h describes the protocol. */
#include "ring/lock.h"
#include "ring/ring.h"
#include "ring/section_plain.h"
#include "ring/section_rseq.h"

enum {
	/*
	 * How often one append starts again because another writer was faster. Each time the other append has succeeded,
	 * unless the shared memory is being corrupted; then giving up loses nothing.
	 */
	APPEND_TRIES = 1000,
};

enum wire_clock ring_clock_source = WIRE_CLOCK_MONOTONIC;
const uint64_t *ring_guest_clock;
#if RING_HAVE_RSEQ
ptrdiff_t ring_rseq_offset;
#endif
bool ring_silent;

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

/* The next packet to open. */
struct next_packet {
	uint64_t position; /* in words */
	uint32_t slot;
	uint32_t lap; /* packets of the lap before */
	uint64_t sequence;
	uint64_t events_before;
};

/* Fill in the header of the next packet. The order of loads does not matter: `open` checks again. */
static void opening_image(const struct ring *ring, struct wire_packet *image, const struct next_packet *next)
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

/* Count a clock that is behind the last record. It is rare, so only the slow path checks. */
static void count_clock_step(const struct ring *ring, const struct wire_packet *previous)
{
	/* Load it before reading the clock: only then must the clock be later. */
	uint64_t before = __atomic_load_n(&previous->time_end, __ATOMIC_ACQUIRE);

	if (ring_clock() < before)
		__atomic_fetch_add(&ring->control->clock_steps, 1, __ATOMIC_RELAXED);
}

/*
 * Slots are opened in order: those before this one have been opened in this lap, so they have memory. A lack of memory
 * is found here, and never by a store (SIGBUS).
 */
static bool have_slot(struct ring *ring, uint32_t slot, uint64_t size)
{
	const uint64_t changes = size >> WIRE_RING_CHANGES_SHIFT,
		       backed = __atomic_load_n(&ring->backed, __ATOMIC_RELAXED);

	if (__builtin_expect(backed >> WIRE_RING_CHANGES_SHIFT == changes && slot < (uint32_t)backed, 1))
		return true;
	if (ring_silent ||
	    !ring_have_memory(ring->slots + slot * ring->packet_words * 8, ring->packet_words * 8))
		return false;
	__atomic_store_n(&ring->backed, changes << WIRE_RING_CHANGES_SHIFT | (slot + 1), __ATOMIC_RELAXED);
	return true;
}

bool ring_populate(struct ring *ring)
{
	const uint64_t size = __atomic_load_n(&ring->control->size, __ATOMIC_ACQUIRE);
	const uint32_t slots = ring_slots_of(ring, size);

	if (!ring_have_memory(ring->slots, slots * ring->packet_words * 8))
		return false;
	__atomic_store_n(&ring->backed, size >> WIRE_RING_CHANGES_SHIFT << WIRE_RING_CHANGES_SHIFT | slots,
			 __ATOMIC_RELAXED);
	return true;
}

/* The position behind the packet at `present`: in the next slot if it is in use, otherwise in the next lap. */
static struct next_packet packet_behind(const struct ring *ring, uint64_t present,
					const struct wire_packet *previous, uint32_t slots)
{
	const uint64_t position_mask = UINT64_MAX >> WIRE_TAIL_COUNT_BITS;
	const uint32_t slot = (uint32_t)((present & ring->word_mask) / ring->packet_words);

	if (slot + 1 < slots)
		return (struct next_packet){ .position = (present + ring->packet_words) & position_mask,
					     .slot = slot + 1,
					     .lap = __atomic_load_n(&previous->lap, __ATOMIC_RELAXED) };
	return (struct next_packet){ .position = ((present | ring->word_mask) + 1) & position_mask,
				     .lap = slot + 1 };
}

/* Whether the reader has given back the packet that the next one overwrites. */
static bool is_read(const struct ring *ring, const struct next_packet *next)
{
	const uint64_t span = next->slot < next->lap ? next->lap : next->slot + 1;

	/* Acquire: the reader has finished copying the packets that it gave back. Pairs with the release in
	 * ring_give_back(). */
	return next->sequence - __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE) < span;
}

/* @committed: bytes of the record that the tail is to pass: all, or 0 */
static enum ring_result append_open(struct ring *ring, struct ring_record record, uint32_t committed)
{
	const uint64_t old = __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
	/* Load the size after the tail. The process that shrinks the ring relies on it: of the slots beyond the new
	 * size, writers can then only open the one behind the tail that the shrinking process sees. */
	const uint64_t size = __atomic_load_n(&ring->control->size, __ATOMIC_ACQUIRE);
	const uint64_t position = old >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	struct next_packet next = { 0 };
	struct wire_packet image;
	struct ring_opening opening = { .old = old, .image = &image };

	if (old != 0) {
		uint64_t present = inside ? position - inside : position - ring->packet_words;
		const struct wire_packet *previous =
			(const struct wire_packet *)(ring->slots + (present & ring->word_mask) * 8);

		opening.previous = previous;
		/* Load it before the rest: if it is the same inside the section, all later loads are of that packet. */
		opening.previous_sequence = __atomic_load_n(&previous->sequence, __ATOMIC_ACQUIRE);
		if (inside)
			opening.rest = (uint32_t *)(ring->slots + (position & ring->word_mask) * 8);
		next = packet_behind(ring, present, previous, ring_slots_of(ring, size));
		next.sequence = opening.previous_sequence + 1;
		next.events_before = section_load(&previous->events_before) + (old & WIRE_TAIL_COUNT_MASK);
		count_clock_step(ring, previous);
	}
	if (!ring->overwrite && !is_read(ring, &next))
		/* These loads may mix several moments: the ring is full only if the tail is still the same. */
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

/* Repeat an append after a first attempt, in the way that its result requires. */
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
	/* Under the lock no other writer moves the tail; only corrupt memory can make the append fail. */
	return result == RING_MOVED ? RING_BUSY : result;
}

enum ring_result ring_switch_packet(struct ring *ring)
{
	uint64_t buffer[WIRE_HEADROOM / 8 + 1] = { 0 };
	/* The section writes this record behind the tail, where any bytes may be. */
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

enum ring_result ring_switch_packet_locked(struct ring *ring, uint32_t tid)
{
	enum ring_result result;

	if (!lock_take(&ring->control->lock, tid))
		return RING_BUSY;
	result = ring_switch_packet(ring);
	lock_drop(&ring->control->lock);
	return result == RING_MOVED ? RING_BUSY : result;
}

bool ring_break_stale_lock(struct ring *ring)
{
	return lock_break_stale(&ring->control->lock);
}
