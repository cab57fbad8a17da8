/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows: self and total of each combination of parts. A pair's task gives program, thread and their ids, its stack the rest. A
 * sample counts once in a row's total, however often the row's key is in the stack: recursion counts once.
 *
 * The stacks of a group (tasks that do not differ in a selected part) make a tree, in which each frame is below its caller. One walk
 * of the tree computes the totals: a key counts where it is outermost. So the cost does not depend on the depth of stacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "view/profile/profile_view.h"

enum {
	NUMBER_BYTES = 12, /* of a thread's id as text */
};

/* The pairs of a task, and its strings, as in a row. */
struct task_pairs {
	uint32_t parts[VIEW_TASK_PARTS];
	const struct view_pair *first, *end;
};

/* The row of a key in the last group that had one; groups count from 1. */
struct key_row {
	size_t row;
	uint32_t group;
	uint32_t open; /* how often the key is on the path from the root to the current node */
};

/* A frame of the group's stacks; number 0 is the root. */
struct node {
	uint32_t caller, child, next; /* nodes; 0: none */
	uint32_t first, count;	      /* its keys; a mark, where a stack is truncated, has none */
	uint64_t samples;	      /* of self */
	struct view_cost self,
		total; /* of stacks that end here; after the walk also of those that continue */
};

/* The node of a stack in the last group that had one. */
struct stack_node {
	uint32_t group, node;
};

struct row_builder {
	struct view_rows *rows;
	struct key_row *keys;
	size_t key_room;
	struct stack_node *stacks; /* by number; 0: samples without a stack */
	struct node *nodes;
	uint32_t node_count;
	size_t node_room;
	uint32_t group;
};

static int by_group(const void *a, const void *b)
{
	const struct task_pairs *one = a, *other = b;

	for (unsigned n = 0; n < VIEW_TASK_PARTS; n++) {
		if (one->parts[n] != other->parts[n])
			return number_order(one->parts[n], other->parts[n]);
	}
	return number_order(one->first, other->first);
}

static int by_self(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	return number_order(other->self.all, one->self.all) ?:
	       number_order(other->total.all, one->total.all) ?:
	       number_order(one->key, other->key);
}

static struct view_row *row_of(struct row_builder *builder, const struct task_pairs *task, uint32_t key)
{
	struct view_rows *rows = builder->rows;
	struct key_row *entry;

	if (!array_reserve_zeroed(builder->keys, builder->key_room, (size_t)key + 1))
		return NULL;
	entry = &builder->keys[key];
	if (entry->group == builder->group)
		return &rows->rows[entry->row];
	if (!array_reserve(rows->rows, rows->room, rows->count + 1))
		return NULL;
	entry->group = builder->group;
	entry->row = rows->count;
	rows->rows[rows->count] = (struct view_row){ .key = key };
	memcpy(rows->rows[rows->count].task, task->parts, sizeof(task->parts));
	return &rows->rows[rows->count++];
}

/* Return: 0 or -ENOMEM. */
static int node_add(struct row_builder *builder, uint32_t first, uint32_t count)
{
	if (!array_reserve(builder->nodes, builder->node_room, builder->node_count + 1))
		return -ENOMEM;
	builder->nodes[builder->node_count++] = (struct node){ .first = first, .count = count };
	return 0;
}

/* Adds a node for a frame that is new in the group, and rows for its keys. Return: the node; 0: no memory. */
static uint32_t node_new(struct row_builder *builder, const struct task_pairs *task, uint32_t location)
{
	struct view_keys *keys = &builder->rows->keys;
	uint32_t count, first = (uint32_t)(view_keys_of(keys, location, &count) - keys->lists);

	if (view_keys_failed(keys))
		return 0;
	if (keys->truncated[keys->lists[first]])
		count = 0;
	for (uint32_t n = 0; n < count; n++)
		if (!row_of(builder, task, keys->lists[first + n]))
			return 0;
	return node_add(builder, first, count) ? 0 : builder->node_count - 1;
}

static void link_node(struct row_builder *builder, uint32_t node, uint32_t caller)
{
	builder->nodes[node].caller = caller;
	builder->nodes[node].next = builder->nodes[caller].child;
	builder->nodes[caller].child = node;
}

/* Finds or adds the node of a stack, and those of its callers. Return: the node; 0: no memory. */
static uint32_t node_of(struct row_builder *builder, const struct task_pairs *task, uint32_t number)
{
	const struct burin_profile *profile = builder->rows->keys.profile;
	uint32_t innermost = 0, inner = 0;

	number = number <= burin_profile_stacks(profile) ? number : 0;
	do {
		struct stack_node *entry = &builder->stacks[number];
		struct burin_stack stack = { .location = 0 };
		bool fresh = entry->group != builder->group;

		if (fresh) {
			burin_profile_stack(profile, number, &stack);
			*entry = (struct stack_node){ builder->group,
						      node_new(builder, task, stack.location) };
		}
		if (!entry->node)
			return 0;
		if (inner)
			link_node(builder, inner, entry->node);
		innermost = innermost ? innermost : entry->node;
		if (!fresh)
			return innermost;
		inner = entry->node;
		number = stack.caller;
	} while (number);
	link_node(builder, inner, 0);
	return innermost;
}

static int profile_rows_add_pair(struct row_builder *builder, const struct task_pairs *task,
				 const struct view_pair *pair)
{
	uint32_t node = node_of(builder, task, pair->stack), own = node;

	if (pair->state == VIEW_WAITING)
		own = node_of(builder, task, view_own_frame(builder->rows->keys.profile, pair));
	if (!node || !own)
		return -ENOMEM;
	view_cost_add(&builder->nodes[node].total, pair);
	view_cost_add(&builder->nodes[own].self, pair);
	builder->nodes[own].samples += pair->samples;
	return 0;
}

