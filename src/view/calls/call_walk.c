/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks through calls; see call_walk.h.
 *
 * Records come in the order of ends, so backwards a caller comes before its callees. A stack keeps the calls around
 * the present position; frames[0] is the outermost. For each call,
 *
 *	1. those that do not contain it are left, the innermost first: all calls within them were visited
 *	2. its time is added to `callees` of the innermost that remains, its caller
 *	3. it is entered
 *
 * A call contains one that ended before it if it began before. If both began in one tick, the depth decides. It is
 * recorded modulo 65536, so a difference of 32768 and more is taken for its opposite. Calls that end in one tick come
 * in the right order from call_spans.c.
 *
 * Invariant: the frames of a stack are nested in time. No record of a caller is needed for that: if it was lost, or
 * the thread was attached to later, its callees belong to the next call around them. Except in one tick, the depth
 * decides nothing.
 *
 * Open calls are around all others of their stack, so they are entered first. A thread may have been at the end of a
 * call while the trace was written. Then the call is open and has a record, too, which is in the last span. So that
 * span is searched first, and such calls are visited as records. In earlier spans, a record with begin and depth of
 * an open call is left out: it was visited.
 *
 * A trace may have any content, and only the calls around one moment need memory. call_spans.c makes sure that no
 * call begins behind its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "read/trace.h"
#include "view/calls/call_spans.h"
#include "view/calls/call_walk.h"
#include "wire/wire_call.h"

/* A task of a guest, from the end of the trace towards its begin. */
struct task {
	uint64_t key;
	uint64_t back; /* when it began to run; UINT64_MAX: no more in this trace; 0: unknown */
};

struct walk {
	const struct burin_trace *trace;
	struct task *tasks;
	size_t task_count, task_room;
	struct hash_table task_numbers; /* from 1 */
	const struct call_visitor *visitor;
	uint64_t from;
	struct call_walk_stack **stacks;
	size_t count, room;
	struct hash_table numbers; /* of stacks */
	struct hash_table tids;	   /* a tid is its own number */
	struct call_walk_stack *last;
};

/* The key of a task of a guest: each CPU has one with the id 0, which is idle. */
static uint64_t task_key(uint32_t pid, uint32_t vcpu)
{
	return pid ? pid : UINT64_C(1) << 32 | vcpu;
}

/* The task to which a stack of a guest belongs, by the name that the plugin gave it: "kernel NAME PID"; that of an idle one ends in the CPU. */
static uint64_t call_walk_task_of(const struct walk *walk, uint32_t tid, uint64_t time)
{
	uint64_t from, until;
	const struct burin_thread *thread = tid < WIRE_GUEST_TID || tid >= WIRE_GUEST_VCPU
						    ? NULL
						    : read_thread_find(walk->trace, tid, time, &from, &until);
	const char *pid = thread && thread->pid >= WIRE_GUEST_PID ? strrchr(thread->name, ' ') : NULL,
		   *vcpu = pid ? strrchr(thread->name, '/') : NULL;

	return pid ? task_key((uint32_t)strtoul(pid + 1, NULL, 10),
			      vcpu ? (uint32_t)strtoul(vcpu + 1, NULL, 10) : 0)
		   : UINT64_MAX;
}

static int note_thread(struct walk *walk, uint32_t tid)
{
	const uint64_t hash = hash_pair(tid, 0);
	uint32_t found;

	if (!tid) /* of a damaged record */
		return 0;
	for (size_t at = 0; (found = hash_table_next(&walk->tids, hash, &at));)
		if (found == tid)
			return 0;
	if (!hash_table_reserve(&walk->tids))
		return -ENOMEM;
	hash_table_add(&walk->tids, hash, tid);
	return 0;
}

static struct call_walk_stack *add_stack(struct walk *walk, uint64_t hash, const struct call_span_call *call)
{
	struct call_walk_stack *stack;

	if (!array_reserve(walk->stacks, walk->room, walk->count + 1) || !hash_table_reserve(&walk->numbers))
		return NULL;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->key = call_stack_key(call->stack, call->tid);
	stack->tid = call->tid;
	stack->task = call_walk_task_of(walk, call->tid, call->end);
	if (note_thread(walk, call->tid)) {
		free(stack);
		return NULL;
	}
	walk->stacks[walk->count++] = stack;
	hash_table_add(&walk->numbers, hash, (uint32_t)walk->count);
	return stack;
}

static struct call_walk_stack *find_stack(struct walk *walk, const struct call_span_call *call)
{
	const uint64_t key = call_stack_key(call->stack, call->tid), hash = hash_pair(key, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&walk->numbers, hash, &at));)
		if (walk->stacks[number - 1]->key == key)
			return walk->stacks[number - 1];
	return add_stack(walk, hash, call);
}

