/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The reader's half of the ring; see copy.h. */
#include <errno.h>
#include <string.h>

#include "ring/copy.h"

enum {
	COPY_TRIES = 100, /* each failure means that writers moved on, or that the memory is corrupt */
};

/* The part of a look that the tail alone determines. */
static struct ring_look look_at(const struct ring *ring, uint64_t tail)
{
	uint64_t position = tail >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	uint64_t back = inside ? inside : ring->packet_words;

	return (struct ring_look){ .position = (position - back) & (UINT64_MAX >> WIRE_TAIL_COUNT_BITS),
				   .slot = (uint32_t)(((position - back) & ring->word_mask) /
						      ring->packet_words),
				   .end = (uint32_t)back * 8,
				   .count = tail & WIRE_TAIL_COUNT_MASK,
				   .empty = tail == 0 };
}

static uint64_t load_tail(const struct ring *ring)
{
	/* Acquire: the records below the tail. Pairs with the store of the tail in every section. */
	return __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
}

static const struct wire_packet *slot(const struct ring *ring, uint64_t number)
{
	return (const struct wire_packet *)(ring->slots +
					    (number & (ring->window - 1)) * ring->packet_words * 8);
}

bool ring_look(const struct ring *ring, struct ring_look *look)
{
	struct ring_look before = look_at(ring, load_tail(ring));
	const struct wire_packet *packet = slot(ring, before.slot);

	if (!before.empty) {
		before.sequence = __atomic_load_n(&packet->sequence, __ATOMIC_ACQUIRE);
		before.lap = __atomic_load_n(&packet->lap, __ATOMIC_ACQUIRE);
		before.events_before = __atomic_load_n(&packet->events_before, __ATOMIC_ACQUIRE);
	}
	*look = look_at(ring, load_tail(ring));
	look->sequence = before.sequence;
	look->lap = before.lap < ring->window ? before.lap : ring->window;
	look->events_before = before.events_before;
	return look->position == before.position && look->empty == before.empty;
}

uint32_t ring_present(const struct ring *ring, const struct ring_look *look)
{
	/* The ring has shrunk: the slots behind the new size were given up, and all older packets with them. */
	const bool shrunk = ring->overwrite && look->lap > ring_size(ring);

	return look->lap <= look->slot + 1 || shrunk ? look->slot + 1 : look->lap;
}

const struct wire_packet *ring_packet(const struct ring *ring, const struct ring_look *look,
				      uint64_t sequence)
{
	const uint64_t back = look->sequence - sequence;

	return slot(ring, look->slot - back + (back <= look->slot ? 0 : look->lap));
}

uint32_t ring_behind(const struct ring *ring, const struct ring_cursor *cursor)
{
	struct ring_look look = { .empty = true };
	uint64_t behind;

	for (int tries = 0; tries < COPY_TRIES && !ring_look(ring, &look); tries++)
		continue;
	behind = look.empty ? 0 : look.sequence - cursor->sequence;
	return behind < ring->window ? (uint32_t)behind : ring->window;
}

static uint64_t load_consumed(const struct ring *ring)
{
	return __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE);
}

/*
 * Move the cursor forward to the oldest packet that is alive.
 * @consumed: loaded before the look, so it cannot be ahead of it
 * Return: false: the memory is corrupt, or the loads mix several moments.
 */
static bool catch_up(const struct ring *ring, struct ring_cursor *cursor, const struct ring_look *look,
		     uint64_t consumed)
{
	const uint64_t present = ring_present(ring, look);
	uint64_t oldest = cursor->sequence;

	if (ring->overwrite)
		oldest = look->sequence >= present ? look->sequence - (present - 1) : 0;
	else if (cursor->passive)
		oldest = consumed;
	if (look->sequence - oldest >= present)
		return false;
	if (cursor->sequence < oldest)
		ring_move(cursor, oldest);
	return true;
}

/*
 * Whether the packet is alive and has the cursor's sequence. A writer that opens another packet in the slot first
 * removes the sequence, so a copy made before is whole.
 */
static bool is_alive(const struct ring *ring, const struct ring_cursor *cursor,
		     const struct wire_packet *packet)
{
	if (!ring->overwrite && !cursor->passive)
		return true;
	if (!ring->overwrite && load_consumed(ring) > cursor->sequence)
		return false;
	return __atomic_load_n(&packet->sequence, __ATOMIC_ACQUIRE) == cursor->sequence;
}

static struct ring_piece piece_at(const struct ring *ring, const struct ring_cursor *cursor,
				  const struct ring_look *look)
{
	const bool last = cursor->sequence != look->sequence;

	return (struct ring_piece){
		.sequence = cursor->sequence,
		.begin = cursor->offset ? cursor->offset : (uint32_t)sizeof(struct wire_packet),
		.end = last ? (uint32_t)ring->packet_words * 8 : look->end,
		.last = last,
		.count = look->count,
	};
}

/* Return: whether the piece was copied whole. */
static bool copy_piece(const struct ring *ring, const struct ring_cursor *cursor,
		       const struct wire_packet *packet, const struct ring_piece *piece, char *buffer)
{
	/* Check before the copy too: reading freed memory would allocate it again. */
	if (!is_alive(ring, cursor, packet))
		return false;
	memcpy(buffer, packet, sizeof(struct wire_packet));
	memcpy(buffer + piece->begin, (const char *)packet + piece->begin, piece->end - piece->begin);
	/* The copy is finished before the sequence, or `consumed`, is loaded again. Pairs with the order of stores in
	 * `open`, and with the acquire in is_read(), which append_open() calls. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_alive(ring, cursor, packet);
}

int ring_copy(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_piece *piece)
{
	for (uint32_t tries = 0; tries < COPY_TRIES + ring->window; tries++) {
		const uint64_t consumed = load_consumed(ring);
		struct ring_look look;

		if (!ring_look(ring, &look))
			continue;
		if (look.empty)
			return 0;
		/* It may also be WIRE_SEQUENCE_NONE, if the memory is corrupt: of the open packet it is never removed. */
		if (look.sequence < cursor->sequence || look.sequence > RING_SEQUENCE_MAX)
			return -ESTALE;
		if (!catch_up(ring, cursor, &look, consumed)) {
			if (!cursor->passive)
				return -ESTALE;
			continue;
		}
		*piece = piece_at(ring, cursor, &look);
		if (piece->end < piece->begin)
			return -ESTALE;
		if (piece->end == piece->begin && !piece->last)
			return 0;
		if (copy_piece(ring, cursor, ring_packet(ring, &look, cursor->sequence), piece, buffer)) {
			cursor->sequence += piece->last;
			cursor->offset = piece->last ? 0 : piece->end;
			return 1;
		}
		/* A closed packet that is gone does not come back. An open one is still there but was closed meanwhile. */
		if (ring->overwrite && piece->last)
			ring_move(cursor, cursor->sequence + 1);
	}
	return -ESTALE;
}

void ring_skip(const struct ring *ring, struct ring_cursor *cursor)
{
	struct ring_look look;

	for (int tries = 0; tries < COPY_TRIES; tries++) {
		if (!ring_look(ring, &look))
			continue;
		if (!look.empty && look.sequence > cursor->sequence)
			ring_move(cursor, look.sequence);
		return;
	}
}
