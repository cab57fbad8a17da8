/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Appending from here; see kernel_append.h. The steps are those of put_locate(), put_open() and put_commit().
 *
 * The recorder is the only writer: of rings of its own, or of a program's ring after all programs have stopped. So it
 * takes no lock, and the drain, its own thread, is the reader.
 *
 * A record's time is not before that of the last one in its ring, which `last` has: records of one CPU that come by
 * different events need not be in order, and readers rely on order.
 */
#include <string.h>

#include "source/kernel/programs/kernel_append.h"
#include "wire/wire_context.h"

enum {
	PACKET_WORDS = KERNEL_PACKET / 8,
	HEADER_WORDS = sizeof(struct wire_packet) / 8,
};

static char *word_of(struct kernel_ring *ring, const struct kernel_layout *layout, uint64_t word)
{
	return (char *)ring + KERNEL_SLOTS + (word & ((uint64_t)layout->window * PACKET_WORDS - 1)) * 8;
}

/* Open the next packet. Return: the tail behind its header; 0: there is no room. */
static uint64_t open_packet(struct kernel_ring *ring, const struct kernel_layout *layout, uint64_t tail,
			    uint64_t ns)
{
	const uint64_t word = tail >> WIRE_TAIL_COUNT_BITS, sequence = ring->next;
	const uint32_t closed = WIRE_ID_CLOSED;
	struct wire_packet packet = ring->header;

	if (sequence - __atomic_load_n(&ring->control.consumed, __ATOMIC_ACQUIRE) >= layout->window)
		return 0;
	if (word % PACKET_WORDS) /* the rest of the old packet has stale bytes */
		memcpy(word_of(ring, layout, word), &closed, sizeof(closed));
	ring->events += tail & WIRE_TAIL_COUNT_MASK;
	packet.events_before = ring->events;
	packet.discarded = 0;
	for (int cause = WIRE_LOST_FULL; cause <= WIRE_LOST_BUSY; cause++) {
		packet.lost[cause] = __atomic_load_n(&ring->control.lost[cause], __ATOMIC_RELAXED);
		packet.discarded += packet.lost[cause];
	}
	packet.base_time = packet.time_begin = packet.time_end = ring->base = ns;
	packet.sequence = sequence;
	if (sequence >= layout->window)
		packet.lap = layout->window;
	memcpy(word_of(ring, layout, sequence * PACKET_WORDS), &packet, sizeof(packet));
	ring->next = sequence + 1;
	return (sequence * PACKET_WORDS + HEADER_WORDS) << WIRE_TAIL_COUNT_BITS;
}

bool kernel_append(struct kernel_ring *ring, const struct kernel_layout *layout,
		   const struct kernel_record *record)
{
	const unsigned context = wire_context_bytes(layout->context),
		       length = (unsigned)sizeof(struct wire_compact) + context + record->bytes,
		       stride = wire_stride(length);
	const uint64_t ns = record->ns > ring->last ? record->ns : ring->last;
	uint64_t tail = ring->control.tail;
	const uint64_t used = (tail >> WIRE_TAIL_COUNT_BITS) % PACKET_WORDS;
	char *at;

	if (!used || used + stride / 8 > PACKET_WORDS || ns - ring->base > layout->reach)
		tail = open_packet(ring, layout, tail, ns);
	if (!tail)
		return false;
	ring->last = ns;
	at = word_of(ring, layout, tail >> WIRE_TAIL_COUNT_BITS);
	memcpy(at, &(struct wire_compact){ record->id, (uint16_t)length, (uint32_t)ns, record->tid },
	       sizeof(struct wire_compact));
	memset(at + sizeof(struct wire_compact), 0, context);
	memcpy(at + sizeof(struct wire_compact) + context, record->payload, record->bytes);
	memset(at + length, 0, stride - length);
	tail += ((uint64_t)(stride / 8) << WIRE_TAIL_COUNT_BITS) + 1;
	__atomic_store_n(&ring->control.tail, tail, __ATOMIC_RELEASE);
	return true;
}
