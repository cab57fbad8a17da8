/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring's three sections in C, for worlds in which the caller has made sure of being alone: under the
 * ring's lock, with interrupts off, or as the only writer. Step for step the same as section_rseq.h.
 *
 * The caller may die after any instruction. So the order of the stores matters as it does there, and is kept
 * by compiler barriers; the tail is stored with release, which pairs with a reader's acquire and with the
 * next lock owner's.
 */
#ifndef BURIN_RING_SECTION_PLAIN_H
#define BURIN_RING_SECTION_PLAIN_H

#include <string.h>

#include "ring/ring.h"
#include "ring/ring_deps.h"

static inline uint64_t section_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void section_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* The clock, held at `before` if it is behind. */
static inline uint64_t section_clock(uint64_t before)
{
	uint64_t now = ring_clock();

	return now < before ? before : now;
}

struct section_place {
	uint64_t tail;
	uint32_t offset; /* in the packet, bytes */
	struct wire_packet *packet;
	char *at;
};

/* Where a record of so many words goes; false: there is no room. */
static inline bool section_locate(const struct ring *ring, uint64_t words, struct section_place *place)
{
	uint64_t tail = section_load(&ring->control->tail);
	uint64_t word = tail >> WIRE_TAIL_COUNT_BITS & ring->word_mask;
	uint64_t inside = word & ring->packet_mask;

	if (inside == 0 || inside + words > ring->packet_words)
		return false;
	place->tail = tail;
	place->offset = (uint32_t)inside * 8;
	place->packet = (struct wire_packet *)(ring->slots + (word - inside) * 8);
	place->at = ring->slots + word * 8;
	return true;
}

static inline void section_commit(const struct ring *ring, uint64_t tail)
{
	/* Pairs with the acquire in ring_look() and in the next owner's lock. */
	__atomic_store_n(&ring->control->tail, tail, __ATOMIC_RELEASE);
}

static inline void section_fill_compact(char *at, struct ring_record record, uint64_t words, uint64_t now)
{
	uint64_t first = ((const uint64_t *)record.buffer)[1] | now << 32;

	memcpy(at, &first, 8);
	memcpy(at + 8, (const char *)record.buffer + 16, (words - 1) * 8);
}

static inline enum ring_result section_plain_put(const struct ring *ring, struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8;
	struct section_place place;
	uint64_t now;

	if (!section_locate(ring, words, &place))
		return RING_ROOM;
	now = section_clock(section_load(&place.packet->time_end));
	if ((now - section_load(&place.packet->base_time)) >> 32 != 0 ||
	    __atomic_load_n(&place.packet->base_offset, __ATOMIC_RELAXED) >= place.offset)
		return RING_GAP;
	section_store(&place.packet->time_end, now);
	section_fill_compact(place.at, record, words, now);
	section_commit(ring, place.tail + (words << WIRE_TAIL_COUNT_BITS) + 1);
	return RING_DONE;
}

static inline enum ring_result section_plain_extend(const struct ring *ring, struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8 + 1;
	struct section_place place;
	uint64_t now;

	if (!section_locate(ring, words, &place))
		return RING_ROOM;
	now = section_clock(section_load(&place.packet->time_end));
	__atomic_store_n(&place.packet->base_offset, place.offset, __ATOMIC_RELAXED);
	__atomic_signal_fence(
		__ATOMIC_SEQ_CST); /* the base is void before it changes: the owner may die in between */
	__atomic_thread_fence(__ATOMIC_RELEASE); /* and the next owner, on another CPU, must see it so */
	section_store(&place.packet->base_time, now);
	section_store(&place.packet->time_end, now);
	memcpy(place.at, record.buffer, 8);
	memcpy(place.at + 8, &now, 8);
	memcpy(place.at + 16, (const char *)record.buffer + 16, (words - 2) * 8);
	section_commit(ring, place.tail + (words << WIRE_TAIL_COUNT_BITS) + 1);
	return RING_DONE;
}

static inline enum ring_result section_plain_open(const struct ring *ring, struct ring_record record,
						  const struct ring_opening *opening)
{
	uint64_t words = wire_stride(record.length) / 8, before = 0, now;
	struct wire_packet *packet = opening->packet;

	if (section_load(&ring->control->tail) != opening->old)
		return RING_MOVED;
	if (opening->previous) {
		if (section_load(&opening->previous->sequence) != opening->previous_sequence)
			return RING_MOVED;
		before = section_load(&opening->previous->time_end);
		if (opening->rest)
			__atomic_store_n(opening->rest, WIRE_ID_CLOSED, __ATOMIC_RELAXED);
	}
	/*
	 * The tail was there to be seen before its lap is written over. And what lies in the slot is no packet any more
	 * before its first byte changes: a reader that finds something new in its copy must also find the sequence
	 * gone. Pairs with the acquire in ring_look(), and with the fence in copy_piece().
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	section_store(&packet->sequence, WIRE_SEQUENCE_NONE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	now = section_clock(before);
	memcpy(packet, opening->image, sizeof(*packet));
	section_store(&packet->time_begin, now);
	section_store(&packet->time_end, now);
	section_store(&packet->base_time, now);
	section_fill_compact((char *)(packet + 1), record, words, now);
	section_commit(ring, opening->new);
	return RING_DONE;
}

#endif
