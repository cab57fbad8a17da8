/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Trees of calls; see call_tree.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/number.h"
#include "view/calls/call_tree.h"

void call_tree_init(struct call_tree *tree, const struct call_consumer *consumer, uint32_t run_max)
{
	*tree = (struct call_tree){ .consumer = *consumer, .run_max = run_max };
}

void call_tree_span(struct call_tree *tree, uint64_t from)
{
	tree->from = from;
}

void call_tree_free(struct call_tree *tree)
{
	for (size_t n = 0; n < tree->count; n++) {
		free(tree->stacks[n]->pending);
		free(tree->stacks[n]->held);
		free(tree->stacks[n]->open);
		free(tree->stacks[n]);
	}
	free(tree->stacks);
	hash_table_free(&tree->numbers);
	*tree = (struct call_tree){ 0 };
}

static struct call_stack *add_stack(struct call_tree *tree, uint64_t hash, uint32_t tid)
{
	struct call_stack *stack;

	if (!array_reserve(tree->stacks, tree->room, tree->count + 1) || !hash_table_reserve(&tree->numbers))
		return NULL;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->tid = tid;
	stack->number = (uint32_t)tree->count;
	tree->stacks[tree->count++] = stack;
	hash_table_add(&tree->numbers, hash, (uint32_t)tree->count);
	return stack;
}

static struct call_stack *find_stack(struct call_tree *tree, uint32_t tid)
{
	const uint64_t hash = hash_pair(tid, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&tree->numbers, hash, &at));)
		if (tree->stacks[number - 1]->tid == tid)
			return tree->stacks[number - 1];
	return add_stack(tree, hash, tid);
}

/* The stack of a call; NULL: no memory. */
static struct call_stack *stack_of(struct call_tree *tree, const struct burin_call *call)
{
	if (__builtin_expect(!tree->last || tree->last->tid != call->tid, 0))
		tree->last = find_stack(tree, call->tid);
	return tree->last;
}

/* Whether one depth is below another, both modulo 65536. */
static bool is_deeper(uint32_t depth, uint32_t than)
{
	return (int16_t)(uint16_t)(depth - than) > 0;
}

/* ---- Open calls */

int call_tree_open_call(struct call_tree *tree, const struct burin_call *call)
{
	struct call_stack *stack = stack_of(tree, call);
	size_t at;

	if (!stack || !array_reserve(stack->open, stack->open_room, stack->open_count + 1))
		return -ENOMEM;
	/* They come in this order, apart from those of a thread's other stacks. */
	for (at = stack->open_count++; at && stack->open[at - 1].call.begin > call->begin; at--)
		stack->open[at] = stack->open[at - 1];
	stack->open[at] = (struct call_open){ .call = *call };
	return 0;
}

int call_tree_open_calls(struct call_tree *tree, const struct burin_calls *calls)
{
	struct burin_call call;
	int result = 0;

	for (uint32_t n = 0; !result && !burin_calls_open_call(calls, n, &call); n++)
		result = call_tree_open_call(tree, &call);
	return result;
}

/*
 * A call has a record. If it is among the open ones, it ended while the trace was written. A call that ended within the tick
 * in which it began looks like others of that tick, so it is not compared.
 */
static void close_open(struct call_stack *stack, const struct burin_call *call)
{
	size_t low = 0, high = stack->open_count;

	if (call->begin == call->end)
		return;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (stack->open[middle].call.begin < call->begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < stack->open_count && stack->open[low].call.begin == call->begin; low++)
		if ((uint16_t)stack->open[low].call.depth == (uint16_t)call->depth)
			stack->open[low].ended = true;
}

/* ---- Runs of siblings */

static int join(const struct call_tree *tree, struct call_node *call, const struct call_node *next)
{
	const int result = tree->consumer.join ? tree->consumer.join(tree->consumer.data, call, next) : 0;

	call->end = next->end;
	call->time += next->time;
	call->callees += next->callees;
	call->calls += next->calls;
	return result;
}