static void enter_node(struct row_builder *builder, const struct node *node)
{
	const uint32_t *list = builder->rows->keys.lists + node->first;

	for (uint32_t n = 0; n < node->count; n++)
		builder->keys[list[n]].open++;
}

static void profile_rows_add_cost(struct view_cost *cost, const struct view_cost *more)
{
	cost->all += more->all;
	cost->waited += more->waited;
}

static void leave_node(struct row_builder *builder, const struct node *node)
{
	const uint32_t *list = builder->rows->keys.lists + node->first;

	for (uint32_t n = 0; n < node->count; n++) {
		const struct key_row *key = &builder->keys[list[n]];

		/* On this path it is the key's outermost frame: its total has each stack below once. */
		if (!--builder->keys[list[n]].open)
			profile_rows_add_cost(&builder->rows->rows[key->row].total, &node->total);
	}
	profile_rows_add_cost(&builder->nodes[node->caller].total, &node->total);
}

/* Adds self costs to the rows. A mark has a row only if samples end there. */
static int add_selves(struct row_builder *builder, const struct task_pairs *task)
{
	for (uint32_t n = 1; n < builder->node_count; n++) {
		const struct node *node = &builder->nodes[n];
		struct view_row *row;

		if (!node->samples)
			continue;
		row = row_of(builder, task, builder->rows->keys.lists[node->first]);
		if (!row)
			return -ENOMEM;
		profile_rows_add_cost(&row->self, &node->self);
		row->samples += node->samples;
		if (!node->count)
			profile_rows_add_cost(&row->total, &node->self);
	}
	return 0;
}

/* Walks the tree of a complete group, and adds its costs to the rows. */
static int profile_rows_sum_up(struct row_builder *builder, const struct task_pairs *task)
{
	const struct node *nodes = builder->nodes;

	for (uint32_t at = nodes->child; at;) {
		enter_node(builder, &nodes[at]);
		if (nodes[at].child) {
			at = nodes[at].child;
			continue;
		}
		leave_node(builder, &nodes[at]);
		while (at && !nodes[at].next) {
			at = nodes[at].caller;
			if (at)
				leave_node(builder, &nodes[at]);
		}
		at = nodes[at].next;
	}
	return add_selves(builder, task);
}

static const char *part_of_task(const struct burin_profile *profile, uint32_t number, enum view_part part,
				char text[NUMBER_BYTES])
{
	const struct burin_task *task = burin_profile_task(profile, number);

	if (part == VIEW_PROGRAM)
		return view_program(profile, number);
	if (part == VIEW_THREAD)
		return view_thread(profile, number);
	snprintf(text, NUMBER_BYTES, "%" PRIu32, !task ? 0 : part == VIEW_PID ? task->pid : task->tid);
	return text;
}

static struct task_pairs *group_tasks(struct view_rows *rows, const struct view_profile *counted,
				      unsigned parts, size_t *count)
{
	const struct view_pair *pair = counted->pairs, *end = pair + counted->pair_count;
	struct task_pairs *tasks = calloc(view_profile_tasks(counted) + 1, sizeof(*tasks));

	char number[NUMBER_BYTES];

	*count = 0;
	while (tasks && pair < end) {
		struct task_pairs *task = &tasks[(*count)++];

		task->first = pair;
		for (unsigned n = 0; n < VIEW_TASK_PARTS; n++) {
			if (parts & 1u << n)
				task->parts[n] =
					view_string(&rows->keys.strings,
						    part_of_task(counted->profile, pair->task, n, number));
		}
		while (pair < end && pair->task == task->first->task)
			pair++;
		task->end = pair;
	}
	if (tasks)
		qsort(tasks, *count, sizeof(*tasks), by_group);
	return tasks;
}

/* Adds the group that begins with a task; *end: the first task of the next group. */
static int add_group(struct row_builder *builder, const struct task_pairs *first,
		     const struct task_pairs **end)
{
	const struct task_pairs *task = first;
	int result;

	builder->group++;
	builder->node_count = 0;
	result = node_add(builder, 0, 0);
	for (; task < *end && memcmp(task->parts, first->parts, sizeof(task->parts)) == 0; task++)
		for (const struct view_pair *pair = task->first; pair < task->end && !result; pair++)
			result = profile_rows_add_pair(builder, first, pair);
	*end = task;
	return result ? result : profile_rows_sum_up(builder, first);
}

int view_rows_make(struct view_rows *rows, const struct view_profile *counted, unsigned parts, bool fold)
{
	struct row_builder builder = { .rows = rows };
	struct task_pairs *tasks = NULL;
	size_t count;
	int result;

	*rows = (struct view_rows){ .count = 0 };
	builder.stacks = calloc((size_t)burin_profile_stacks(counted->profile) + 1, sizeof(*builder.stacks));
	result = view_keys_make(&rows->keys, counted->profile, parts, fold);
	if (!result) {
		tasks = group_tasks(rows, counted, parts, &count);
		result = tasks && builder.stacks && !view_keys_failed(&rows->keys) ? 0 : -ENOMEM;
	}
	for (const struct task_pairs *task = tasks, *end; !result && task < tasks + count; task = end) {
		end = tasks + count;
		result = add_group(&builder, task, &end);
	}
	free(tasks);
	free(builder.keys);
	free(builder.stacks);
	free(builder.nodes);
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
	if (part < VIEW_TASK_PARTS)
		return rows->keys.strings.texts[row->task[part]];
	return view_key_text(&rows->keys, row->key, part);
}
