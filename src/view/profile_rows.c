/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows: self and total of what was asked for. A pair's task decides program and thread, its stack the rest. A row
 * has a sample's weight in its total once, however often it is in the stack: recursion counts once.
 *
 * The stacks of a group, that is of a program or thread, or all, make a tree: each frame hangs below its caller. Then
 * the tree is walked once, summing up; a key counts where it is outermost. So it does not matter how deep stacks are.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/profile.h"

/* The pairs of a task, and the strings that it decides. */
struct grouped {
	uint32_t program, thread;
	const struct view_pair *first, *end;
};

/* Where the row of a key is, for the group that last had one, counted from 1. */
struct place_of_key {
	size_t row;
	uint32_t group;
	uint32_t open; /* how often it is on the way from the root to the frame at hand */
};

/* A frame of the group's stacks; number 0 is the root. */
struct node {
	uint32_t caller, child, next; /* nodes; 0: none */
	uint32_t first, count; /* its keys; of a mark, which is where a stack is cut and no function, none */
	uint64_t samples;      /* of self */
	struct view_cost self,
		total; /* of stacks that end here; when the walk leaves it, of those that go on too */
};

/* The node of a stack's entry in the group that last had one. */
struct place_of_stack {
	uint32_t group, node;
};

struct making {
	struct view_rows *rows;
	struct place_of_key *keys;
	size_t key_room;
	struct place_of_stack *stacks; /* by number; 0: samples without a stack */
	struct node *nodes;
	uint32_t node_count, node_room;
	uint32_t group;
};

static int by_group(const void *a, const void *b)
{
	const struct grouped *one = a, *other = b;

	if (one->program != other->program)
		return one->program < other->program ? -1 : 1;
	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return (one->first > other->first) - (one->first < other->first);
}

