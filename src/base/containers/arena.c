/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Memory for many small pieces; see arena.h. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/arena.h"

enum {
	CHUNK_BYTES = 1 << 16,
};

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, room;
	char bytes[];
};

char *arena_keep(struct arena *arena, const void *data, size_t bytes)
{
	struct arena_chunk *chunk = arena->chunks;
	char *kept;

	if (!chunk || chunk->room - chunk->used <= bytes) {
		size_t room = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes + 1;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct arena_chunk){ .next = arena->chunks, .room = room };
		arena->chunks = chunk;
		arena->bytes += room;
	}
	kept = chunk->bytes + chunk->used;
	if (bytes)
		memcpy(kept, data, bytes);
	kept[bytes] = '\0';
	chunk->used += bytes + 1;
	return kept;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	arena->bytes = 0;
}