/* The stack of a call; NULL: no memory. */
static struct call_walk_stack *call_walk_stack_of(struct walk *walk, const struct call_span_call *call)
{
	if (__builtin_expect(!walk->last || walk->last->key != call_stack_key(call->stack, call->tid), 0))
		walk->last = find_stack(walk, call);
	return walk->last;
}

static void call_walk_leave(const struct walk *walk, struct call_walk_stack *stack)
{
	if (walk->visitor->leave)
		walk->visitor->leave(walk->visitor->data, stack);
	stack->count--;
}

/* Whether a call is around one that ended before it. */
static inline bool call_walk_contains(const struct call_frame *frame, const struct call_span_call *call)
{
	return frame->begin < call->begin ||
	       (frame->begin == call->begin && call_is_deeper(call->depth, frame->depth));
}

static inline __attribute__((always_inline)) int call_walk_visit(struct walk *walk,
								 struct call_walk_stack *stack,
								 const struct call_span_call *call, bool open)
{
	const struct call_visitor *visitor = walk->visitor;

	if (__builtin_expect(stack->tid != call->tid, 0)) {
		if (note_thread(walk, call->tid))
			return -ENOMEM;
		stack->tid = call->tid;
		stack->task = call_walk_task_of(walk, call->tid, call->end);
	}
	while (stack->count && !call_walk_contains(&stack->frames[stack->count - 1], call))
		call_walk_leave(walk, stack);
	if (__builtin_expect(call->begin < walk->from, 0))
		return 0;
	if (visitor->select && !visitor->select(visitor->data, stack, call->end))
		return 0;
	if (__builtin_expect(!array_reserve(stack->frames, stack->room, stack->count + 1), 0))
		return -ENOMEM;
	if (stack->count)
		stack->frames[stack->count - 1].callees += call->end - call->begin;
	stack->frames[stack->count++] = (struct call_frame){ .begin = call->begin,
							     .end = call->end,
							     .function = call->function,
							     .depth = (uint16_t)call->depth,
							     .open = open };
	return visitor->enter(visitor->data, stack);
}

/* ---- Open calls */

static int call_walk_add_open(struct walk *walk, const struct burin_call *call)
{
	const struct call_span_call added = { .begin = call->begin,
					      .end = call->end,
					      .function = call->function,
					      .tid = call->tid,
					      .depth = call->depth,
					      .stack = call->stack };
	struct call_walk_stack *stack = call_walk_stack_of(walk, &added);
	size_t at;

	if (!stack || !array_reserve(stack->open, stack->open_room, stack->open_count + 1))
		return -ENOMEM;
	/* They come in this order, apart from those of signal handlers with a stack of their own. */
	for (at = stack->open_count++; at && stack->open[at - 1].call.begin > call->begin; at--)
		stack->open[at] = stack->open[at - 1];
	stack->open[at] = (struct call_walk_open){ .call = added };
	return 0;
}

static int add_open_calls(struct walk *walk, const struct burin_calls *calls, const struct view_where *where)
{
	struct burin_call call;
	int result = 0;

	for (uint32_t n = 0; !result && !burin_calls_open_call(calls, n, &call); n++)
		if (call_where_open_holds(where, walk->trace, calls, n, &call))
			result = call_walk_add_open(walk, &call);
	return result;
}

/*
 * The entry of a call with a record among the open calls; NULL: none. A call that ended within the tick in which it began
 * looks like others of that tick, so it is not compared.
 */
static struct call_walk_open *call_walk_find_open(const struct call_walk_stack *stack,
						  const struct call_span_call *call)
{
	size_t low = 0, high = stack->open_count;

	if (call->begin == call->end)
		return NULL;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (stack->open[middle].call.begin < call->begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < stack->open_count && stack->open[low].call.begin == call->begin; low++)
		if ((uint16_t)stack->open[low].call.depth == (uint16_t)call->depth)
			return &stack->open[low];
	return NULL;
}

/* The open calls are around all others, so they are visited first: apart from those that ended in the last span. */
static int visit_open(struct walk *walk, const struct call_span_call *span, size_t count)
{
	int result = 0;

	for (size_t n = 0; walk->count && n < count; n++) {
		const struct call_walk_stack *stack =
			span[n].function == CALL_SPAN_SWITCH ? NULL : call_walk_stack_of(walk, &span[n]);
		struct call_walk_open *open =
			stack && stack->open_count ? call_walk_find_open(stack, &span[n]) : NULL;

		if (open)
			open->ended = true;
	}
	for (size_t n = 0; n < walk->count; n++)
		for (size_t at = 0; !result && at < walk->stacks[n]->open_count; at++)
			if (!walk->stacks[n]->open[at].ended)
				result = call_walk_visit(walk, walk->stacks[n],
							 &walk->stacks[n]->open[at].call, true);
	return result;
}

