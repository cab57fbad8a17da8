/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tree of stacks; see stacks.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "source/sample/stacks.h"

enum {
	STACKS_SLOTS_MIN = 1024,
};

void stacks_init(struct stacks *stacks, struct interned *table)
{
	*stacks = (struct stacks){ .table = table };
}

static uint32_t hash_of(const struct stacks_node *node)
{
	uint64_t hash = node->offset * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29 ^ node->caller) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 32 ^ node->image) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(hash >> 32);
}

static bool same(const struct stacks_node *one, const struct stacks_node *other)
{
	return one->caller == other->caller && one->image == other->image && one->offset == other->offset;
}

/* The slot of a node, or the free one where it belongs. There is always a free one. */
static uint32_t *slot_of(const struct stacks *stacks, const struct stacks_node *node)
{
	uint32_t at = hash_of(node) & (stacks->slot_count - 1);

	while (stacks->slots[at] && !same(&stacks->nodes[stacks->slots[at] - 1], node))
		at = (at + 1) & (stacks->slot_count - 1);
	return &stacks->slots[at];
}

/* Slots for twice as many. */
static bool grow_slots(struct stacks *stacks)
{
	const uint32_t count = stacks->slot_count ? 2 * stacks->slot_count : STACKS_SLOTS_MIN;
	uint32_t *slots = calloc(count, sizeof(*slots)), *before = stacks->slots;

	if (!slots)
		return false;
	stacks->slots = slots;
	stacks->slot_count = count;
	for (uint32_t n = 0; n < stacks->count; n++)
		*slot_of(stacks, &stacks->nodes[n]) = n + 1;
	free(before);
	return true;
}

static bool have_room(struct stacks *stacks)
{
	if (stacks->count == stacks->node_room) {
		const uint32_t room = stacks->node_room ? 2 * stacks->node_room : STACKS_SLOTS_MIN / 2;
		struct stacks_node *nodes = realloc(stacks->nodes, room * sizeof(*nodes));

		if (!nodes)
			return false;
		stacks->nodes = nodes;
		stacks->node_room = room;
	}
	return stacks->count < stacks->slot_count / 2 || grow_slots(stacks);
}

static uint32_t intern_node(struct stacks *stacks, const struct stacks_node *node)
{
	uint32_t *slot, number;

	if (!have_room(stacks))
		return 0;
	slot = slot_of(stacks, node);
	if (*slot)
		return *slot;
	number = stacks->count + 1;
	interned_number(stacks->table, node->caller ? number - node->caller : number);
	interned_number(stacks->table, node->image);
	interned_number(stacks->table, node->offset);
	if (interned_end(stacks->table) != number)
		return 0;
	stacks->nodes[stacks->count++] = *node;
	*slot = number;
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

void stacks_free(struct stacks *stacks)
{
	free(stacks->nodes);
	free(stacks->slots);
	*stacks = (struct stacks){ 0 };
}
