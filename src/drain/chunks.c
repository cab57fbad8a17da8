/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A recording that is split; see chunks.h. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "drain/chunks.h"
#include "drain/discard.h"
#include "session/clock.h"

void chunks_path(const char *path, unsigned number, char out[CHUNKS_PATH])
{
	if (number)
		snprintf(out, CHUNKS_PATH, "%s/%04u", path, number);
	else
		snprintf(out, CHUNKS_PATH, "%s/.next", path);
}

int chunks_begin(struct chunks *chunks, const char *path, struct chunk_limits limits, char first[CHUNKS_PATH])
{
	*chunks = (struct chunks){ .limits = limits, .last = 1, .begun = clock_ns(CLOCK_MONOTONIC) };
	if ((size_t)snprintf(chunks->path, sizeof(chunks->path), "%s", path) >= sizeof(chunks->path))
		return -ENAMETOOLONG;
	chunks_path(path, 1, first);
	return mkdir(path, 0777) != 0 ? -errno : 0;
}

bool chunks_due(const struct chunks *chunks, uint64_t bytes)
{
	const struct chunk_limits *limits = &chunks->limits;

	return (limits->bytes && bytes >= limits->bytes) ||
	       (limits->ns && clock_ns(CLOCK_MONOTONIC) - chunks->begun >= limits->ns);
}

int chunks_advance(struct chunks *chunks)
{
	char from[CHUNKS_PATH], to[CHUNKS_PATH];

	chunks_path(chunks->path, 0, from);
	chunks_path(chunks->path, chunks->last + 1, to);
	if (rename(from, to) != 0)
		return -errno;
	chunks->last++;
	chunks->begun = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

/* Where a chunk lies while it is removed: whoever looks sees whole ones only. */
static void old_path(const char *path, char out[CHUNKS_PATH])
{
	snprintf(out, CHUNKS_PATH, "%s/.old", path);
}

void chunks_trim(struct chunks *chunks)
{
	char path[CHUNKS_PATH], old[CHUNKS_PATH];

	old_path(chunks->path, old);
	while (chunks->limits.keep && chunks->last - chunks->removed > chunks->limits.keep) {
		chunks_path(chunks->path, ++chunks->removed, path);
		if (rename(path, old) == 0)
			drain_remove(old);
	}
}

void chunks_discard(const char *path)
{
	char chunk[CHUNKS_PATH];

	chunks_path(path, 1, chunk);
	drain_discard(chunk);
	drain_discard(path);
}

void chunks_sweep(const char *path)
{
	char rest[CHUNKS_PATH];

	chunks_path(path, 0, rest);
	drain_remove(rest);
	old_path(path, rest);
	drain_remove(rest);
}
