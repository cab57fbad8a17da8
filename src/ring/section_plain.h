/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring's three sections in C. The caller excludes other writers: it holds the ring's lock, or is the only writer.
 * The steps are the same as in section_rseq.h.
 *
 * The caller may die after any instruction. So the order of stores matters as it does there; compiler barriers keep
 * it. The tail is stored with release, which pairs with the acquire of readers and of the next lock owner.
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

/* The clock, clamped to `before` if it is behind. */
static inline uint64_t section_clock(uint64_t before)
{
	uint64_t now = ring_clock();

	return now < before ? before : now;
}

struct section_target {
	uint64_t tail;
	uint32_t offset; /* in the packet, bytes */
	struct wire_packet *packet;
	char *at;
};

/* Find the position for a record of so many words; false: there is no room. */
static inline bool section_locate(const struct ring *ring, uint64_t words, struct section_target *target)
{
	uint64_t tail = section_load(&ring->control->tail);
	uint64_t word = tail >> WIRE_TAIL_COUNT_BITS & ring->word_mask;
	uint64_t inside = word & ring->packet_mask;

	if (inside == 0 || inside + words > ring->packet_words)
		return false;
	target->tail = tail;
	target->offset = (uint32_t)inside * 8;
	target->packet = (struct wire_packet *)(ring->slots + (word - inside) * 8);
	target->at = ring->slots + word * 8;
	return true;
}

static inline void section_commit(const struct ring *ring, uint64_t tail)
{
	/* Pairs with the acquire in ring_look() and in the next owner's lock. */
	__atomic_store_n(&ring->control->tail, tail, __ATOMIC_RELEASE);
}

/* Records are short: a copy by words is cheaper than a call of memcpy(), and than the string instruction that compilers of the
 * kernel take for it. The barrier keeps the compiler from making either of the loop. */
static inline void section_copy(char *at, const char *from, uint64_t words)
{
	for (; words != 0; words--, at += 8, from += 8) {
		uint64_t word;

		memcpy(&word, from, 8);
		__asm__("" : "+r"(word));
		memcpy(at, &word, 8);
	}
}

static inline void section_fill_compact(char *at, struct ring_record record, uint64_t words, uint64_t now)
{
	uint64_t first = ((const uint64_t *)record.buffer)[1] | now << 32;

	memcpy(at, &first, 8);
	section_copy(at + 8, (const char *)record.buffer + 16, words - 1);
}

static inline enum ring_result section_plain_put(const struct ring *ring, struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8;
	struct section_target target;
	uint64_t now;

	if (!section_locate(ring, words, &target))
		return RING_ROOM;
	now = section_clock(section_load(&target.packet->time_end));
	if ((now - section_load(&target.packet->base_time)) >> 32 != 0 ||
	    __atomic_load_n(&target.packet->base_offset, __ATOMIC_RELAXED) >= target.offset)
		return RING_GAP;
	section_store(&target.packet->time_end, now);
	section_fill_compact(target.at, record, words, now);
	section_commit(ring, target.tail + (words << WIRE_TAIL_COUNT_BITS) + 1);
	return RING_DONE;
}

static inline enum ring_result section_plain_extend(const struct ring *ring, struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8 + 1;
	struct section_target target;
	uint64_t now;

	if (!section_locate(ring, words, &target))
		return RING_ROOM;
	now = section_clock(section_load(&target.packet->time_end));
	__atomic_store_n(&target.packet->base_offset, target.offset, __ATOMIC_RELAXED);
	/* The base must be void before it changes: the owner may die in between. Release: the next owner, on another
	 * CPU, must see it in this order. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	section_store(&target.packet->base_time, now);
	section_store(&target.packet->time_end, now);
	memcpy(target.at, record.buffer, 8);
	memcpy(target.at + 8, &now, 8);
	section_copy(target.at + 16, (const char *)record.buffer + 16, words - 2);
	section_commit(ring, target.tail + (words << WIRE_TAIL_COUNT_BITS) + 1);
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
	 * First fence: the tail is visible before its lap is overwritten. Second fence: the old packet's sequence is gone
	 * before any other byte of the slot changes, so a reader that copied a new byte finds the sequence gone. They
	 * pair with the acquire in ring_look() and with the fence in copy_piece().
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
