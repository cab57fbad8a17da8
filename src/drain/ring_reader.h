/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The position in a ring while it is read, and the ring's ledger.
 *
 * The ledger. Records written = records taken + records lost, by cause. Each packet's header counts the records before
 * it, so the next packet shows how many were skipped. Implausible numbers are ignored: any process that maps the ring may
 * have damaged them.
 */
#ifndef BURIN_DRAIN_RING_READER_H
#define BURIN_DRAIN_RING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/validate.h"
#include "ring/copy.h"
#include "wire/wire_origin.h"

struct ring_reader {
	const struct ring *ring; /* its geometry */
	struct ring_cursor cursor;
	struct wire_ledger ledger; /* up to the cursor */
	uint64_t written;	   /* records written when the tail was last read */
	uint64_t sequence;	   /* of the packet that records were last taken from, if `begun` ... */
	uint32_t end;		   /* ... and the end of these records in it */
	uint64_t time;		   /* of the last record */
	uint64_t base;		   /* time base of the current packet */
	bool begun;
	bool past_window; /* the records that follow are later than the window */
	bool stale;	  /* the tail is damaged: the records behind it cannot be found */
	bool damaged;	  /* the rest of the packet at the cursor is damaged */
};

/*
 * ring_reader_piece - account for the header of a piece.
 * @packet: the piece's packet, header and new bytes
 * @time: set to the time of the record before its bytes; at the beginning of a packet, to time_begin
 * Return: false: the bytes are damaged, and counted as corrupt when the next packet comes.
 */
bool ring_reader_piece(struct ring_reader *reader, const struct wire_packet *packet,
		       const struct ring_piece *piece, uint64_t *time);

/* ring_reader_take - account for @count records of a piece, which are in the trace or were not asked for. */
void ring_reader_take(struct ring_reader *reader, const struct ring_piece *piece,
		      const struct validated *validated, uint32_t count);

/* ring_reader_losses - take over the writers' counts of losses. @lost: from the ring or a packet's header */
void ring_reader_losses(struct ring_reader *reader, const uint64_t *lost);

/* ring_reader_note - note how many records a ring has that is read at the end only: its file may be truncated by then. */
void ring_reader_note(struct ring_reader *reader, const struct ring *ring);

/*
 * ring_reader_empty - account for a ring whose open packet is empty, since it was resized: it shows no piece of it. The
 * records before are counted in its header.
 * @ring: NULL: it is not in use; @copied: of a snapshot copy, which must be as old as the header; else NULL
 */
void ring_reader_empty(struct ring_reader *reader, const struct ring *ring, const struct wire_ring *copied);

/*
 * ring_reader_continue - begin the counts at the cursor's packet, which the last reader has left.
 * Return: false: it is not there.
 */
bool ring_reader_continue(struct ring_reader *reader, const struct ring *ring);

/* ring_reader_settle - at the end of reading: count as corrupt all records that the tail counts and no packet had. */
void ring_reader_settle(struct ring_reader *reader);

/* ring_reader_missing - records that were written but are not accounted for; 0: none, or the number is implausible. */
uint64_t ring_reader_missing(const struct ring_reader *reader);

/* ring_reader_resume - continue where the trace that begins at @origin ends. @packet: its last one; NULL: it has none */
void ring_reader_resume(struct ring_reader *reader, const struct wire_origin *origin,
			const struct wire_packet *packet, const struct validated *validated);

/* ring_reader_origin - the origin of a trace that begins at this position. */
struct wire_origin ring_reader_origin(const struct ring_reader *reader);

#endif
