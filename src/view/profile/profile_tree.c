/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Trees of calls. Stacks share their outer frames, and a caller's number is smaller than its frame's. So the node of each
 * stack entry is cached: it is looked up once for each root.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "view/profile/profile_view.h"
#include "view/symbol_label.h"

/* The node of a stack entry under the root that used it last. */
struct memo {
	uint32_t root, node;
};

struct tree_builder {
	struct view_tree *tree;
	struct memo *memo;   /* by number of the stack */
	uint32_t *path;	     /* of a stack's frames that have no node yet */
	uint32_t *keys;	     /* of a stack */
	unsigned char *fits; /* by key, whether the symbol option selects it: 0 unknown, 1 no, 2 yes */
	size_t fits_room;
};

/* Finds or adds a child. Return: its number; 0: no memory. */
static uint32_t child_of(struct view_tree *tree, uint32_t parent, unsigned part, uint32_t key)
{
	const uint64_t hash = hash_pair((uint64_t)parent << 32 | key, part);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&tree->numbers, hash, &at));) {
		const struct view_node *node = &tree->nodes[number];

		if (node->parent == parent && node->part == part && node->key == key)
			return number;
	}
	if (!array_reserve(tree->nodes, tree->room, (size_t)tree->count + 1) ||
	    !hash_table_reserve(&tree->numbers))
		return 0;
	hash_table_add(&tree->numbers, hash, tree->count);
	tree->nodes[tree->count] = (struct view_node){ .parent = parent, .part = part, .key = key };
	return tree->count++;
}

/* Finds or adds the node of a whole stack under a root. Return: the node; 0: no memory. */
static uint32_t whole_stack(struct tree_builder *builder, uint32_t root, uint32_t number)
{
	struct view_tree *tree = builder->tree;
	struct burin_stack stack;
	uint32_t node = root, depth = 0, count;
	const uint32_t *keys;

	if (burin_profile_stack(tree->keys->profile, number, &stack)) {
		keys = view_keys_of(tree->keys, 0, &count);
		return count ? child_of(tree, root, VIEW_SYMBOL, keys[0]) : 0;
	}
	for (; !burin_profile_stack(tree->keys->profile, number, &stack); number = stack.caller) {
		if (builder->memo[number].node && builder->memo[number].root == root) {
			node = builder->memo[number].node;
			break;
		}
		builder->path[depth++] = number;
	}
	/* From the outermost frame without a node inwards; of a location, from its outermost function. */
	while (depth--) {
		burin_profile_stack(tree->keys->profile, builder->path[depth], &stack);
		keys = view_keys_of(tree->keys, stack.location, &count);
		for (uint32_t n = count; n--;) {
			node = child_of(tree, node, VIEW_SYMBOL, keys[n]);
			if (!node)
				return 0;
		}
		builder->memo[builder->path[depth]] = (struct memo){ root, node };
	}
	return node;
}

static bool key_fits(struct tree_builder *builder, uint32_t key, const char *symbol)
{
	const char *name = view_key_text(builder->tree->keys, key, VIEW_SYMBOL);

	if (!array_reserve_zeroed(builder->fits, builder->fits_room, (size_t)key + 1))
		return view_symbol_fits(symbol, name);
	if (!builder->fits[key])
		builder->fits[key] = view_symbol_fits(symbol, name) ? 2 : 1;
	return builder->fits[key] == 2;
}

/* The same for the part of a stack from its outermost frame of a symbol, inwards or outwards. *found: it has one. */
static uint32_t part_of_stack(struct tree_builder *builder, const struct view_tree_options *options,
			      uint32_t root, uint32_t number, bool *found)
{
	struct view_tree *tree = builder->tree;
	uint32_t count = view_keys_of_stack(tree->keys, number, builder->keys), at = count, node = root;

	*found = false;
	while (at && !*found)
		*found = key_fits(builder, builder->keys[--at], options->symbol);
	if (!*found)
		return 0;
	if (options->direction == VIEW_CALLEES) {
		for (uint32_t n = at + 1; n--;) {
			node = child_of(tree, node, VIEW_SYMBOL, builder->keys[n]);
			if (!node)
				return 0;
		}
	} else {
		for (; at < count; at++) {
			node = child_of(tree, node, VIEW_SYMBOL, builder->keys[at]);
			if (!node)
				return 0;
		}
	}
	return node;
}

/* Finds or adds the root of a task's nodes. Return: whether there was memory. */
static bool root_of(struct view_tree *tree, const struct view_profile *counted, uint32_t task, unsigned roots,
		    uint32_t *root)
{
	*root = 0;
	if (roots & 1 << VIEW_PROGRAM) {
		*root = child_of(tree, *root, VIEW_PROGRAM,
				 view_string(&tree->keys->strings, view_program(counted->profile, task)));
		if (!*root)
			return false;
	}
	if (roots & 1 << VIEW_THREAD) {
		*root = child_of(tree, *root, VIEW_THREAD,
				 view_string(&tree->keys->strings, view_thread(counted->profile, task)));
		if (!*root)
			return false;
	}
	return true;
}

/* The pairs of a task, and the root of their nodes. */
struct task {
	uint32_t root;
	const struct view_pair *first, *end;
};

static int by_root(const void *a, const void *b)
{
	const struct task *one = a, *other = b;

	return number_order(one->root, other->root) ?: number_order(one->first, other->first);
}