/* ---- Switches of a guest */

/* Return: NULL: no memory. */
static struct task *call_walk_find_task(struct walk *walk, uint64_t key)
{
	const uint64_t hash = hash_pair(key, 0);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&walk->task_numbers, hash, &at));)
		if (walk->tasks[number - 1].key == key)
			return &walk->tasks[number - 1];
	if (!array_reserve(walk->tasks, walk->task_room, walk->task_count + 1) ||
	    !hash_table_reserve(&walk->task_numbers))
		return NULL;
	walk->tasks[walk->task_count++] = (struct task){ key, UINT64_MAX };
	hash_table_add(&walk->task_numbers, hash, (uint32_t)walk->task_count);
	return &walk->tasks[walk->task_count - 1];
}

/*
 * A task did not run from one time to another: of each of its stacks, the innermost call waited. The walk is at the
 * begin of that time, so the frames that are there are those around it, or begin later; these are skipped. The
 * waiting is cut at the end of the call.
 */
static void wait_for_task(const struct walk *walk, uint64_t task, uint64_t from, uint64_t to)
{
	for (size_t n = 0; n < walk->count; n++) {
		struct call_walk_stack *stack = walk->stacks[n];
		size_t at = stack->task == task ? stack->count : 0;

		while (at && stack->frames[at - 1].begin > from)
			at--;
		if (at && stack->frames[at - 1].end > from) {
			struct call_frame *frame = &stack->frames[at - 1];

			frame->callees += (to < frame->end ? to : frame->end) - from;
		}
	}
}

/*
 * Backwards, a switch first shows when the task that it begins came back (`back`), and then until when the one that
 * it ends was away. A task whose next begin is not in the trace (UINT64_MAX) was away to the end.
 */
static int visit_switch(struct walk *walk, const struct call_span_call *at)
{
	struct task *task = call_walk_find_task(walk, task_key(at->stack, at->tid));

	if (!task)
		return -ENOMEM;
	task->back = at->end;
	task = call_walk_find_task(walk, task_key(at->depth, at->tid));
	if (!task)
		return -ENOMEM;
	if (task->back)
		wait_for_task(walk, task->key, at->end, task->back);
	task->back = 0;
	return 0;
}

/* ---- The walk */

static int visit_span(struct walk *walk, const struct call_span_call *span, size_t count)
{
	int result = 0;

	for (size_t n = count; !result && n; n--) {
		const struct call_span_call *at = &span[n - 1];
		struct call_walk_stack *stack;

		if (__builtin_expect(at->function == CALL_SPAN_SWITCH, 0)) {
			result = visit_switch(walk, at);
			continue;
		}
		stack = call_walk_stack_of(walk, at);
		if (__builtin_expect(!stack, 0))
			return -ENOMEM;
		if (__builtin_expect(stack->open_count != 0, 0)) {
			const struct call_walk_open *open = call_walk_find_open(stack, at);

			if (open && !open->ended)
				continue; /* it was visited */
		}
		result = call_walk_visit(walk, stack, at, false);
	}
	return result;
}

static void walk_free(struct walk *walk)
{
	for (size_t n = 0; n < walk->count; n++) {
		if (walk->visitor->free_stack)
			walk->visitor->free_stack(walk->stacks[n]->user);
		free(walk->stacks[n]->frames);
		free(walk->stacks[n]->open);
		free(walk->stacks[n]);
	}
	free(walk->stacks);
	free(walk->tasks);
	hash_table_free(&walk->task_numbers);
	hash_table_free(&walk->numbers);
	hash_table_free(&walk->tids);
}

int call_walk(const struct burin_trace *trace, const struct burin_calls *calls,
	      const struct call_walk_options *options, const struct call_visitor *visitor)
{
	struct walk walk = { .trace = trace, .visitor = visitor, .from = options->from };
	struct call_spans *spans = NULL;
	const struct call_span_call *span;
	size_t count;
	bool is_last = true;
	int result = options->to ? 0 : add_open_calls(&walk, calls, options->where);

	if (!result)
		result = call_spans_open(&spans, trace, calls, options->from, options->to, options->threads,
					 options->where);
	while (!result && (result = call_spans_next(spans, &span, &count)) > 0) {
		result = is_last ? visit_open(&walk, span, count) : 0;
		is_last = false;
		if (!result)
			result = visit_span(&walk, span, count);
	}
	call_spans_close(spans);
	for (size_t n = 0; !result && n < walk.count; n++)
		while (walk.stacks[n]->count)
			call_walk_leave(&walk, walk.stacks[n]);
	if (options->tids)
		*options->tids = walk.tids.count;
	walk_free(&walk);
	return result;
}
