/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks, each stored once, in a tree of frames: a node's parent is its caller. A stack's number is that of its innermost
 * frame's node, which is an entry of the table of stacks.
 */
#ifndef BURIN_SOURCE_PERF_STACKS_STACKS_H
#define BURIN_SOURCE_PERF_STACKS_STACKS_H

#include <stdint.h>

#include "base/containers/hash_table.h"
#include "writer/table_writer.h"
#include "wire/wire_profile.h"

/* A location in an image; image 0: a truncation mark, `offset` is an enum wire_truncation. */
struct sample_frame {
	uint32_t image;
	uint64_t offset;
};

struct stacks_node {
	uint32_t caller; /* number of its node; 0: none */
	uint32_t image;
	uint64_t offset;
};

struct stacks {
	struct stacks_node *nodes; /* with the numbers 1, 2, ... */
	size_t node_room;
	uint32_t count;
	struct hash_table numbers;
	struct table_writer *table;
};

/* stacks_init - @table: the caller's; must live as long as @stacks */
void stacks_init(struct stacks *stacks, struct table_writer *table);

/*
 * stacks_intern - find a stack's number; a new stack is added.
 * @frames: the innermost first
 * Return: the number; 0: no frames, no memory, or a write error (->table->error).
 */
uint32_t stacks_intern(struct stacks *stacks, const struct sample_frame *frames, unsigned count);

/* stacks_find - the number of a stack that was added before; 0: it was not */
uint32_t stacks_find(const struct stacks *stacks, const struct sample_frame *frames, unsigned count);

/* stacks_copy - add a stack of another tree, @number there. Return: as stacks_intern(). */
uint32_t stacks_copy(struct stacks *stacks, const struct stacks *from, uint32_t number);

void stacks_free(struct stacks *stacks);

#endif