static int by_self(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	if (one->self.all != other->self.all)
		return one->self.all > other->self.all ? -1 : 1;
	if (one->total.all != other->total.all)
		return one->total.all > other->total.all ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

static struct view_row *row_of(struct making *making, const struct grouped *grouped, uint32_t key)
{
	struct view_rows *rows = making->rows;
	struct place_of_key *place;

	if (key >= making->key_room) {
		size_t room = 2 * (size_t)key + 64;
		struct place_of_key *keys = reallocarray(making->keys, room, sizeof(*keys));

		if (!keys)
			return NULL;
		for (size_t n = making->key_room; n < room; n++)
			keys[n] = (struct place_of_key){ .row = 0 };
		making->keys = keys;
		making->key_room = room;
	}
	place = &making->keys[key];
	if (place->group == making->group)
		return &rows->rows[place->row];
	if (rows->count == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 256;
		struct view_row *more = reallocarray(rows->rows, room, sizeof(*more));

		if (!more)
			return NULL;
		rows->rows = more;
		rows->room = room;
	}
	place->group = making->group;
	place->row = rows->count;
	rows->rows[rows->count] =
		(struct view_row){ .program = grouped->program, .thread = grouped->thread, .key = key };
	return &rows->rows[rows->count++];
}

/* Return: 0 or -ENOMEM. */
static int node_add(struct making *making, uint32_t first, uint32_t count)
{
	if (making->node_count == making->node_room) {
		uint32_t room = making->node_room ? 2 * making->node_room : 1024;
		struct node *nodes = reallocarray(making->nodes, room, sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		making->nodes = nodes;
		making->node_room = room;
	}
	making->nodes[making->node_count++] = (struct node){ .first = first, .count = count };
	return 0;
}

/* A frame that the group has not had yet, and rows for its keys; 0: no memory. */
static uint32_t node_new(struct making *making, const struct grouped *grouped, uint32_t place)
{
	struct view_keys *keys = &making->rows->keys;
	uint32_t count, first = (uint32_t)(view_keys_of(keys, place, &count) - keys->lists);

	if (keys->failed)
		return 0;
	if (keys->cut[keys->lists[first]])
		count = 0;
	for (uint32_t n = 0; n < count; n++) {
		if (!row_of(making, grouped, keys->lists[first + n]))
			return 0;
	}
	return node_add(making, first, count) ? 0 : making->node_count - 1;
}

static void hang(struct making *making, uint32_t node, uint32_t caller)
{
	making->nodes[node].caller = caller;
	making->nodes[node].next = making->nodes[caller].child;
	making->nodes[caller].child = node;
}

/* The node of a stack, new or known, as are those of its callers; 0: no memory. */
static uint32_t node_of(struct making *making, const struct grouped *grouped, uint32_t number)
{
	const struct burin_profile *profile = making->rows->keys.profile;
	uint32_t innermost = 0, inner = 0;

	number = number <= burin_profile_stacks(profile) ? number : 0;
	do {
		struct place_of_stack *known = &making->stacks[number];
		struct burin_stack stack = { .place = 0 };
		bool fresh = known->group != making->group;

		if (fresh) {
			burin_profile_stack(profile, number, &stack);
			*known = (struct place_of_stack){ making->group,
							  node_new(making, grouped, stack.place) };
		}
		if (!known->node)
			return 0;
		if (inner)
			hang(making, inner, known->node);
		innermost = innermost ? innermost : known->node;
		if (!fresh)
			return innermost;
		inner = known->node;
		number = stack.caller;
	} while (number);
	hang(making, inner, 0);
	return innermost;
}

static int add_pair(struct making *making, const struct grouped *grouped, const struct view_pair *pair)
{
	uint32_t node = node_of(making, grouped, pair->stack), own = node;

	if (pair->state == VIEW_WAITING)
		own = node_of(making, grouped, view_own_frame(making->rows->keys.profile, pair));
	if (!node || !own)
		return -ENOMEM;
	view_cost_add(&making->nodes[node].total, pair);
	view_cost_add(&making->nodes[own].self, pair);
	making->nodes[own].samples += pair->samples;
	return 0;
}

static void enter_node(struct making *making, const struct node *node)
{
	const uint32_t *list = making->rows->keys.lists + node->first;

	for (uint32_t n = 0; n < node->count; n++)
		making->keys[list[n]].open++;
}

static void add_cost(struct view_cost *cost, const struct view_cost *more)
{
	cost->all += more->all;
	cost->waited += more->waited;
}

static void leave_node(struct making *making, const struct node *node)
{
	const uint32_t *list = making->rows->keys.lists + node->first;

	for (uint32_t n = 0; n < node->count; n++) {
		const struct place_of_key *key = &making->keys[list[n]];

		if (!--making->keys[list[n]].open)
			add_cost(&making->rows->rows[key->row].total, &node->total);
	}
	add_cost(&making->nodes[node->caller].total, &node->total);
}

/* What the frames cost themselves. Where there is nothing else, a mark counts. */
static int add_selves(struct making *making, const struct grouped *grouped)
{
	for (uint32_t n = 1; n < making->node_count; n++) {
		const struct node *node = &making->nodes[n];
		struct view_row *row;

		if (!node->samples)
			continue;
		row = row_of(making, grouped, making->rows->keys.lists[node->first]);
		if (!row)
			return -ENOMEM;
		add_cost(&row->self, &node->self);
		row->samples += node->samples;
		if (!node->count)
			add_cost(&row->total, &node->self);
	}
	return 0;
}

/* The group's frames, when they are all there. */
static int sum_up(struct making *making, const struct grouped *grouped)
{
	const struct node *nodes = making->nodes;

	for (uint32_t at = nodes->child; at;) {
		enter_node(making, &nodes[at]);
		if (nodes[at].child) {
			at = nodes[at].child;
			continue;
		}
		leave_node(making, &nodes[at]);
		while (at && !nodes[at].next) {
			at = nodes[at].caller;
			if (at)
				leave_node(making, &nodes[at]);
		}
		at = nodes[at].next;
	}
	return add_selves(making, grouped);
}

static struct grouped *group(struct view_rows *rows, const struct view_profile *counted, unsigned parts,
			     size_t *count)
{
	const struct view_pair *pair = counted->pairs, *end = pair + counted->pair_count;
	struct grouped *grouped = calloc(view_profile_tasks(counted) + 1, sizeof(*grouped));

	*count = 0;
	while (grouped && pair < end) {
		struct grouped *task = &grouped[(*count)++];

		task->first = pair;
		if (parts & 1 << VIEW_PROGRAM)
			task->program =
				view_string(&rows->keys.strings, view_program(counted->profile, pair->task));
		if (parts & 1 << VIEW_THREAD)
			task->thread =
				view_string(&rows->keys.strings, view_thread(counted->profile, pair->task));
		while (pair < end && pair->task == task->first->task)
			pair++;
		task->end = pair;
	}
	if (grouped)
		qsort(grouped, *count, sizeof(*grouped), by_group);
	return grouped;
}

/* The group that begins with a task; *end: where the next begins. */
static int add_group(struct making *making, const struct grouped *first, const struct grouped **end)
{
	const struct grouped *task = first;
	int result;

	making->group++;
	making->node_count = 0;
	result = node_add(making, 0, 0);
	for (; task < *end && task->program == first->program && task->thread == first->thread; task++) {
		for (const struct view_pair *pair = task->first; pair < task->end && !result; pair++)
			result = add_pair(making, first, pair);
	}
	*end = task;
	return result ? result : sum_up(making, first);
}

int view_rows_make(struct view_rows *rows, const struct view_profile *counted, unsigned parts)
{
	struct making making = { .rows = rows };
	struct grouped *grouped = NULL;
	size_t count;
	int result;

	*rows = (struct view_rows){ .count = 0 };
	making.stacks = calloc((size_t)burin_profile_stacks(counted->profile) + 1, sizeof(*making.stacks));
	result = view_keys_make(&rows->keys, counted->profile, parts);
	if (!result) {
		grouped = group(rows, counted, parts, &count);
		result = grouped && making.stacks ? 0 : -ENOMEM;
	}
	for (const struct grouped *task = grouped, *end; !result && task < grouped + count; task = end) {
		end = grouped + count;
		result = add_group(&making, task, &end);
	}
	free(grouped);
	free(making.keys);
	free(making.stacks);
	free(making.nodes);
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_self);
	if (result)
		view_rows_free(rows);
	return result;
}

void view_rows_free(struct view_rows *rows)
{
	view_keys_free(&rows->keys);
	free(rows->rows);
	*rows = (struct view_rows){ .count = 0 };
}

const char *view_row_text(const struct view_rows *rows, const struct view_row *row, enum view_part part)
{
	if (part == VIEW_PROGRAM)
		return rows->keys.strings.texts[row->program];
	if (part == VIEW_THREAD)
		return rows->keys.strings.texts[row->thread];
	return view_key_text(&rows->keys, row->key, part);
}
