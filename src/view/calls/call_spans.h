/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a trace, span by span, the last span first. Several threads decode spans ahead of the caller. */
#ifndef BURIN_VIEW_CALLS_CALL_SPANS_H
#define BURIN_VIEW_CALLS_CALL_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "burin/calls.h"
#include "view/records/where.h"

struct call_spans;

/* The function of what is no call, but a switch of a guest's vCPU from a task to another one. */
#define CALL_SPAN_SWITCH UINT32_MAX

/* A call as decoded. A switch has the vCPU as `tid`, and the tasks' ids in the guest: the former as `depth`, the next one as `stack`. */
struct call_span_call {
	uint64_t begin, end; /* ticks; begin <= end */
	uint32_t function, tid;
	uint32_t depth; /* modulo 65536 */
	uint32_t stack; /* 0: the thread's only one */
};

/*
 * call_spans_open - prepare to read calls.
 * @from, @to: ticks: calls that end within this time; @to exclusive, 0: no end
 * @threads: how many may be used
 * @where: calls of which it does not hold are left out; NULL: none are
 * Return: 0; -ENOMEM.
 */
int call_spans_open(struct call_spans **spans, const struct burin_trace *trace,
		    const struct burin_calls *calls, uint64_t from, uint64_t to, unsigned threads,
		    const struct view_where *where);

/*
 * call_spans_next - the calls that end in the next span, towards the begin of the trace.
 * @span: receives them in order of their ends; valid until the next call
 * Return: 1; 0: there are no more; -ENOMEM.
 */
int call_spans_next(struct call_spans *spans, const struct call_span_call **span, size_t *count);

void call_spans_close(struct call_spans *spans);

/* call_where_make - compile conditions for the calls of a trace; as view_where_make(). */
int call_where_make(struct view_where **where, const struct burin_trace *trace,
		    const struct burin_calls *calls, const struct view_conditions *conditions);

/* call_where_open_holds - whether conditions hold for the open call @number. @where: NULL: true */
bool call_where_open_holds(const struct view_where *where, const struct burin_trace *trace,
			   const struct burin_calls *calls, uint32_t number, const struct burin_call *call);

/* call_stack_key - what identifies the stack of a call. One with a number may go from thread to thread. */
static inline uint64_t call_stack_key(uint32_t stack, uint32_t tid)
{
	return stack ? UINT64_C(1) << 32 | stack : tid;
}

/* call_is_deeper - whether one depth is below another, both modulo 65536. */
static inline int call_is_deeper(uint32_t depth, uint32_t than)
{
	return (int16_t)(uint16_t)(depth - than) > 0;
}

#endif
