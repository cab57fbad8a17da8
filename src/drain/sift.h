/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sifting: of bytes that were copied out of a ring, what is a record, and was it asked for?
 *
 * Writers commit whole records only, so in a healthy ring all of it is. But the ring is memory that others
 * may write: only bytes that have the form of a record of a known event, in order of time and not from the
 * future, go into a trace.
 */
#ifndef BURIN_DRAIN_SIFT_H
#define BURIN_DRAIN_SIFT_H

#include "drain/table.h"

/* The times that are asked for. */
struct window {
	uint64_t since; /* records before it are left out ... */
	uint64_t until; /* ... and those after it */
};

struct sifted {
	uint32_t
		end; /* bytes of the packet up to which it is sound: the start of the first byte that is not */
	uint32_t begin;	  /* the first record that was asked for */
	uint32_t content; /* the last byte of the last one, padding left out */
	uint32_t count;	  /* of them */
	uint32_t before;  /* records in front of them, which are earlier than the window */
	uint64_t first;	  /* time of the first record that was asked for */
	uint64_t time;	  /* of the last sound one */
	uint32_t unknown; /* an id that the table does not have stopped it; 0: nothing of the kind */
	bool sound;	  /* all of it is */
	bool cut;	  /* the record at `end` is sound and later than the window, as are all that follow */
};

struct parsed {
	uint32_t id;
	uint32_t tid;
	uint32_t header; /* bytes in front of the payload: header and context */
	uint64_t time;
};

/*
 * sift_header - read a record's header, of either form.
 * @context: bytes between header and payload
 * @at: `length` bytes, by its own account; at least those of the compact form
 * @before: time of the record before it
 * Return: whether it can be one.
 */
bool sift_header(const char *at, uint32_t length, uint32_t context, uint64_t before, struct parsed *out);

/*
 * sift - walk records.
 * @packet: a packet, up to `end`
 * @begin: where the first record to look at begins
 * @time: full time of the record before it, or the packet's time_begin
 * @now: no record is later
 */
struct sifted sift(const struct table *table, const char *packet, uint32_t begin, uint32_t end, uint64_t time,
		   uint64_t now, struct window window);

#endif
