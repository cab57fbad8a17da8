/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Memory for many small pieces, which never move and are given back all at once. */
#ifndef BURIN_BASE_ARENA_H
#define BURIN_BASE_ARENA_H

#include <stddef.h>

/* Zero it before use. */
struct arena {
	struct arena_chunk *chunks;
};

/* arena_keep - a copy of bytes with a NUL behind it. Return: NULL: no memory. */
char *arena_keep(struct arena *arena, const void *data, size_t bytes);

void arena_free(struct arena *arena);

#endif
