/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree of calls of each stack, from records in order of their ends: callees before their callers.
 *
 *	call_tree_init(&tree, &consumer, 0);
 *	call_tree_open_calls(&tree, calls);
 *	while (burin_cursor_next(cursor, &record) > 0)
 *		if (!burin_calls_call(calls, record, &call))
 *			call_tree_add(&tree, &call);
 *	call_tree_finish(&tree);
 *	call_tree_free(&tree);
 *
 * The consumer gets each call once, when it has ended and all its callees are known, together with its direct callees. What it
 * wants to keep of a callee until then, such as a node of its own, it leaves in `user`. Calls without a caller in the trace
 * are passed to `roots`. So all that is kept of a stack are completed calls whose callers have not ended.
 *
 * A call is a callee of the innermost call of its stack whose time contains its own. If both begin at one tick, the depth
 * decides. So a lost record, or a function that is not recorded, makes its callees callees of its caller: then the depths
 * of caller and callee differ by more than one (call_tree_direct()).
 *
 * A call in a loop has many siblings, which all wait for their caller. With `run_max`, runs of more siblings than this are
 * put together, oldest first; the sums stay exact. Only if a caller was lost among so many calls, the time of a run that
 * is partly inside the next caller is divided in proportion.
 *
 * Spans. A trace can be cut by time, and each span be read by its own tree: see call_tree_append().
 *
 * A tree belongs to one thread at a time. Functions return 0, -ENOMEM, or what the consumer returned.
 */
#ifndef BURIN_VIEW_CALLS_CALL_TREE_H
#define BURIN_VIEW_CALLS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "burin/calls.h"

enum call_node_flag {
	CALL_NODE_OPEN = 1,   /* it had not ended when the trace was written; `end` is that time */
	CALL_NODE_BORDER = 2, /* private: it began before the tree's span */
};

/* A call, or several siblings in one. */
struct call_node {
	uint64_t begin, end; /* ticks; of several: of the first and the last */
	uint64_t time;	     /* ticks: end - begin; of several: the sum */
	uint64_t callees;    /* ticks that its direct callees took */
	uint64_t calls;	     /* 1; several: how many */
	uint64_t user;	     /* the consumer's; 0 at first */
	uint32_t function;   /* several: that of the first */
	uint32_t run;	     /* private: its position in a run of siblings, from 1 */
	uint16_t depth;	     /* modulo 65536 */
	uint16_t flags;	     /* enum call_node_flag */
};

struct call_stack {
	uint32_t tid;
	uint32_t number;	   /* of the stack in the tree, from 0 */
	struct call_node *pending; /* completed, without a caller yet; in order of time */
	size_t count, room;
	struct burin_call
		*held; /* calls with the latest end: their order is checked when a later one comes */
	size_t held_count, held_room;
	struct call_open *open; /* calls that had not ended, by begin */
	size_t open_count, open_room;
};

/* An open call. */
struct call_open {
	struct burin_call call;
	bool ended; /* it has a record, too: it ended while the trace was written */
};

struct call_consumer {
	/*
	 * A call has ended, or is open at the end of the trace.
	 * @call: set `user`; do not change the rest. Valid until the function returns.
	 * @callees: its direct callees in order of time, @count; they will not be passed again
	 * Return: 0, or a negative number: stop.
	 */
	int (*call)(void *data, const struct call_stack *stack, struct call_node *call,
		    const struct call_node *callees, size_t count);
	/* Calls that have no caller in the trace, in order of time. They were passed to `call` before. May be NULL. */
	int (*roots)(void *data, const struct call_stack *stack, const struct call_node *roots, size_t count);
	/* With `run_max`: put @next, a sibling, to @call, its `user` above all. May be NULL. Return: as `call`. */
	int (*join)(void *data, struct call_node *call, const struct call_node *next);
	void *data;
};

struct call_tree {
	struct call_consumer consumer;
	uint32_t run_max; /* 0: no limit */
	uint64_t from;	  /* begin of its span; 0: that of the trace */
	struct call_stack **stacks;
	size_t count, room;
	struct hash_table numbers; /* of stacks, by tid */
	struct call_stack *last;
};

/*
 * call_tree_init - an empty tree.
 * @run_max: siblings that wait for their caller one by one; 0: all
 */
void call_tree_init(struct call_tree *tree, const struct call_consumer *consumer, uint32_t run_max);

/*
 * call_tree_span - let the tree be that of a span that begins at a time. Before any call.
 *
 * The tree keeps calls that began before the span, and calls without a caller: the span alone does not decide them. All that
 * is left to do then is call_tree_append() to a tree of the spans before.
 */
void call_tree_span(struct call_tree *tree, uint64_t from);

/* call_tree_open_calls - take the calls of a trace that had not ended. Before any call. */
int call_tree_open_calls(struct call_tree *tree, const struct burin_calls *calls);

/* call_tree_open_call - the same for one. */
int call_tree_open_call(struct call_tree *tree, const struct burin_call *call);

/* call_tree_add - the next call by its end. */
int call_tree_add(struct call_tree *tree, const struct burin_call *call);

/*
 * call_tree_append - continue with what is left of the span behind this one.
 * @span: ends with call_tree_flush(); `user` of its calls must be valid for this tree's consumer
 */
int call_tree_append(struct call_tree *tree, const struct call_tree *span);

/* call_tree_flush - there is no later call in this span. */
int call_tree_flush(struct call_tree *tree);

/* call_tree_finish - there is no later call: end the open ones, and pass what has no caller to `roots`. */
int call_tree_finish(struct call_tree *tree);

void call_tree_free(struct call_tree *tree);

/* call_tree_self - the time of a call without its callees, ticks. */
static inline uint64_t call_tree_self(const struct call_node *call)
{
	return call->callees < call->time ? call->time - call->callees : 0;
}

/* call_tree_direct - whether a caller called a callee itself; otherwise the calls between them were not recorded. */
static inline bool call_tree_direct(const struct call_node *caller, const struct call_node *callee)
{
	return (uint16_t)(caller->depth + 1) == callee->depth;
}

#endif
