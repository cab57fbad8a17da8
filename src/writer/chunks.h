/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A recording that is split: a directory of chunks 0001, 0002, ..., each a trace by itself.
 *
 * The next chunk is made under the name ".next" and appears by rename, with its origin (wire/wire_origin.h). Only then is
 * the chunk before it finished. A killed recorder therefore leaves at most the last two chunks unfinished, and the origin
 * of the last one is the end of the ledger of the one before it.
 */
#ifndef BURIN_WRITER_CHUNKS_H
#define BURIN_WRITER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CHUNKS_PATH = 4096,
	CHUNKS_NAME = 16,
};

struct chunk_limits {
	uint64_t bytes; /* of a chunk's streams; 0: no limit */
	uint64_t ns;	/* its age; 0: no limit */
	unsigned keep;	/* how many chunks stay, including the last one; 0: all */
};

/* The result of removing the oldest chunks. */
struct chunks_trim {
	unsigned done;	/* number of the last chunk that was due for removal */
	unsigned left;	/* how many of them could not be removed completely */
	int error;	/* -errno of the first failure */
	int in_the_way; /* -errno: the existing file ".old" could not be replaced; 0: no such failure */
};

struct chunks {
	struct chunk_limits limits;
	int directory; /* of the chunks; owned by the caller */
	unsigned last; /* number of the chunk that is written to; 0: the recording is one trace */
	struct chunks_trim trim;
	uint64_t begun; /* when the last chunk began, CLOCK_MONOTONIC in ns */
};

/* chunks_begin - make and open the first chunk's directory. Return: a descriptor or -errno. */
int chunks_begin(struct chunks *chunks, int directory, struct chunk_limits limits);

/* chunks_name - the name of chunk @number, from 1; 0: the chunk that is being made. chunks_path: the same behind @path. */
void chunks_name(unsigned number, char out[CHUNKS_NAME]);
void chunks_path(const char *path, unsigned number, char out[CHUNKS_PATH]);

/* chunks_due - whether the last chunk has reached a limit. @bytes: its size */
bool chunks_due(const struct chunks *chunks, uint64_t bytes);

/* chunks_advance - the chunk that is being made becomes the last. Return: 0 or -errno. */
int chunks_advance(struct chunks *chunks);

/* chunks_trim - remove the oldest chunks above limits.keep. `trim` counts the failures. */
void chunks_trim(struct chunks *chunks);

/*
 * chunks_sweep - remove the chunks that a killed recorder left half made or half removed. The last chunk, once
 * recovered, has the records of the half-made one.
 */
void chunks_sweep(int directory);

/*
 * chunks_discard - remove a trace or a split recording that could not begin, or whose program could not be run.
 * @directory: its own directory, which the caller has made
 * @path: any path that ends in its name
 */
void chunks_discard(int directory, const char *path);

#endif
