/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Merges rings by rounds; see rounds.h.
 *
 * latest[0] is the latest time of all rounds so far, latest[1] that of all but the last one. rounds_begin() passes on
 * up to latest[1], and then replaces it. So all rings have been read once more since the record of that time was.
 * `closed` is the time up to which records were passed on; it never decreases, and an earlier record cannot be put in
 * order any more.
 *
 * Entries that stay keep their order, and those of equal times the order in which they were read (`order`): qsort()
 * is not stable, so the number decides.
 *
 * A chunk has one use for its reader and one for each entry that points into it. It is given back with the last, in
 * any order. Spare chunks are bounded in sum (ROUNDS_SPARE_MAX). A chunk that is too small is replaced by a larger
 * one, so that a load which grows does not leave many small ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "source/perf/rings/rounds.h"

enum {
	ROUNDS_SPARE_MIN = 64 << 10, /* bytes of a chunk: malloc is as good for smaller ones */
	ROUNDS_SPARE_MAX = 16 << 20, /* of all together: the chunks of three rounds at low load */
};

static int rounds_by_time(const void *a, const void *b)
{
	const struct rounds_entry *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* Pass on the records up to `until`. */
static void rounds_flush(struct rounds *rounds, uint64_t until, rounds_take *take, void *data)
{
	size_t n;

	if (rounds->count == 0)
		return;
	qsort(rounds->entries, rounds->count, sizeof(*rounds->entries), rounds_by_time);
	for (n = 0; n < rounds->count && rounds->entries[n].time <= until; n++) {
		take(data, &rounds->entries[n]);
		rounds_chunk_done(rounds, rounds->entries[n].chunk);
	}
	rounds->count -= n;
	memmove(rounds->entries, rounds->entries + n, rounds->count * sizeof(*rounds->entries));
}

void rounds_begin(struct rounds *rounds, rounds_take *take, void *data)
{
	const uint64_t until = rounds->latest[1];

	rounds_flush(rounds, until, take, data);
	if (until > rounds->closed)
		rounds->closed = until;
	rounds->latest[1] = rounds->latest[0];
}

int rounds_add(struct rounds *rounds, const struct rounds_entry *entry)
{
	if (!array_reserve(rounds->entries, rounds->room, rounds->count + 1))
		return -ENOMEM;
	rounds->entries[rounds->count] = *entry;
	rounds->entries[rounds->count++].order = rounds->order++;
	entry->chunk->uses++;
	if (entry->time > rounds->latest[0])
		rounds->latest[0] = entry->time;
	return 0;
}

/* Take the first spare chunk that is large enough. */
static struct rounds_chunk *take_spare(struct rounds *rounds, size_t bytes)
{
	struct rounds_chunk **at = &rounds->spare, *chunk;

	while (*at && (*at)->room < bytes)
		at = &(*at)->next;
	chunk = *at;
	if (chunk) {
		*at = chunk->next;
		rounds->spare_bytes -= chunk->room;
	}
	return chunk;
}

struct rounds_chunk *rounds_chunk_make(struct rounds *rounds, size_t bytes)
{
	struct rounds_chunk *chunk = bytes < ROUNDS_SPARE_MIN ? NULL : take_spare(rounds, bytes);
	size_t room = bytes;

	if (!chunk && bytes >= ROUNDS_SPARE_MIN) {
		free(take_spare(rounds, 0)); /* replace a chunk that is too small by a larger one */
		for (room = ROUNDS_SPARE_MIN; room < bytes;)
			room *= 2;
	}
	if (!chunk) {
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->room = room;
	}
	chunk->uses = 1;
	return chunk;
}

void rounds_chunk_done(struct rounds *rounds, struct rounds_chunk *chunk)
{
	if (--chunk->uses)
		return;
	if (chunk->room < ROUNDS_SPARE_MIN || chunk->room > ROUNDS_SPARE_MAX - rounds->spare_bytes) {
		free(chunk);
		return;
	}
	chunk->next = rounds->spare;
	rounds->spare = chunk;
	rounds->spare_bytes += chunk->room;
}

void rounds_end(struct rounds *rounds, rounds_take *take, void *data)
{
	rounds_flush(rounds, UINT64_MAX, take, data);
	rounds_free(rounds);
}

void rounds_free(struct rounds *rounds)
{
	struct rounds_chunk *chunk;

	while (rounds->count)
		rounds_chunk_done(rounds, rounds->entries[--rounds->count].chunk);
	while ((chunk = take_spare(rounds, 0)))
		free(chunk);
	free(rounds->entries);
	*rounds = (struct rounds){ 0 };
}