/* The tasks with pairs, sorted by root, since the cache of stacks holds one root at a time. NULL: no memory. */
static struct task *tasks_of(struct view_tree *tree, const struct view_profile *counted, unsigned roots,
			     size_t *count)
{
	const struct view_pair *pair = counted->pairs, *end = pair + counted->pair_count;
	struct task *tasks = calloc(view_profile_tasks(counted) + 1, sizeof(*tasks));

	*count = 0;
	while (tasks && pair < end) {
		struct task *task = &tasks[(*count)++];

		*task = (struct task){ .first = pair, .end = pair };
		if (!root_of(tree, counted, pair->task, roots, &task->root)) {
			free(tasks);
			return NULL;
		}
		while (task->end < end && task->end->task == pair->task)
			task->end++;
		pair = task->end;
	}
	if (tasks)
		qsort(tasks, *count, sizeof(*tasks), by_root);
	return tasks;
}

static int profile_tree_add_task(struct tree_builder *builder, const struct task *task,
				 const struct view_tree_options *options)
{
	struct view_tree *tree = builder->tree;

	for (const struct view_pair *pair = task->first; pair < task->end; pair++) {
		bool found = true;
		uint32_t node;

		if (options->direction == VIEW_WHOLE)
			node = whole_stack(builder, task->root, pair->stack);
		else
			node = part_of_stack(builder, options, task->root, pair->stack, &found);
		if (view_keys_failed(tree->keys) || (!node && found))
			return -ENOMEM;
		if (found)
			view_cost_add(&tree->nodes[node].self, pair);
	}
	return 0;
}

static int profile_tree_add_pairs(struct tree_builder *builder, const struct view_profile *counted,
				  const struct view_tree_options *options)
{
	size_t count = 0;
	struct task *tasks = tasks_of(builder->tree, counted, options->roots, &count);
	int result = tasks ? 0 : -ENOMEM;

	for (size_t n = 0; n < count && !result; n++)
		result = profile_tree_add_task(builder, &tasks[n], options);
	free(tasks);
	return result;
}

/* A parent's number is smaller than its children's, so one backward pass computes all totals. */
static void profile_tree_sum_up(struct view_tree *tree)
{
	for (uint32_t n = tree->count; n--;) {
		struct view_node *node = &tree->nodes[n];

		node->total.all += node->self.all;
		node->total.waited += node->self.waited;
		if (n) {
			tree->nodes[node->parent].total.all += node->total.all;
			tree->nodes[node->parent].total.waited += node->total.waited;
		}
	}
}

struct sibling {
	uint64_t total;
	uint32_t node, parent;
};

static int by_parent(const void *a, const void *b)
{
	const struct sibling *one = a, *other = b;

	return number_order(one->parent, other->parent) ?:
	       number_order(other->total, one->total) ?:
	       number_order(one->node, other->node);
}

/* Links the children of each node, largest total first. */
static int link_children(struct view_tree *tree)
{
	struct sibling *siblings = calloc(tree->count, sizeof(*siblings));

	if (!siblings)
		return -ENOMEM;
	for (uint32_t n = 1; n < tree->count; n++)
		siblings[n - 1] = (struct sibling){ tree->nodes[n].total.all, n, tree->nodes[n].parent };
	qsort(siblings, tree->count - 1, sizeof(*siblings), by_parent);
	for (uint32_t n = tree->count - 1; n--;) {
		tree->nodes[siblings[n].node].next = tree->nodes[siblings[n].parent].child;
		tree->nodes[siblings[n].parent].child = siblings[n].node;
	}
	free(siblings);
	return 0;
}

int view_tree_make(struct view_tree *tree, struct view_keys *keys, const struct view_profile *counted,
		   const struct view_tree_options *options)
{
	struct tree_builder builder = { .tree = tree };
	int result;

	*tree = (struct view_tree){ .keys = keys };
	result = array_reserve(tree->nodes, tree->room, 1) ? 0 : -ENOMEM;
	builder.memo = calloc((size_t)burin_profile_stacks(counted->profile) + 1, sizeof(*builder.memo));
	builder.path = calloc(VIEW_STACK_KEYS_MAX, sizeof(*builder.path));
	builder.keys = calloc(VIEW_STACK_KEYS_MAX, sizeof(*builder.keys));
	if (!result && (!builder.memo || !builder.path || !builder.keys))
		result = -ENOMEM;
	if (!result) {
		tree->nodes[tree->count++] = (struct view_node){ .part = VIEW_PARTS };
		result = profile_tree_add_pairs(&builder, counted, options);
	}
	free(builder.fits);
	free(builder.memo);
	free(builder.path);
	free(builder.keys);
	if (!result) {
		profile_tree_sum_up(tree);
		result = link_children(tree);
	}
	if (result)
		view_tree_free(tree);
	return result;
}

void view_tree_free(struct view_tree *tree)
{
	free(tree->nodes);
	hash_table_free(&tree->numbers);
	*tree = (struct view_tree){ .count = 0 };
}

const char *view_node_text(const struct view_tree *tree, uint32_t node)
{
	const struct view_node *at = &tree->nodes[node];

	if (at->part == VIEW_SYMBOL)
		return view_key_text(tree->keys, at->key, VIEW_SYMBOL);
	return at->part == VIEW_PARTS ? "all" : tree->keys->strings.texts[at->key];
}
