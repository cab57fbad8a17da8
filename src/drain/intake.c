/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is known of a ring while it is read; see intake.h. */
#include "drain/intake.h"

/*
 * What a packet's header says was written before it, against what is accounted for: the difference was lost
 * on the way. A number that cannot be is not believed.
 */
static void account_before(struct intake *intake, const struct ring_piece *piece, uint64_t events_before)
{
	uint64_t missing = events_before - intake->ledger.events;
	uint64_t packets = piece->sequence - (intake->begun ? intake->sequence : 0) + 1;
	uint64_t most = intake->ring->packet_words / 2; /* of a packet */

	if (missing == 0)
		return;
	if (packets > UINT64_MAX / most || missing > packets * most) {
		intake->ledger.lost[WIRE_LOST_CORRUPT]++;
		return;
	}
	intake->ledger.lost[intake->damaged ? WIRE_LOST_CORRUPT : WIRE_LOST_OVERWRITTEN] += missing;
	intake->ledger.events += missing;
}

bool intake_piece(struct intake *intake, const struct wire_packet *packet, const struct ring_piece *piece,
		  uint64_t *time)
{
	*time = intake->time;
	if (!piece->last)
		intake->written = packet->events_before + piece->count;
	if (piece->begin == sizeof(*packet)) {
		account_before(intake, piece, packet->events_before);
		intake->damaged = packet->time_begin < intake->time;
		*time = packet->time_begin;
	} else if (!intake->begun || intake->sequence != piece->sequence || intake->end != piece->begin) {
		/* It does not go on where we are: somebody has put an end mark where none belongs. */
		intake->damaged = true;
	}
	return !intake->damaged;
}

void intake_take(struct intake *intake, const struct ring_piece *piece, const struct sifted *sifted,
		 uint32_t count)
{
	intake->begun = true;
	intake->sequence = piece->sequence;
	intake->end = sifted->end;
	intake->time = sifted->time;
	intake->ledger.events += count;
}

/* It only grows; a number that cannot be is not believed, and the last one stands. */
static uint64_t believe(uint64_t told, uint64_t count)
{
	const uint64_t step_max = UINT64_C(1) << 44, max = UINT64_C(1)
							   << 56; /* hours and years of losing only */

	return count >= told && count - told < step_max && count < max ? count : told;
}

void intake_losses(struct intake *intake, const uint64_t *lost)
{
	for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++)
		intake->ledger.lost[cause] =
			believe(intake->ledger.lost[cause], __atomic_load_n(&lost[cause], __ATOMIC_RELAXED));
}

uint64_t intake_missing(const struct intake *intake)
{
	uint64_t difference = intake->written - intake->ledger.events;

	return !intake->cut && intake->written > intake->ledger.events && difference <= UINT32_MAX
		       ? difference
		       : 0;
}

void intake_settle(struct intake *intake)
{
	const struct ring *ring = intake->ring;
	uint64_t gone = intake_missing(intake);

	intake->ledger.lost[WIRE_LOST_CORRUPT] += intake->stale; /* nobody knows how many */
	if (gone == 0)
		return;
	if (gone <= ring->window * ring->packet_words / 2) {
		intake->ledger.lost[WIRE_LOST_CORRUPT] += gone;
		intake->ledger.events += gone;
	} else { /* more than a ring holds is nonsense */
		intake->ledger.lost[WIRE_LOST_CORRUPT]++;
	}
	intake->written = intake->ledger.events;
}

void intake_resume(struct intake *intake, const struct wire_origin *origin, const struct wire_packet *packet,
		   const struct sifted *sifted)
{
	uint64_t sequence;
	uint32_t cut;

	intake->ledger = origin->ledger;
	intake->cursor.sequence = origin->sequence;
	intake->cursor.offset = (uint32_t)origin->offset;
	intake->begun = origin->offset != 0;
	intake->time = origin->time;
	if (packet) {
		intake->ledger.events += packet->events_before + sifted->count;
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
			intake->ledger.lost[cause] += packet->lost[cause];
		intake->time = sifted->time; /* time_end may be that of records that were to come */
		sequence = packet->sequence - origin->restated;
		if (packet->sequence >= origin->restated && sequence >= origin->sequence) {
			/* What came before in the packet where the trace begins is not in it. */
			cut = sequence == origin->sequence && origin->offset
				      ? (uint32_t)(origin->offset - sizeof(*packet))
				      : 0;
			intake->begun = true;
			intake->cursor.sequence = sequence;
			intake->cursor.offset = sifted->end + cut;
		}
	}
	intake->sequence = intake->cursor.sequence;
	intake->end = intake->cursor.offset;
}

struct wire_origin intake_origin(const struct intake *intake)
{
	return (struct wire_origin){ .ledger = intake->ledger,
				     .sequence = intake->cursor.sequence,
				     .offset = intake->cursor.offset,
				     .time = intake->time };
}
