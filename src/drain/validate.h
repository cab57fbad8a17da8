/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Validation: find the records in bytes copied from a ring, and those that were asked for.
 *
 * Writers commit whole records only, so all bytes of a healthy ring are records. But other processes may damage the
 * memory. A trace therefore gets only bytes with the form of a record of a known event, in order of time, within reach of
 * the time base before them, and not in the future.
 */
#ifndef BURIN_DRAIN_VALIDATE_H
#define BURIN_DRAIN_VALIDATE_H

#include "writer/event_table.h"
#include "writer/validated.h"

/* The range of times that is asked for; both ends are inside. */
struct window {
	uint64_t since;
	uint64_t until;
};

/*
 * validate_records - validate the records of a packet.
 * @begin: offset of the first one
 * @end: offset behind the last byte
 * @time: full time of the record before @begin, or the packet's time_begin
 * @base: time base there: time of the last extended record, or the packet's time_begin
 * @now: later records are invalid
 */
struct validated validate_records(const struct event_table *table, const char *packet, uint32_t begin,
				  uint32_t end, uint64_t time, uint64_t base, uint64_t now,
				  struct window window);

#endif
