/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree of stacks; see stacks.h.
 *
 * A stack is a path from a root, the thread's outermost frame, to a node, its innermost one. Stacks with the
 * same outer frames share these nodes, so a stack is one number, and a new one costs as many entries as it
 * has new inner frames. A look-up in a hash table, once for each frame, finds or makes the node.
 *
 * Nodes are numbered from 1 in the order in which they are made, and node n is entry n of the table `stacks`:
 * a caller has a smaller number than its frame. The entry has the distance to it, which is small and so
 * compresses well; without a caller it is the entry's own number.
 *
 * Only the sampler's thread uses it. Nodes are never removed: the table is append-only, as all that refers to
 * it.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "source/perf/stacks/stacks.h"

void stacks_init(struct stacks *stacks, struct table_writer *table)
{
	*stacks = (struct stacks){ .table = table };
}

static uint64_t stacks_hash_of(const struct stacks_node *node)
{
	return hash_pair(hash_pair(node->caller, node->image), node->offset);
}

static bool stacks_same(const struct stacks_node *one, const struct stacks_node *other)
{
	return one->caller == other->caller && one->image == other->image && one->offset == other->offset;
}

static uint32_t stacks_find_node(const struct stacks *stacks, const struct stacks_node *node, uint64_t hash)
{
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&stacks->numbers, hash, &at));)
		if (stacks_same(&stacks->nodes[number - 1], node))
			break;
	return number;
}

static uint32_t intern_node(struct stacks *stacks, const struct stacks_node *node)
{
	const uint64_t hash = stacks_hash_of(node);
	uint32_t number = stacks_find_node(stacks, node, hash);

	if (number)
		return number;
	if (!hash_table_reserve(&stacks->numbers) ||
	    !array_reserve(stacks->nodes, stacks->node_room, (size_t)stacks->count + 1))
		return 0;
	number = stacks->count + 1;
	table_writer_number(stacks->table, node->caller ? number - node->caller : number);
	table_writer_number(stacks->table, node->image);
	table_writer_number(stacks->table, node->offset);
	/*
	 * Otherwise the numbers here and those in the file would differ from now on. The table has its error,
	 * and nothing is written any more.
	 */
	if (table_writer_end(stacks->table) != number)
		return 0;
	stacks->nodes[stacks->count++] = *node;
	hash_table_add(&stacks->numbers, hash, number);
	return number;
}

uint32_t stacks_intern(struct stacks *stacks, const struct sample_frame *frames, unsigned count)
{
	uint32_t number = 0;

	while (count-- > 0) {
		const struct stacks_node node = { number, frames[count].image, frames[count].offset };

		number = intern_node(stacks, &node);
		if (!number)
			return 0;
	}
	return number;
}

uint32_t stacks_find(const struct stacks *stacks, const struct sample_frame *frames, unsigned count)
{
	uint32_t number = 0;

	while (count-- > 0) {
		const struct stacks_node node = { number, frames[count].image, frames[count].offset };

		number = stacks_find_node(stacks, &node, stacks_hash_of(&node));
		if (!number)
			break;
	}
	return number;
}

uint32_t stacks_copy(struct stacks *stacks, const struct stacks *from, uint32_t number)
{
	struct sample_frame frames[WIRE_DEPTH_MAX + 1];
	unsigned count = 0;

	for (; number && count <= WIRE_DEPTH_MAX; number = from->nodes[number - 1].caller) {
		const struct stacks_node *node = &from->nodes[number - 1];

		frames[count++] = (struct sample_frame){ node->image, node->offset };
	}
	return stacks_intern(stacks, frames, count);
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->nodes);
	hash_table_free(&stacks->numbers);
	*stacks = (struct stacks){ 0 };
}
