/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks through the calls of a trace from the last to the first: callers before their callees.
 *
 * The records are in order of the ends, so backwards a call comes before all calls within it. All that a walk keeps of a
 * stack are the calls around the present one, however long the trace is.
 *
 * Several threads decode spans of the trace, the last one first; the caller's thread visits the calls.
 *
 * While a task of a guest does not run, none of its calls does: that time counts as if it were a callee of the innermost one.
 *
 * A call is a callee of the innermost call of its stack whose time contains its own. If both begin at one tick, the depth
 * decides. So without the record of a call its callees are those of its caller.
 */
#ifndef BURIN_VIEW_CALLS_CALL_WALK_H
#define BURIN_VIEW_CALLS_CALL_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "burin/calls.h"
#include "view/calls/call_spans.h"

/* A call around the present one, or the present one. */
struct call_frame {
	uint64_t begin, end; /* ticks */
	uint64_t
		callees; /* ticks that its direct callees took, and in which its task did not run; complete when it is left */
	uint64_t user; /* the visitor's */
	uint32_t function;
	uint16_t depth; /* modulo 65536 */
	bool open;	/* it had not ended when the trace was written; `end` is that time */
};

/* A stack: the outermost frame is frames[0]; the present call is the last. */
struct call_walk_stack {
	uint64_t key;  /* call_stack_key() */
	uint32_t tid;  /* of the present call */
	uint64_t task; /* of a guest, to which the stack belongs; UINT64_MAX: none */
	struct call_frame *frames;
	size_t count, room;
	struct call_walk_open {
		struct call_span_call call;
		bool ended; /* it has a record, too: it ended while the trace was written */
	} * open;	    /* calls that had not ended, by begin */
	size_t open_count, open_room;
	void *user; /* the visitor's */
};

struct call_visitor {
	/* Whether a call of a stack that ended at a time is visited. If not, its callees become those of its caller.
	 * NULL: all are. */
	bool (*select)(void *data, struct call_walk_stack *stack, uint64_t end);
	/* The last frame of the stack is a call, and those before it are around it. Return: 0; negative: stop. */
	int (*enter)(void *data, struct call_walk_stack *stack);
	/* All calls within it were visited. */
	void (*leave)(void *data, struct call_walk_stack *stack);
	void (*free_stack)(void *user); /* NULL: nothing to free */
	void *data;
};

struct call_walk_options {
	uint64_t from, to; /* ticks: only calls within this time; `to` exclusive, 0: no end */
	unsigned threads;
	const struct view_where *where; /* calls of which it does not hold are left out; NULL: none are */
	size_t *tids;			/* NULL, or receives how many threads had calls */
};

/* call_walk - visit the calls of a trace. Return: 0; -ENOMEM; the result of a visitor that stopped. */
int call_walk(const struct burin_trace *trace, const struct burin_calls *calls,
	      const struct call_walk_options *options, const struct call_visitor *visitor);

/* call_walk_self - the time of a call that is left, without its callees, ticks. */
static inline uint64_t call_walk_self(const struct call_frame *frame)
{
	const uint64_t time = frame->end - frame->begin;

	return frame->callees < time ? time - frame->callees : 0;
}

#endif
