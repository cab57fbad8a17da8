/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Trees of calls. Stacks share their outer frames, and a caller's number is smaller than that of its frame: so the
 * node of a stack's frame is remembered, and each frame is looked up once for each root.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/profile.h"
#include "view/symbol.h"

/* The node of a frame under the root at hand. */
struct memo {
	uint32_t root, node;
};

struct growing {
	struct view_tree *tree;
	struct memo *memo;   /* by number of the frame */
	uint32_t *path;	     /* of a stack's frames that have no node yet */
	uint32_t *keys;	     /* of a stack */
	unsigned char *fits; /* by key, whether it is the symbol that is asked for: 0 unknown, 1 no, 2 yes */
	uint32_t fits_room;
};

static size_t node_hash(uint32_t parent, unsigned part, uint32_t key)
{
	uint64_t hash = ((uint64_t)parent << 32 | key) * UINT64_C(0x9e3779b97f4a7c15) + part;

	hash *= UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

static int grow(struct view_tree *tree)
{
	uint32_t room = tree->room ? 2 * tree->room : 1024;
	struct view_node *nodes = reallocarray(tree->nodes, room, sizeof(*nodes));
	uint32_t *index;

	if (!nodes)
		return -ENOMEM;
	tree->nodes = nodes;
	index = calloc(2 * (size_t)room, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(tree->index);
	tree->index = index;
	tree->index_room = 2 * (size_t)room;
	tree->room = room;
	for (uint32_t n = 1; n < tree->count; n++) {
		size_t at = node_hash(nodes[n].parent, nodes[n].part, nodes[n].key) & (tree->index_room - 1);

		while (index[at])
			at = (at + 1) & (tree->index_room - 1);
		index[at] = n;
	}
	return 0;
}

/* The child of a node, new or known; 0: no memory. */
static uint32_t child_of(struct view_tree *tree, uint32_t parent, unsigned part, uint32_t key)
{
	size_t at;

	if (tree->count == tree->room && grow(tree))
		return 0;
	for (at = node_hash(parent, part, key) & (tree->index_room - 1); tree->index[at];
	     at = (at + 1) & (tree->index_room - 1)) {
		const struct view_node *node = &tree->nodes[tree->index[at]];

		if (node->parent == parent && node->part == part && node->key == key)
			return tree->index[at];
	}
	tree->index[at] = tree->count;
	tree->nodes[tree->count] = (struct view_node){ .parent = parent, .part = part, .key = key };
	return tree->count++;
}

/* The node of a whole stack under a root; 0: no memory. */
static uint32_t whole_stack(struct growing *growing, uint32_t root, uint32_t number)
{
	struct view_tree *tree = growing->tree;
	struct burin_stack stack;
	uint32_t node = root, depth = 0, count;
	const uint32_t *keys;

	if (burin_profile_stack(tree->keys->profile, number, &stack)) {
		keys = view_keys_of(tree->keys, 0, &count);
		return count ? child_of(tree, root, VIEW_SYMBOL, keys[0]) : 0;
	}
	for (; !burin_profile_stack(tree->keys->profile, number, &stack); number = stack.caller) {
		if (growing->memo[number].node && growing->memo[number].root == root) {
			node = growing->memo[number].node;
			break;
		}
		growing->path[depth++] = number;
	}
	while (depth--) {
		burin_profile_stack(tree->keys->profile, growing->path[depth], &stack);
		keys = view_keys_of(tree->keys, stack.place, &count);
		for (uint32_t n = count; n--;) {
			node = child_of(tree, node, VIEW_SYMBOL, keys[n]);
			if (!node)
				return 0;
		}
		growing->memo[growing->path[depth]] = (struct memo){ root, node };
	}
	return node;
}

static bool key_fits(struct growing *growing, uint32_t key, const char *symbol)
{
	const char *name = view_key_text(growing->tree->keys, key, VIEW_SYMBOL);

	if (key >= growing->fits_room) {
		uint32_t room = 2 * key + 256;
		unsigned char *more = realloc(growing->fits, room);

		if (!more)
			return view_symbol_fits(symbol, name);
		memset(more + growing->fits_room, 0, room - growing->fits_room);
		growing->fits = more;
		growing->fits_room = room;
	}
	if (!growing->fits[key])
		growing->fits[key] = view_symbol_fits(symbol, name) ? 2 : 1;
	return growing->fits[key] == 2;
}

/* The node of a stack from its outermost frame of a symbol on, inwards or outwards; *found: it has one. */
static uint32_t part_of_stack(struct growing *growing, const struct view_tree_options *options, uint32_t root,
			      uint32_t number, bool *found)
{
	struct view_tree *tree = growing->tree;
	uint32_t count = view_keys_of_stack(tree->keys, number, growing->keys), at = count, node = root;

	*found = false;
	while (at && !*found)
		*found = key_fits(growing, growing->keys[--at], options->symbol);
	if (!*found)
		return 0;
	if (options->direction == VIEW_CALLEES) {
		for (uint32_t n = at + 1; n--;) {
			node = child_of(tree, node, VIEW_SYMBOL, growing->keys[n]);
			if (!node)
				return 0;
		}
	} else {
		for (; at < count; at++) {
			node = child_of(tree, node, VIEW_SYMBOL, growing->keys[at]);
			if (!node)
				return 0;
		}
	}
	return node;
}

static uint32_t root_of(struct view_tree *tree, const struct view_profile *counted, uint32_t task,
			unsigned roots)
{
	uint32_t root = 0;

	if (roots & 1 << VIEW_PROGRAM)
		root = child_of(tree, root, VIEW_PROGRAM,
				view_string(&tree->keys->strings, view_program(counted->profile, task)));
	if (roots & 1 << VIEW_THREAD)
		root = child_of(tree, root, VIEW_THREAD,
				view_string(&tree->keys->strings, view_thread(counted->profile, task)));
	return root;
}

/* The pairs of a task, and the node that they go below. */
struct task {
	uint32_t root;
	const struct view_pair *first, *end;
};

static int by_root(const void *a, const void *b)
{
	const struct task *one = a, *other = b;

	if (one->root != other->root)
		return one->root < other->root ? -1 : 1;
	return (one->first > other->first) - (one->first < other->first);
}

/* The tasks that have pairs, those of a root together: what is remembered of stacks is of one root. */
static struct task *tasks_of(struct view_tree *tree, const struct view_profile *counted, unsigned roots,
			     size_t *count)
{
	const struct view_pair *pair = counted->pairs, *end = pair + counted->pair_count;
	struct task *tasks = calloc(view_profile_tasks(counted) + 1, sizeof(*tasks));

	*count = 0;
	while (tasks && pair < end) {
		struct task *task = &tasks[(*count)++];

		*task = (struct task){ root_of(tree, counted, pair->task, roots), pair, pair };
		while (task->end < end && task->end->task == pair->task)
			task->end++;
		pair = task->end;
	}
	if (tasks)
		qsort(tasks, *count, sizeof(*tasks), by_root);
	return tasks;
}

static int add_task(struct growing *growing, const struct task *task, const struct view_tree_options *options)
{
	struct view_tree *tree = growing->tree;

	for (const struct view_pair *pair = task->first; pair < task->end; pair++) {
		bool found = true;
		uint32_t node;

		if (options->direction == VIEW_WHOLE)
			node = whole_stack(growing, task->root, pair->stack);
		else
			node = part_of_stack(growing, options, task->root, pair->stack, &found);
		if (tree->keys->failed || (!node && found))
			return -ENOMEM;
		if (found)
			view_cost_add(&tree->nodes[node].self, pair);
	}
	return 0;
}

static int add_pairs(struct growing *growing, const struct view_profile *counted,
		     const struct view_tree_options *options)
{
	size_t count;
	struct task *tasks = tasks_of(growing->tree, counted, options->roots, &count);
	int result = tasks ? 0 : -ENOMEM;

	for (size_t n = 0; n < count && !result; n++)
		result = add_task(growing, &tasks[n], options);
	free(tasks);
	return result;
}

/* A parent's number is smaller than its children's, so one pass backwards sums up. */
static void sum_up(struct view_tree *tree)
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

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	return (one->node > other->node) - (one->node < other->node);
}

/* Links the children of each node, those with most first. */
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
	struct growing growing = { .tree = tree };
	int result;

	*tree = (struct view_tree){ .keys = keys };
	result = grow(tree);
	growing.memo = calloc((size_t)burin_profile_stacks(counted->profile) + 1, sizeof(*growing.memo));
	growing.path = calloc(VIEW_STACK_KEYS_MAX, sizeof(*growing.path));
	growing.keys = calloc(VIEW_STACK_KEYS_MAX, sizeof(*growing.keys));
	if (!result && (!growing.memo || !growing.path || !growing.keys))
		result = -ENOMEM;
	if (!result) {
		tree->nodes[tree->count++] = (struct view_node){ .part = VIEW_PARTS };
		result = add_pairs(&growing, counted, options);
	}
	free(growing.fits);
	free(growing.memo);
	free(growing.path);
	free(growing.keys);
	if (!result) {
		sum_up(tree);
		result = link_children(tree);
	}
	if (result)
		view_tree_free(tree);
	return result;
}

void view_tree_free(struct view_tree *tree)
{
	free(tree->nodes);
	free(tree->index);
	*tree = (struct view_tree){ .count = 0 };
}

const char *view_node_text(const struct view_tree *tree, uint32_t node)
{
	const struct view_node *at = &tree->nodes[node];

	if (at->part == VIEW_SYMBOL)
		return view_key_text(tree->keys, at->key, VIEW_SYMBOL);
	return at->part == VIEW_PARTS ? "all" : tree->keys->strings.texts[at->key];
}
