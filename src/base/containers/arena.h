/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Memory for many small pieces, which never move and are freed all at once. */
#ifndef BURIN_BASE_CONTAINERS_ARENA_H
#define BURIN_BASE_CONTAINERS_ARENA_H

#include <stddef.h>

/* Zero it before use. */
struct arena {
	struct arena_chunk *chunks;
	size_t bytes; /* allocated in all */
};

/* arena_keep - copy bytes and append a NUL. Return: the copy, the arena's; NULL: no memory. */
char *arena_keep(struct arena *arena, const void *data, size_t bytes);

void arena_free(struct arena *arena);

#endif