/* Put the older half of the last run together. */
static int shorten_run(const struct call_tree *tree, struct call_stack *stack)
{
	const uint32_t length = stack->pending[stack->count - 1].run, half = (length + 1) / 2;
	struct call_node *run = &stack->pending[stack->count - length];
	int result = 0;

	for (uint32_t n = 1; !result && n <= half; n++)
		result = join(tree, run, &run[n]);
	memmove(run + 1, run + 1 + half, (length - half - 1) * sizeof(*run));
	for (uint32_t n = 1; n < length - half; n++)
		run[n].run = n + 1;
	stack->count -= half;
	return result;
}

static int push(const struct call_tree *tree, struct call_stack *stack, const struct call_node *node)
{
	const struct call_node *top = stack->count ? &stack->pending[stack->count - 1] : NULL;
	uint32_t run = 1;

	if (tree->run_max && top && top->depth == node->depth &&
	    !((top->flags | node->flags) & CALL_NODE_BORDER))
		run = top->run + 1;
	if (__builtin_expect(!array_reserve(stack->pending, stack->room, stack->count + 1), 0))
		return -ENOMEM;
	stack->pending[stack->count] = *node;
	stack->pending[stack->count++].run = run;
	return tree->run_max && run > tree->run_max ? shorten_run(tree, stack) : 0;
}

/* ---- Calls */

/* Whether a call that has ended, or the first of several, is a callee of one that ends later. */
static bool is_callee(const struct call_node *ended, const struct call_node *call)
{
	return ended->begin > call->begin ||
	       (ended->begin == call->begin && is_deeper(ended->depth, call->depth));
}

/* The part of a run that is in the time of a call, some of whose siblings were lost. */
static uint64_t take_part(struct call_node *run, uint64_t from)
{
	const double part = (double)(run->end - from) / (double)(run->end - run->begin);
	uint64_t time = (uint64_t)((double)run->time * part);

	if (time > run->end - from)
		time = run->end - from;
	if (time > run->time)
		time = run->time;
	run->time -= time;
	run->end = from;
	return time;
}

static int flush_roots(const struct call_tree *tree, struct call_stack *stack)
{
	const size_t count = stack->count;

	stack->count = 0;
	return count && tree->consumer.roots
		       ? tree->consumer.roots(tree->consumer.data, stack, stack->pending, count)
		       : 0;
}

/* A call at depth 0 has no caller. That of a recursion of 65536 levels has one, which is the next call to end. */
static bool is_root(const struct call_stack *stack, const struct call_node *call)
{
	return stack->count && stack->pending[stack->count - 1].depth == 0 &&
	       !is_callee(&stack->pending[stack->count - 1], call);
}

static int end_call(const struct call_tree *tree, struct call_stack *stack, struct call_node *call)
{
	size_t first = stack->count;
	int result;

	if (__builtin_expect(!tree->from && is_root(stack, call), 0)) {
		result = flush_roots(tree, stack);
		if (result)
			return result;
		first = 0;
	}
	while (first && !(stack->pending[first - 1].flags & CALL_NODE_BORDER) &&
	       is_callee(&stack->pending[first - 1], call))
		call->callees += stack->pending[--first].time;
	if (__builtin_expect(first && stack->pending[first - 1].end > call->begin, 0) &&
	    stack->pending[first - 1].calls > 1)
		call->callees += take_part(&stack->pending[first - 1], call->begin);
	result = tree->consumer.call(tree->consumer.data, stack, call, &stack->pending[first],
				     stack->count - first);
	stack->count = first;
	return result ? result : push(tree, stack, call);
}

static int end_held(const struct call_tree *tree, struct call_stack *stack, const struct burin_call *held,
		    unsigned flags)
{
	struct call_node call = { .begin = held->begin < held->end ? held->begin : held->end,
				  .end = held->end,
				  .calls = 1,
				  .function = held->function,
				  .depth = (uint16_t)held->depth,
				  .flags = (uint16_t)flags };

	call.time = call.end - call.begin;
	if (__builtin_expect(stack->open_count != 0, 0) && !(flags & CALL_NODE_OPEN))
		close_open(stack, held);
	if (__builtin_expect(call.begin < tree->from, 0)) {
		call.flags |= CALL_NODE_BORDER;
		return push(tree, stack, &call);
	}
	return end_call(tree, stack, &call);
}

