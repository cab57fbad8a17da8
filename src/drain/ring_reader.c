/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The position in a ring and its ledger; see ring_reader.h. */
#include "drain/ring_reader.h"

#define RECORDS_MAX (UINT64_C(1) << 56) /* more than any ring has had: years of them */

/*
 * Count as lost the difference between the records that the packet's header counts before it and those accounted for. An
 * impossible difference is one corruption.
 */
static void account_before(struct ring_reader *reader, const struct ring_piece *piece, uint64_t events_before)
{
	uint64_t missing = events_before - reader->ledger.events;
	uint64_t packets = piece->sequence - (reader->begun ? reader->sequence : 0) + 1;
	/* A record has two words at least. */
	uint64_t most = reader->ring->packet_words / 2; /* of a packet */

	if (missing == 0)
		return;
	/*
	 * More than the packets in between can have had. A forged count would otherwise hide or invent any
	 * number of losses.
	 */
	if (missing > RECORDS_MAX || packets > UINT64_MAX / most || missing > packets * most) {
		reader->ledger.lost[WIRE_LOST_CORRUPT]++;
		return;
	}
	reader->ledger.lost[reader->damaged ? WIRE_LOST_CORRUPT : WIRE_LOST_OVERWRITTEN] += missing;
	reader->ledger.events += missing;
}

bool ring_reader_piece(struct ring_reader *reader, const struct wire_packet *packet,
		       const struct ring_piece *piece, uint64_t *time)
{
	*time = reader->time;
	if (!piece->last)
		reader->written = packet->events_before + piece->count;
	if (piece->begin == sizeof(*packet)) {
		account_before(reader, piece, packet->events_before);
		reader->damaged = packet->time_begin < reader->time;
		*time = reader->base = packet->time_begin;
	} else if (!reader->begun || reader->sequence != piece->sequence || reader->end != piece->begin) {
		/* The piece does not continue ours: the ring was damaged, with an end mark in a wrong place. */
		reader->damaged = true;
	}
	return !reader->damaged;
}

void ring_reader_take(struct ring_reader *reader, const struct ring_piece *piece,
		      const struct validated *validated, uint32_t count)
{
	reader->begun = true;
	reader->sequence = piece->sequence;
	reader->end = validated->end;
	reader->time = validated->time;
	reader->base = validated->base;
	reader->ledger.events += count;
}

/* A counter of losses only grows. An implausible value, read from shared memory, is ignored and the last one stays. */
static uint64_t ring_reader_plausible(uint64_t last, uint64_t count)
{
	const uint64_t step_max = UINT64_C(1) << 44; /* hours of nothing but losses */

	return count >= last && count - last < step_max && count < RECORDS_MAX ? count : last;
}

void ring_reader_losses(struct ring_reader *reader, const uint64_t *lost)
{
	/* Only causes that writers count. The drain counts the others itself. */
	for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++)
		reader->ledger.lost[cause] = ring_reader_plausible(
			reader->ledger.lost[cause], __atomic_load_n(&lost[cause], __ATOMIC_RELAXED));
}

uint64_t ring_reader_missing(const struct ring_reader *reader)
{
	uint64_t difference = reader->written - reader->ledger.events;

	return !reader->past_window && reader->written > reader->ledger.events && difference <= UINT32_MAX
		       ? difference
		       : 0;
}

void ring_reader_note(struct ring_reader *reader, const struct ring *ring)
{
	struct ring_look look;

	if (ring && ring_look(ring, &look) && !look.empty)
		reader->written = look.events_before + look.count;
}

void ring_reader_empty(struct ring_reader *reader, const struct ring *ring, const struct wire_ring *copied)
{
	struct ring_look look;

	if (!ring || !ring->overwrite || !ring_look(ring, &look) || look.empty || look.count ||
	    (copied && copied->tail != __atomic_load_n(&ring->control->tail, __ATOMIC_RELAXED)) ||
	    look.events_before <= reader->ledger.events || look.sequence < reader->sequence)
		return;
	reader->ledger.lost[WIRE_LOST_OVERWRITTEN] += look.events_before - reader->ledger.events;
	reader->ledger.events = look.events_before;
}

bool ring_reader_continue(struct ring_reader *reader, const struct ring *ring)
{
	const struct wire_packet *packet;
	struct ring_look look;

	if (!ring || !ring_look(ring, &look) || look.empty)
		return false;
	packet = ring_packet(ring, &look, reader->cursor.sequence);
	if (packet->sequence != reader->cursor.sequence)
		return false;
	reader->ledger.events = packet->events_before;
	ring_reader_losses(reader, packet->lost);
	return true;
}

void ring_reader_settle(struct ring_reader *reader)
{
	const struct ring *ring = reader->ring;
	uint64_t gone = ring_reader_missing(reader);

	/* An unknown number counts as one: of a ring that could not be read, or of damage that no count reveals. */
	reader->ledger.lost[WIRE_LOST_CORRUPT] +=
		reader->stale ||
		(reader->damaged && gone == 0 && reader->ledger.lost[WIRE_LOST_CORRUPT] == 0);
	if (gone == 0)
		return;
	if (gone <= ring->window * ring->packet_words / 2) {
		reader->ledger.lost[WIRE_LOST_CORRUPT] += gone;
		reader->ledger.events += gone;
	} else { /* more than the ring can hold: the counter is damaged */
		reader->ledger.lost[WIRE_LOST_CORRUPT]++;
	}
	reader->written = reader->ledger.events;
}

void ring_reader_resume(struct ring_reader *reader, const struct wire_origin *origin,
			const struct wire_packet *packet, const struct validated *validated)
{
	uint64_t sequence;
	uint32_t left_out;

	reader->ledger = origin->ledger;
	reader->cursor.sequence = origin->sequence;
	reader->cursor.offset = (uint32_t)origin->offset;
	reader->begun = origin->offset != 0;
	reader->time = reader->base = origin->time;
	if (packet) {
		reader->ledger.events += packet->events_before + validated->count;
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
			reader->ledger.lost[cause] += packet->lost[cause];
		reader->time = validated->time; /* time_end may belong to records that were never committed */
		reader->base = validated->base;
		sequence = packet->sequence - origin->statedump;
		if (packet->sequence >= origin->statedump && sequence >= origin->sequence) {
			/* In the first packet, the trace lacks the records before its origin. */
			left_out = sequence == origin->sequence && origin->offset
					   ? (uint32_t)(origin->offset - sizeof(*packet))
					   : 0;
			reader->begun = true;
			reader->cursor.sequence = sequence;
			reader->cursor.offset = validated->end + left_out;
		}
	}
	reader->sequence = reader->cursor.sequence;
	reader->end = reader->cursor.offset;
}

struct wire_origin ring_reader_origin(const struct ring_reader *reader)
{
	return (struct wire_origin){ .ledger = reader->ledger,
				     .sequence = reader->cursor.sequence,
				     .offset = reader->cursor.offset,
				     .time = reader->time };
}
