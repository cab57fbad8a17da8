/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The reader's half of the ring; see copy.h. */
#include <errno.h>
#include <string.h>

#include "ring/copy.h"

/* What one look at the tail says. */
struct look {
	uint64_t sequence; /* of the open packet */
	uint32_t end;	   /* bytes of it below the tail */
	uint32_t count;	   /* records of it */
	bool empty;
};

/* The tail knows the packet's number modulo 2^40 words only; it is the next such number from `from` on. */
static struct look ring_look(const struct ring *ring, uint64_t from)
{
	/* Acquire: the records below the tail. Pairs with the store of the tail in every section. */
	uint64_t tail = __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
	uint64_t position = tail >> WIRE_TAIL_COUNT_BITS, inside = position & ring->packet_mask;
	uint64_t wrap = (UINT64_MAX >> WIRE_TAIL_COUNT_BITS) / ring->packet_words;
	struct look look = { .count = tail & WIRE_TAIL_COUNT_MASK, .empty = tail == 0 };
	uint64_t number = (inside ? position : position - ring->packet_words) / ring->packet_words;

	look.end = (uint32_t)(inside ? inside : ring->packet_words) * 8;
	look.sequence = from + ((number - from) & wrap);
	return look;
}

static const char *slot(const struct ring *ring, uint64_t sequence)
{
	return ring->slots + ((sequence * ring->packet_words) & ring->word_mask) * 8;
}

int ring_copy(const struct ring *ring, struct ring_cursor *cursor, void *buffer, struct ring_piece *piece)
{
	const uint64_t alive = ring->overwrite ? ring->packets - 1 : ring->packets;

	for (;;) {
		struct look look = ring_look(ring, cursor->sequence), again;
		uint32_t begin = cursor->offset, end;

		if (look.empty)
			return 0;
		if (look.sequence - cursor->sequence >= alive) {
			if (!ring->overwrite)
				return -ESTALE;
			cursor->sequence = look.sequence - (alive - 1);
			cursor->offset = begin = 0;
		}
		if (begin == 0)
			begin = sizeof(struct wire_packet);
		end = cursor->sequence == look.sequence ? look.end : (uint32_t)ring->packet_words * 8;
		if (end < begin)
			return -ESTALE;
		if (end == begin && cursor->sequence == look.sequence)
			return 0;
		memcpy(buffer, slot(ring, cursor->sequence), sizeof(struct wire_packet));
		memcpy((char *)buffer + begin, slot(ring, cursor->sequence) + begin, end - begin);

		/* The copy is finished before the tail is looked at again. Pairs with the order of stores in
		 * `open`. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		again = ring_look(ring, cursor->sequence);
		if (ring->overwrite && again.sequence - cursor->sequence >= alive)
			continue;

		*piece = (struct ring_piece){ .sequence = cursor->sequence, .begin = begin, .end = end };
		piece->last = cursor->sequence != look.sequence;
		piece->count = look.count;
		if (piece->last) {
			cursor->sequence++;
			cursor->offset = 0;
		} else {
			cursor->offset = end;
		}
		return 1;
	}
}