static int flush_held(const struct call_tree *tree, struct call_stack *stack)
{
	int result = 0;

	for (size_t n = 0; !result && n < stack->held_count; n++)
		result = end_held(tree, stack, &stack->held[n], 0);
	stack->held_count = 0;
	return result;
}

/* Whether a call that came later is a callee of another with the same end: the records of one tick that are in two rings
 * come in the order of the rings. */
static bool is_late_callee(const struct burin_call *late, const struct burin_call *call)
{
	return late->begin < late->end && late->begin >= call->begin && is_deeper(late->depth, call->depth);
}

int call_tree_add(struct call_tree *tree, const struct burin_call *call)
{
	struct call_stack *stack = stack_of(tree, call);
	size_t at;

	if (__builtin_expect(!stack, 0))
		return -ENOMEM;
	if (__builtin_expect(stack->held_count && stack->held[0].end != call->end, 1)) {
		const int result = flush_held(tree, stack);

		if (result)
			return result;
	}
	if (__builtin_expect(!array_reserve(stack->held, stack->held_room, stack->held_count + 1), 0))
		return -ENOMEM;
	for (at = stack->held_count++; at && is_late_callee(call, &stack->held[at - 1]); at--)
		stack->held[at] = stack->held[at - 1];
	stack->held[at] = *call;
	return 0;
}

int call_tree_flush(struct call_tree *tree)
{
	int result = 0;

	for (size_t n = 0; !result && n < tree->count; n++)
		result = flush_held(tree, tree->stacks[n]);
	return result;
}

/* ---- Spans */

static int append_stack(struct call_tree *tree, struct call_stack *stack, const struct call_stack *span)
{
	int result = flush_held(tree, stack);

	for (size_t n = 0; !result && n < span->count; n++) {
		struct call_node call = span->pending[n];

		if (!(call.flags & CALL_NODE_BORDER)) {
			result = push(tree, stack, &call);
			continue;
		}
		if (call.begin >= tree->from)
			call.flags &= (uint16_t)~CALL_NODE_BORDER;
		result = call.flags & CALL_NODE_BORDER ? push(tree, stack, &call)
						       : end_call(tree, stack, &call);
	}
	for (size_t n = 0; n < span->open_count && n < stack->open_count; n++)
		stack->open[n].ended |= span->open[n].ended;
	return result;
}

int call_tree_append(struct call_tree *tree, const struct call_tree *span)
{
	int result = 0;

	for (size_t n = 0; !result && n < span->count; n++) {
		struct call_stack *stack =
			stack_of(tree, &(struct burin_call){ .tid = span->stacks[n]->tid });

		result = stack ? append_stack(tree, stack, span->stacks[n]) : -ENOMEM;
	}
	return result;
}

/* ---- The end */

/* The open calls, innermost first, end with the trace. */
static int end_open(const struct call_tree *tree, struct call_stack *stack)
{
	int result = 0;

	for (size_t n = stack->open_count; !result && n; n--) {
		struct call_open *open = &stack->open[n - 1];

		if (stack->count && open->call.end < stack->pending[stack->count - 1].end)
			open->call.end = stack->pending[stack->count - 1].end;
		if (!open->ended)
			result = end_held(tree, stack, &open->call, CALL_NODE_OPEN);
	}
	return result;
}

int call_tree_finish(struct call_tree *tree)
{
	int result = call_tree_flush(tree);

	for (size_t n = 0; !result && n < tree->count; n++) {
		result = end_open(tree, tree->stacks[n]);
		if (!result)
			result = flush_roots(tree, tree->stacks[n]);
	}
	return result;
}
