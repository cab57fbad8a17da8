/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is known of a ring while it is read: how far, and its ledger.
 *
 * The ledger. Records written = records taken + records lost, by cause. Each packet says how many records were
 * written before it, so whatever was skipped is counted when the next packet comes. A number that cannot be is
 * not believed: anybody may have scribbled over it.
 */
#ifndef BURIN_DRAIN_INTAKE_H
#define BURIN_DRAIN_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/sift.h"
#include "ring/copy.h"
#include "wire/origin.h"

struct intake {
	const struct ring *ring; /* of what geometry it is */
	struct ring_cursor cursor;
	struct wire_ledger ledger; /* up to the cursor */
	uint64_t written;	   /* records written when the tail was last looked at */
	uint64_t sequence;	   /* of the packet that was last taken from, if `begun` ... */
	uint32_t end;		   /* ... and up to which byte */
	uint64_t time;		   /* of the last record */
	bool begun;
	bool cut;   /* what follows is later than what was asked for */
	bool stale; /* the tail is not one that writers could have made: what is behind it cannot be found */
	bool damaged; /* the rest of the packet at the cursor cannot be believed */
};

/*
 * intake_piece - what the header of a piece says.
 * @packet: the piece's packet, header and new bytes
 * @time: set to that of the record before its bytes, or in front of a packet's first to time_begin
 * Return: whether its bytes may be records. If not, they are counted as corrupt when the next packet comes.
 */
bool intake_piece(struct intake *intake, const struct wire_packet *packet, const struct ring_piece *piece,
		  uint64_t *time);

/* intake_take - @count records of a piece are accounted for: they are in the trace, or were not asked for. */
void intake_take(struct intake *intake, const struct ring_piece *piece, const struct sifted *sifted,
		 uint32_t count);

/* intake_losses - believe what writers say they have lost. @lost: theirs, or a packet header's */
void intake_losses(struct intake *intake, const uint64_t *lost);

/* intake_settle - nothing more will be found: what the tail has counted and nobody found is corrupt. */
void intake_settle(struct intake *intake);

/* intake_missing - records that were written but are not accounted for, as far as that is credible. */
uint64_t intake_missing(const struct intake *intake);

/* intake_resume - go on from where a trace that begins at @origin ends in its last packet; NULL: it has none. */
void intake_resume(struct intake *intake, const struct wire_origin *origin, const struct wire_packet *packet,
		   const struct sifted *sifted);

/* intake_origin - where a trace begins that goes on from here. */
struct wire_origin intake_origin(const struct intake *intake);

#endif
