/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sifting: of bytes that were copied out of a ring, what is a record?
 *
 * Writers commit whole records only, so in a healthy ring all of it is. But the ring is memory that others
 * may write: only bytes that have the form of a record of a known event, in order of time and not from the
 * future, go into a trace.
 */
#ifndef BURIN_DRAIN_SIFT_H
#define BURIN_DRAIN_SIFT_H

#include "drain/table.h"

struct sifted {
	uint32_t end; /* bytes of the packet up to which it is sound: the start of the first byte that is not
		       */
	uint32_t content; /* the last sound record's last byte, padding left out */
	uint32_t count;	  /* records */
	uint64_t time;	  /* of the last */
	uint32_t unknown; /* an id that the table does not have stopped it; 0: nothing of the kind */
	bool sound;	  /* all of it is */
};

/*
 * sift - walk records.
 * @packet: a packet, up to `end`
 * @begin: where the first record to look at begins
 * @time: full time of the record before it, or the packet's time_begin
 * @now: no record is later
 */
struct sifted sift(const struct table *table, const char *packet, uint32_t begin, uint32_t end, uint64_t time,
		   uint64_t now);

#endif
