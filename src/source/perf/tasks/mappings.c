/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The treap of mappings; see mappings.h and decision 0023.
 *
 * A node is a mapping; nodes are ordered by address, and do not overlap. Priorities are random, so the tree
 * is shallow in whatever order a process maps.
 *
 * Address spaces share nodes: a fork is one more use of the root. A node that has one use, from a root down,
 * belongs to one tree and may be changed; own_path() copies the others on the way to an address. So a change
 * copies as many nodes as the tree is deep, and the child of a process with 100,000 mappings costs nothing
 * until it maps.
 *
 * mappings_add() is split, split, join: before, under and behind the new mapping. All that can fail happens
 * first (two nodes, two paths); the rest cannot, so a tree is never half changed.
 *
 * ->recent has pointers to nodes by address, which makes most look-ups one comparison. Each change of the
 * tree clears it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "source/perf/tasks/mappings.h"

struct mapping_node {
	struct mapping mapping;
	struct mapping_node *left, *right;
	uint32_t priority; /* no node's is higher than its parent's */
	uint32_t uses;	   /* references from roots and parents */
};

static uint32_t nodes; /* in use, of all address spaces */

/* Random, or a process could choose its mappings so that the tree becomes deep. */
static uint32_t random_priority(void)
{
	static uint64_t state;

	while (!state)
		if (getrandom(&state, sizeof(state), GRND_NONBLOCK) != sizeof(state))
			state = (uintptr_t)&state | 1;
	state ^= state << 13; /* xorshift64 */
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

/* Each node counts for its image. */
static void mappings_fill_node(struct mapping_node *node, const struct mapping *mapping)
{
	if (mapping->image)
		mapping->image->mappings++;
	if (node->mapping.image)
		node->mapping.image->mappings--;
	node->mapping = *mapping;
}

static struct mapping_node *mappings_make(const struct mapping *mapping)
{
	struct mapping_node *node = nodes < MAPPINGS_NODES_MAX ? malloc(sizeof(*node)) : NULL;

	if (!node)
		return NULL;
	*node = (struct mapping_node){ .priority = random_priority(), .uses = 1 };
	mappings_fill_node(node, mapping);
	nodes++;
	return node;
}

/* Drop a reference to a tree. */
static void mappings_drop(struct mapping_node *node)
{
	while (node && --node->uses == 0) {
		struct mapping_node *right = node->right;

		mappings_drop(node->left); /* recursion as deep as the tree: logarithmic */
		if (node->mapping.image)
			node->mapping.image->mappings--;
		free(node);
		nodes--;
		node = right;
	}
}

/* ---- finding */

static const struct mapping **recent_of(struct mappings *mappings, uint64_t address)
{
	return &mappings->recent[(address >> 16 ^ address >> 21) % MAPPINGS_RECENT];
}

static bool mappings_has(const struct mapping *mapping, uint64_t address)
{
	return mapping && mapping->begin <= address && address < mapping->end;
}

/* The first mapping that ends behind an address. */
static const struct mapping *first_behind(const struct mappings *mappings, uint64_t address)
{
	const struct mapping_node *node = mappings->root;
	const struct mapping *found = NULL;

	while (node) {
		if (node->mapping.end > address) {
			found = &node->mapping;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return found;
}

const struct mapping *mappings_find(struct mappings *mappings, uint64_t address)
{
	const struct mapping **recent = recent_of(mappings, address), *found = *recent;

	if (mappings_has(found, address))
		return found;
	found = first_behind(mappings, address);
	if (!mappings_has(found, address))
		return NULL;
	*recent = found;
	return found;
}

/* ---- changing */

/* Copy shared nodes on the path to an address. Return: false: no memory; the tree has the same mappings as before. */
static bool own_path(struct mappings *mappings, uint64_t address)
{
	struct mapping_node **link = &mappings->root;

	for (; *link; link = (*link)->mapping.end > address ? &(*link)->left : &(*link)->right) {
		struct mapping_node *node = *link, *copy;

		if (node->uses == 1)
			continue;
		copy = mappings_make(&node->mapping);
		if (!copy)
			return false;
		copy->priority = node->priority;
		copy->left = node->left;
		copy->right = node->right;
		if (copy->left)
			copy->left->uses++;
		if (copy->right)
			copy->right->uses++;
		node->uses--; /* other trees still use it */
		*link = copy;
	}
	return true;
}

/* Split a tree at an address, to which own_path() was called: mappings that end there or before, and the others. */
static void mappings_split(struct mapping_node *node, uint64_t address, struct mapping_node **before,
			   struct mapping_node **behind)
{
	while (node) {
		if (node->mapping.end > address) {
			*behind = node;
			behind = &node->left;
			node = node->left;
		} else {
			*before = node;
			before = &node->right;
			node = node->right;
		}
	}
	*before = *behind = NULL;
}

/* Join two trees, the first before the second. The paths along the seam must not be shared. */
static struct mapping_node *mappings_join(struct mapping_node *before, struct mapping_node *behind)
{
	struct mapping_node *root, **link = &root;

	while (before && behind) {
		if (before->priority > behind->priority) {
			*link = before;
			link = &before->right;
			before = before->right;
		} else {
			*link = behind;
			link = &behind->left;
			behind = behind->left;
		}
	}
	*link = before ? before : behind;
	return root;
}

static struct mapping_node *first_of(struct mapping_node *node)
{
	while (node && node->left)
		node = node->left;
	return node;
}

static unsigned mappings_count_of(const struct mapping_node *node)
{
	unsigned count = 0;

	for (; node; node = node->right)
		count += 1 + mappings_count_of(node->left);
	return count;
}

/*
 * Split the tree in three: mappings that end before the new one, those that it covers, and those that end behind it. The
 * second part (or else the third) may begin before the new one: that piece stays, as @front. The third loses its overlap.
 */
static void mappings_replace(struct mappings *mappings, struct mapping_node *node, struct mapping_node *front)
{
	struct mapping *const mapping = &node->mapping;
	struct mapping_node *before, *under, *behind, *next;

	mappings_split(mappings->root, mapping->begin, &before, &behind);
	mappings_split(behind, mapping->end, &under, &behind);
	next = first_of(under);
	if (!next)
		next = first_of(behind);
	if (next && next->mapping.begin < mapping->begin) {
		mappings_fill_node(front, &next->mapping);
		front->mapping.end = mapping->begin;
		before = mappings_join(before, front);
		mappings->count++;
	} else {
		mappings_drop(front);
	}
	next = first_of(behind);
	if (next && next->mapping.begin < mapping->end) {
		next->mapping.offset += mapping->end - next->mapping.begin;
		next->mapping.begin = mapping->end;
	}
	mappings->count += 1 - mappings_count_of(under);
	mappings_drop(under);
	mappings->root = mappings_join(mappings_join(before, node), behind);
}

int mappings_add(struct mappings *mappings, const struct mapping *mapping)
{
	struct mapping_node *node, *front;

	if (mapping->begin >= mapping->end)
		return 0;
	memset(mappings->recent, 0, sizeof(mappings->recent));
	if (mappings->count >= MAPPINGS_MAX)
		return -ENOMEM;
	node = mappings_make(mapping);
	front = mappings_make(mapping);
	if (!node || !front || !own_path(mappings, mapping->begin) || !own_path(mappings, mapping->end)) {
		mappings_drop(node);
		mappings_drop(front);
		return -ENOMEM;
	}
	mappings_replace(mappings, node, front);
	return 0;
}

int mappings_fill(struct mappings *mappings, const struct mapping *mapping)
{
	uint64_t at = mapping->begin;
	int error = 0;

	while (!error && at < mapping->end) {
		const struct mapping *next = first_behind(mappings, at);
		struct mapping part = *mapping;
		const uint64_t behind = next && next->begin < mapping->end ? next->end : mapping->end;

		part.begin = at;
		part.offset = mapping->offset + (at - mapping->begin);
		if (next && next->begin < part.end)
			part.end = next->begin;
		error = mappings_add(mappings, &part);
		at = behind;
	}
	return error;
}

void mappings_copy(struct mappings *to, const struct mappings *from)
{
	*to = (struct mappings){ .root = from->root, .count = from->count };
	if (to->root)
		to->root->uses++;
}

void mappings_clear(struct mappings *mappings)
{
	mappings_drop(mappings->root);
	*mappings = (struct mappings){ 0 };
}

unsigned mappings_in_use(void)
{
	return nodes;
}

static unsigned mappings_depth_of(const struct mapping_node *node)
{
	const unsigned left = node ? mappings_depth_of(node->left) : 0,
		       right = node ? mappings_depth_of(node->right) : 0;

	return node ? 1 + (left > right ? left : right) : 0;
}

unsigned mappings_depth(const struct mappings *mappings)
{
	return mappings_depth_of(mappings->root);
}
