/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks, each kept once: a tree whose nodes are frames, callers being nearer to the root. A stack is named by the node of
 * its innermost frame, which is an entry of the table of stacks.
 */
#ifndef BURIN_SOURCE_SAMPLE_STACKS_H
#define BURIN_SOURCE_SAMPLE_STACKS_H

#include <stdint.h>

#include "drain/interned.h"
#include "wire/profile.h"

/* A place in an image; image 0: a mark, `offset` is an enum wire_cut. */
struct sample_frame {
	uint32_t image;
	uint64_t offset;
};

struct stacks_node {
	uint32_t caller; /* its number; 0: none */
	uint32_t image;
	uint64_t offset;
};

struct stacks {
	struct stacks_node *nodes; /* of number 1, 2, ... */
	uint32_t *slots;	   /* a hash table of numbers; 0: free */
	uint32_t count, node_room, slot_count;
	struct interned *table;
};

/* stacks_init - @table: the caller's, lives as long */
void stacks_init(struct stacks *stacks, struct interned *table);

/*
 * stacks_intern - the number of a stack.
 * @frames: the innermost first
 * Return: 0: there are no frames, or it cannot be had (no memory, ->table->error).
 */
uint32_t stacks_intern(struct stacks *stacks, const struct sample_frame *frames, unsigned count);

void stacks_free(struct stacks *stacks);

#endif
