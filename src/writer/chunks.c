/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A recording that is split; see chunks.h.
 *
 * Chunks come and go by rename, so a reader of the directory sees whole ones only:
 *
 *	.next	the chunk that is being made; the rename to its number is the split
 *	0001	a chunk
 *	.old	a chunk that is being removed; its number is gone before its first file
 *
 * chunks_trim() goes on behind a chunk that cannot be removed: ->trim.done counts it as done, and ->trim.left
 * says so. One that its user has moved away is no failure. After a kill, chunks_sweep() removes `.next` and
 * `.old`.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "writer/chunks.h"
#include "writer/discard.h"
#include "file/create.h"
#include "session/clock.h"

/* A chunk's name while it is removed. Readers of the recording see whole chunks only. */
static const char old_name[] = ".old";

void chunks_name(unsigned number, char out[CHUNKS_NAME])
{
	if (number)
		snprintf(out, CHUNKS_NAME, "%04u", number);
	else
		snprintf(out, CHUNKS_NAME, ".next");
}

void chunks_path(const char *path, unsigned number, char out[CHUNKS_PATH])
{
	char name[CHUNKS_NAME];
	size_t bytes = strlen(path);

	while (bytes && path[bytes - 1] == '/')
		bytes--;
	chunks_name(number, name);
	snprintf(out, CHUNKS_PATH, "%.*s/%s", (int)bytes, path, name);
}

int chunks_begin(struct chunks *chunks, int directory, struct chunk_limits limits)
{
	char first[CHUNKS_NAME];

	*chunks = (struct chunks){
		.limits = limits, .directory = directory, .last = 1, .begun = clock_ns(CLOCK_MONOTONIC)
	};
	chunks_name(1, first);
	return create_directory(directory, first);
}

bool chunks_due(const struct chunks *chunks, uint64_t bytes)
{
	const struct chunk_limits *limits = &chunks->limits;

	return (limits->bytes && bytes >= limits->bytes) ||
	       (limits->ns && clock_ns(CLOCK_MONOTONIC) - chunks->begun >= limits->ns);
}

int chunks_advance(struct chunks *chunks)
{
	char from[CHUNKS_NAME], to[CHUNKS_NAME];
	int error;

	chunks_name(0, from);
	chunks_name(chunks->last + 1, to);
	error = create_rename(chunks->directory, from, to);
	if (error)
		return error;
	chunks->last++;
	chunks->begun = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

/* If another process's file has the name ".old", that file stays. The chunk is then removed in place, or disks would fill up. */
static int remove_chunk(struct chunks *chunks, const char *name)
{
	const int error = create_rename(chunks->directory, name, old_name);

	if (error == -ENOENT) /* its user has removed it */
		return 0;
	if (!error)
		return discard_below(chunks->directory, old_name);
	chunks->trim.in_the_way = error;
	return discard_below(chunks->directory, name);
}

void chunks_trim(struct chunks *chunks)
{
	char name[CHUNKS_NAME];

	while (chunks->limits.keep && chunks->last - chunks->trim.done > chunks->limits.keep) {
		int error;

		chunks_name(++chunks->trim.done, name);
		error = remove_chunk(chunks, name);
		if (!error)
			continue;
		if (!chunks->trim.left++)
			chunks->trim.error = error;
	}
}

void chunks_sweep(int directory)
{
	char next[CHUNKS_NAME];

	chunks_name(0, next);
	discard_below(directory, next);
	discard_below(directory, old_name);
}

void chunks_discard(int directory, const char *path)
{
	char chunk[CHUNKS_NAME];

	for (unsigned n = 0; n < 2; n++) { /* the chunk that is being made, and the first one */
		chunks_name(n, chunk);
		discard_below(directory, chunk);
	}
	discard_trace(directory, path);
}
