/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The reader's half of the ring; see copy.h. */
#include <errno.h>
#include <string.h>

#include "ring/copy.h"

enum {
	COPY_TRIES =
		100, /* each failure means that writers have moved on meanwhile, or that somebody scribbles */
};

/* What one look at the tail says. */
struct look {
	uint64_t position; /* of the open packet, in words, modulo 2^40 */
	uint64_t sequence; /* of the open packet */
	uint32_t end;	   /* bytes of it below the tail */
	uint32_t count;	   /* records of it */
	bool empty;
};

static const uint64_t position_mask = UINT64_MAX >> WIRE_TAIL_COUNT_BITS;

static struct look look_at(const struct ring *ring, uint64_t tail)
{
	uint64_t position = tail >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	uint64_t back = inside ? inside : ring->packet_words;

	return (struct look){ .position = (position - back) & position_mask,
			      .end = (uint32_t)back * 8,
			      .count = tail & WIRE_TAIL_COUNT_MASK,
			      .empty = tail == 0 };
}

static uint64_t load_tail(const struct ring *ring)
{
	/* Acquire: the records below the tail. Pairs with the store of the tail in every section. */
	return __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
}

static const struct wire_packet *slot(const struct ring *ring, uint64_t position)
{
	return (const struct wire_packet *)(ring->slots + (position & ring->word_mask) * 8);
}

/*
 * Look at the tail and at its packet's sequence. The position alone would not do: it wraps, and a reader that
 * slept would not know how often. The two belong together if the packet is the same before and after. Return:
 * false if it was not.
 */
static bool ring_look(const struct ring *ring, struct look *look)
{
	struct look before = look_at(ring, load_tail(ring));
	uint64_t sequence = 0;

	if (!before.empty)
		sequence = __atomic_load_n(&slot(ring, before.position)->sequence, __ATOMIC_ACQUIRE);
	*look = look_at(ring, load_tail(ring));
	look->sequence = sequence;
	return look->position == before.position && look->empty == before.empty;
}

static uint64_t load_consumed(const struct ring *ring)
{
	return __atomic_load_n(&ring->control->consumed, __ATOMIC_ACQUIRE);
}

/*
 * Move the cursor to the oldest packet that is alive, if it is not there yet.
 * @consumed: loaded before the look, so it cannot be ahead of it
 * Return: false: somebody has scribbled, or what was looked at is of several moments.
 */
static bool catch_up(const struct ring *ring, struct ring_cursor *cursor, const struct look *look,
		     uint64_t consumed)
{
	const uint64_t alive = ring->overwrite ? ring->packets - 1 : ring->packets;
	uint64_t oldest = cursor->sequence;

	if (ring->overwrite)
		oldest = look->sequence >= alive ? look->sequence - (alive - 1) : 0;
	else if (cursor->passive)
		oldest = consumed;
	if (look->sequence - oldest >= alive)
		return false;
	if (cursor->sequence < oldest) {
		cursor->sequence = oldest;
		cursor->offset = 0;
	}
	return true;
}

/* Whether a packet that has been copied was alive all the while, and still is the one that it was. */
static bool still_alive(const struct ring *ring, const struct ring_cursor *cursor, const struct look *look,
			uint64_t position, const struct wire_packet *copied)
{
	uint64_t last = (uint64_t)(ring->packets - 2) * ring->packet_words;
	uint64_t behind;

	if (!ring->overwrite && !cursor->passive)
		return true;
	/* The copy is finished before the tail, or `consumed`, is looked at again. Pairs with the order of stores in
	 * `open`, and with the acquire in append_open(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!ring->overwrite) {
		if (load_consumed(ring) > cursor->sequence)
			return false;
	} else {
		behind = (look_at(ring, load_tail(ring)).position - position) & position_mask;
		if (behind > last || behind < ((look->position - position) & position_mask))
			return false;
	}
	return copied->sequence == cursor->sequence &&
	       __atomic_load_n(&slot(ring, position)->sequence, __ATOMIC_RELAXED) == cursor->sequence;
}

static void advance(struct ring_cursor *cursor, const struct ring_piece *piece)
{
	cursor->sequence = piece->sequence + piece->last;
	cursor->offset = piece->last ? 0 : piece->end;
}

int ring_copy(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_piece *piece)
{
	for (int tries = 0; tries < COPY_TRIES; tries++) {
		const uint64_t consumed = load_consumed(ring);
		uint64_t position;
		struct look look;

		if (!ring_look(ring, &look))
			continue;
		if (look.empty)
			return 0;
		if (look.sequence < cursor->sequence)
			return -ESTALE;
		if (!catch_up(ring, cursor, &look, consumed)) {
			if (!cursor->passive)
				return -ESTALE;
			continue;
		}
		position = look.position - (look.sequence - cursor->sequence) * ring->packet_words;
		*piece = (struct ring_piece){
			.sequence = cursor->sequence,
			.begin = cursor->offset ? cursor->offset : (uint32_t)sizeof(struct wire_packet),
			.end = cursor->sequence == look.sequence ? look.end
								 : (uint32_t)ring->packet_words * 8,
			.last = cursor->sequence != look.sequence,
			.count = look.count,
		};
		if (piece->end < piece->begin)
			return -ESTALE;
		if (piece->end == piece->begin && !piece->last)
			return 0;
		memcpy(buffer, slot(ring, position), sizeof(struct wire_packet));
		memcpy((char *)buffer + piece->begin, (const char *)slot(ring, position) + piece->begin,
		       piece->end - piece->begin);
		if (!still_alive(ring, cursor, &look, position & position_mask, buffer))
			continue;
		advance(cursor, piece);
		return 1;
	}
	return -ESTALE;
}

void ring_skip(const struct ring *ring, struct ring_cursor *cursor)
{
	struct look look;

	for (int tries = 0; tries < COPY_TRIES; tries++) {
		if (!ring_look(ring, &look))
			continue;
		if (!look.empty && look.sequence > cursor->sequence) {
			cursor->sequence = look.sequence;
			cursor->offset = 0;
		}
		return;
	}
}
