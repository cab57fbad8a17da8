/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From many rings to one order of time.
 *
 * A ring of the kernel's is nearly in order of time, and rings are read one after the other: what is read now may be
 * earlier than what was read before. So records wait. A round reads all rings; when round n + 2 begins, all that is
 * not later than the latest record of round n goes on, in order of time. What is earlier and comes only then is late.
 */
#ifndef BURIN_SOURCE_SAMPLE_ROUNDS_H
#define BURIN_SOURCE_SAMPLE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that were read out of a ring at once; records point into them. */
struct rounds_chunk {
	struct rounds_chunk *next; /* of those that are spare */
	size_t room;
	unsigned uses;
	char bytes[] __attribute__((aligned(8)));
};

struct rounds_entry {
	uint64_t time;	/* as the kernel has it */
	uint64_t order; /* in which it was read */
	const char *record;
	uint32_t bytes;
	uint32_t ring; /* the caller's */
	struct rounds_chunk *chunk;
};

struct rounds {
	struct rounds_entry *entries;
	size_t count, room;
	uint64_t order;
	uint64_t latest[2]; /* record of all rounds so far; of those before this one */
	uint64_t closed;    /* what is earlier than this is late */
	struct rounds_chunk
		*spare; /* the one that was given back last is first: it may still be in a cache */
	size_t spare_bytes;
};

typedef void rounds_take(void *data, const struct rounds_entry *entry);

/*
 * rounds_begin - a new round: hand on, in order, what is not later than the round before the last.
 * @take: called for each; must not add
 */
void rounds_begin(struct rounds *rounds, rounds_take *take, void *data);

/* rounds_late - whether a record comes too late: others that are not earlier have gone on. */
static inline bool rounds_late(const struct rounds *rounds, uint64_t time)
{
	return time < rounds->closed;
}

/* rounds_add - add a record that was read in this round. ->order is set here; ->chunk is used once more.
 * Return: 0 or -ENOMEM: it was not added. */
int rounds_add(struct rounds *rounds, const struct rounds_entry *entry);

/*
 * rounds_chunk_make, rounds_chunk_done - a chunk that its maker uses; its maker uses it no more. Large ones are used
 * again: memory that is new costs more than what is copied into it.
 */
struct rounds_chunk *rounds_chunk_make(struct rounds *rounds, size_t bytes);
void rounds_chunk_done(struct rounds *rounds, struct rounds_chunk *chunk);

/* rounds_end - hand on all that is left, and let go. */
void rounds_end(struct rounds *rounds, rounds_take *take, void *data);

/* rounds_free - let go of all that is left. */
void rounds_free(struct rounds *rounds);

#endif
