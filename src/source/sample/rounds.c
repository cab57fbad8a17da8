/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Merging rings by rounds; see rounds.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/sample/rounds.h"

static int by_time(const void *a, const void *b)
{
	const struct rounds_entry *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* Hand on what is not later than `until`. */
static void flush(struct rounds *rounds, uint64_t until, rounds_take *take, void *data)
{
	size_t n;

	if (rounds->count == 0)
		return;
	qsort(rounds->entries, rounds->count, sizeof(*rounds->entries), by_time);
	for (n = 0; n < rounds->count && rounds->entries[n].time <= until; n++) {
		take(data, &rounds->entries[n]);
		rounds_chunk_done(rounds->entries[n].chunk);
	}
	rounds->count -= n;
	memmove(rounds->entries, rounds->entries + n, rounds->count * sizeof(*rounds->entries));
}

void rounds_begin(struct rounds *rounds, rounds_take *take, void *data)
{
	const uint64_t until = rounds->latest[1];

	flush(rounds, until, take, data);
	if (until > rounds->closed)
		rounds->closed = until;
	rounds->latest[1] = rounds->latest[0];
}

int rounds_add(struct rounds *rounds, const struct rounds_entry *entry)
{
	if (rounds->count == rounds->room) {
		size_t room = rounds->room ? 2 * rounds->room : 256;
		struct rounds_entry *entries = realloc(rounds->entries, room * sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		rounds->entries = entries;
		rounds->room = room;
	}
	rounds->entries[rounds->count] = *entry;
	rounds->entries[rounds->count++].order = rounds->order++;
	entry->chunk->uses++;
	if (entry->time > rounds->latest[0])
		rounds->latest[0] = entry->time;
	return 0;
}

struct rounds_chunk *rounds_chunk_make(size_t bytes)
{
	struct rounds_chunk *chunk = malloc(sizeof(*chunk) + bytes);

	if (chunk)
		chunk->uses = 1;
	return chunk;
}

void rounds_chunk_done(struct rounds_chunk *chunk)
{
	if (--chunk->uses == 0)
		free(chunk);
}

void rounds_end(struct rounds *rounds, rounds_take *take, void *data)
{
	flush(rounds, UINT64_MAX, take, data);
	free(rounds->entries);
	*rounds = (struct rounds){ 0 };
}
