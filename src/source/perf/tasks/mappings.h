/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The executable mappings of one address space, by address, without overlaps.
 *
 * The kernel reports no munmap. A later mapping replaces the mappings below it.
 *
 * They are the nodes of a treap: a search tree by address that is also a heap by a random number of each node. So its depth
 * is logarithmic for any order of mappings. A fork shares the nodes; a change copies the shared nodes on its path. Recently
 * found mappings are cached by address: most look-ups are for few addresses, and do not descend the tree.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_MAPPINGS_H
#define BURIN_SOURCE_PERF_TASKS_MAPPINGS_H

#include <stdint.h>

#include "source/perf/tasks/images.h"

enum {
	MAPPINGS_RECENT = 32,
	MAPPINGS_MAX = 1 << 18,	      /* of one address space */
	MAPPINGS_NODES_MAX = 1 << 22, /* of all together: 256 MiB */
};

struct mapping {
	uint64_t begin, end;
	uint64_t offset; /* in the image, of `begin` */
	struct sample_image *image;
};

struct mapping_node;

struct mappings {
	struct mapping_node *root;
	unsigned count;
	const struct mapping *recent[MAPPINGS_RECENT]; /* by address; NULL: none */
};

/*
 * mappings_add - add a mapping, which replaces what it overlaps.
 * Return: 0; -ENOMEM: no memory, or MAPPINGS_MAX or MAPPINGS_NODES_MAX is reached; nothing has changed.
 */
int mappings_add(struct mappings *mappings, const struct mapping *mapping);

/* mappings_fill - add the parts of a mapping that overlap no other. Return: 0 or -ENOMEM. */
int mappings_fill(struct mappings *mappings, const struct mapping *mapping);

/* mappings_find - the mapping at an address; NULL: none. Valid until the mappings change. */
const struct mapping *mappings_find(struct mappings *mappings, uint64_t address);

/* mappings_copy - copy by sharing nodes; later changes of one do not affect the other. */
void mappings_copy(struct mappings *to, const struct mappings *from);

void mappings_clear(struct mappings *mappings);

/* mappings_in_use - nodes of all address spaces, of MAPPINGS_NODES_MAX. */
unsigned mappings_in_use(void);

/* mappings_depth - of the tree; for tests. */
unsigned mappings_depth(const struct mappings *mappings);

#endif
