/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The section `put` (ring.h) of a writer that is the only one of its ring and cannot die in an append: a CPU in the kernel,
 * with interrupts off. It keeps the place of the next record, so it need not find it by the tail, and a record is packed
 * where it stays. After any other change of the ring, such as section `open`, ring_place_find() finds the place again.
 *
 * section_place_put() has its steps; kernel/record.h has them for the place that each CPU has, and packs the record there.
 *
 * It does not ask whether the packet's base is void (ring.h): the append that moved it was completed.
 */
#ifndef BURIN_RING_SECTION_PLACE_H
#define BURIN_RING_SECTION_PLACE_H

#include "ring/ring.h"
#include "ring/section_plain.h"

enum {
	SECTION_PLACE_SLACK = 8, /* bytes behind a record that its writer may overwrite */
};

/* Private to the writer. All zero: no packet is open. */
struct ring_place {
	uintptr_t at; /* address of the next record */
	int64_t room; /* bytes from there, without the slack */
	struct wire_packet *packet;
	uint64_t *tail; /* of the ring */
	uint64_t until; /* the first time that needs an extended record */
};

/* ring_place_find - find the place by the tail. */
static inline void ring_place_find(const struct ring *ring, struct ring_place *place)
{
	const uint64_t word = ring->control->tail >> WIRE_TAIL_COUNT_BITS & ring->word_mask;
	const uint64_t inside = word & ring->packet_mask;

	*place = (struct ring_place){ .tail = &ring->control->tail };
	if (inside == 0 || !ring->slots)
		return;
	place->at = (uintptr_t)(ring->slots + word * 8);
	place->packet = (struct wire_packet *)(ring->slots + (word - inside) * 8);
	place->room = (int64_t)(ring->packet_words - inside) * 8 - SECTION_PLACE_SLACK;
	place->until = place->packet->base_time + ((uint64_t)1 << 32);
}

/*
 * section_place_time - note the time of a record for which there is room.
 * @late: it is not before `until`
 * Return: false: it needs an extended record, or the clock is behind the last record. Use ring_append().
 */
static inline __attribute__((__always_inline__)) bool section_place_time(struct wire_packet *packet,
									 bool late, uint64_t now)
{
	if (__builtin_expect(late, 0) || __builtin_expect(now < packet->time_end, 0))
		return false;
	section_store(&packet->time_end, now);
	return true;
}

/* section_place_add - the commit, @added: to the tail. All stores of the record come before. */
static inline __attribute__((__always_inline__)) void section_place_add(uint64_t *tail, uint64_t added)
{
#if defined(__x86_64__)
	/* One instruction. Stores are not reordered; the compiler keeps them before it. */
	__asm__ volatile("addq %1, %0" : "+m"(*tail) : "er"(added) : "memory", "cc");
#else
	/* Pairs with the acquire in ring_look(). */
	__atomic_store_n(tail, *tail + added, __ATOMIC_RELEASE);
#endif
}

/* section_place_tail - the same for a record of so many words. */
static inline __attribute__((__always_inline__)) void section_place_tail(uint64_t *tail, uint64_t words)
{
	section_place_add(tail, (words << WIRE_TAIL_COUNT_BITS) + 1);
}

/* section_place_put - append a compact record with prepared headers. Return: false: use ring_append(). */
static inline bool section_place_put(struct ring_place *place, struct ring_record record)
{
	const int64_t words = wire_stride(record.length) / 8;
	uint64_t now;

	place->room -= words * 8;
	if (place->room < 0)
		return false;
	now = ring_clock();
	if (!section_place_time(place->packet, now >= place->until, now))
		return false;
	section_fill_compact((char *)place->at, record, (uint64_t)words, now);
	place->at += (uintptr_t)words * 8;
	section_place_tail(place->tail, (uint64_t)words);
	return true;
}

#endif
