/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A recording that is split: a directory of chunks 0001, 0002, ..., each a trace by itself.
 *
 * The next chunk is made under the name ".next" and appears by rename, complete with where it begins
 * (wire/origin.h); only then is the one before it finished. So of a recorder that was killed at most the last two
 * chunks are unfinished, and where the last one begins tells how the ledger of the one before it ends.
 */
#ifndef BURIN_DRAIN_CHUNKS_H
#define BURIN_DRAIN_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/known.h"

enum {
	CHUNKS_PATH = 4096,
};

struct chunk_limits {
	uint64_t bytes; /* of a chunk's streams; 0: none */
	uint64_t ns;	/* its age; 0: none */
	unsigned keep;	/* chunks that stay, the last one included; 0: all */
};

struct chunks {
	struct chunk_limits limits;
	char path[CHUNKS_PATH - 16]; /* "": the recording is one trace */
	unsigned last;		     /* number of the chunk that is written to */
	unsigned removed;	     /* the oldest ones */
	uint64_t begun;		     /* the last, CLOCK_MONOTONIC in ns */
	struct known known;
};

/*
 * chunks_begin - make the directory of chunks.
 * @first: set to where the first chunk belongs
 * Return: 0 or -errno.
 */
int chunks_begin(struct chunks *chunks, const char *path, struct chunk_limits limits,
		 char first[CHUNKS_PATH]);

/* chunks_path - the directory of chunk @number, from 1; of the one that is being made: 0. */
void chunks_path(const char *path, unsigned number, char out[CHUNKS_PATH]);

/* chunks_due - whether a chunk of so many bytes is to be the last no more. */
bool chunks_due(const struct chunks *chunks, uint64_t bytes);

/* chunks_advance - the one that is being made becomes the last. Return: 0 or -errno. */
int chunks_advance(struct chunks *chunks);

/* chunks_trim - remove the oldest, so that only so many stay. */
void chunks_trim(struct chunks *chunks);

/* chunks_discard - remove a trace that holds no records (drain/discard.h), or the first chunk and the directory of it. */
void chunks_discard(const char *path);

/*
 * chunks_sweep - remove what a recorder that was killed left half made or half removed. What the former would have
 * had is in the last chunk, once that is recovered.
 */
void chunks_sweep(const char *path);

#endif
