/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The records of a trace, decoded into items slice by slice of time. Several threads decode slices ahead of the caller, who gets them
 * in order: from the first to the last, or backwards.
 */
#ifndef BURIN_VIEW_READ_AHEAD_H
#define BURIN_VIEW_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "burin/read.h"

struct read_ahead;

/* The array that a slice was decoded into, in order of time, and bytes to which its items may refer. */
struct read_ahead_items {
	void *items; /* array_reserve_items() */
	size_t count, room;
	char *bytes; /* array_reserve() */
	size_t bytes_used, bytes_room;
};

struct read_ahead_work {
	const struct burin_trace *trace;
	uint64_t from, to; /* ticks: records within this time; `to` exclusive, 0: no end */
	unsigned threads;  /* how many may be used */
	bool backwards;	   /* the last slice first; within a slice, items are in order of time */
	bool one_ring;	   /* only the records of the ring with this number: */
	uint32_t ring;
	/* Appends the items of a record. Several threads call it, each for another slice. Return: 0; -ENOMEM. */
	int (*decode)(const void *data, const struct burin_record *record, struct read_ahead_items *items);
	/* Instead of decode(): appends the items of all records of a cursor. Return: 0; -ENOMEM. */
	int (*decode_all)(const void *data, struct burin_cursor *cursor, struct read_ahead_items *items);
	const void *data;
};

/* read_ahead_open - begin to decode. Return: 0; -ENOMEM. */
int read_ahead_open(struct read_ahead **ahead, const struct read_ahead_work *work);

/*
 * read_ahead_next - the items of the next slice.
 * @items: valid until the next call
 * Return: 1; 0: there are no more; -ENOMEM.
 */
int read_ahead_next(struct read_ahead *ahead, const struct read_ahead_items **items);

/* read_ahead_close - NULL is allowed. */
void read_ahead_close(struct read_ahead *ahead);

#endif
