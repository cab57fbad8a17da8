/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Merges many rings into one order of time.
 *
 * A ring of the kernel is only nearly in order of time, and rings are read one after the other. So a record may be earlier
 * than one that was read before. Therefore records wait. A round reads all rings. When round n + 2 begins, all records up
 * to the latest time of round n are passed on, in order of time. An earlier record that is read after that is late.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_ROUNDS_H
#define BURIN_SOURCE_PERF_RINGS_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes read from a ring at once; records point into them. */
struct rounds_chunk {
	struct rounds_chunk *next; /* spare chunk */
	size_t room;
	unsigned uses;
	char bytes[] __attribute__((aligned(8)));
};

struct rounds_entry {
	uint64_t time;	/* in the kernel's clock */
	uint64_t order; /* number by order of reading */
	const char *record;
	uint32_t bytes;
	uint32_t ring; /* the caller's */
	void *found;   /* the caller's */
	struct rounds_chunk *chunk;
};

struct rounds {
	struct rounds_entry *entries;
	size_t count, room;
	uint64_t order;
	uint64_t latest[2];	    /* time in all rounds so far; in those before this one */
	uint64_t closed;	    /* earlier records are late */
	struct rounds_chunk *spare; /* the last freed first: it may still be in a cache */
	size_t spare_bytes;
};

typedef void rounds_take(void *data, const struct rounds_entry *entry);

/*
 * rounds_begin - begin a round: pass on, in order, the records up to the latest time of the round before the last.
 * @take: called for each; must not call rounds_add()
 */
void rounds_begin(struct rounds *rounds, rounds_take *take, void *data);

/* rounds_late - whether a record is late: later ones have been passed on. */
static inline bool rounds_late(const struct rounds *rounds, uint64_t time)
{
	return time < rounds->closed;
}

/* rounds_add - add a record that was read in this round. Sets ->order, adds a use of ->chunk. Return: 0 or -ENOMEM. */
int rounds_add(struct rounds *rounds, const struct rounds_entry *entry);

/*
 * rounds_chunk_make, rounds_chunk_done - allocate a chunk with one use; drop a use. Large chunks are recycled, since page
 * faults of new memory cost more than the copying.
 */
struct rounds_chunk *rounds_chunk_make(struct rounds *rounds, size_t bytes);
void rounds_chunk_done(struct rounds *rounds, struct rounds_chunk *chunk);

/* rounds_end - pass on all records that wait, and free everything. */
void rounds_end(struct rounds *rounds, rounds_take *take, void *data);

/* rounds_free - free everything; drops the records that wait. */
void rounds_free(struct rounds *rounds);

#endif
