/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Segments of the calls area, for frames and for arguments of open calls (wire/wire_call.h). */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_SEGMENT_H
#define BURIN_SOURCE_CALLS_STACK_CALL_SEGMENT_H

#include "source/calls/functions/call_apart.h"
#include "source/calls/stack/call_thread.h"

/* call_segment_of - the segment that a frame is in. */
static inline struct wire_call_segment *call_segment_of(const struct wire_call_frame *frame)
{
	return (struct wire_call_segment *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_SEGMENT - 1));
}

/* call_segment_slot - its place there. */
static inline uint16_t call_segment_slot(const struct wire_call_frame *frame)
{
	return (uint16_t)(((uintptr_t)frame & (WIRE_CALL_SEGMENT - 1)) / sizeof(*frame));
}

/* call_segment_number - its number in the session, from 1. */
static inline uint32_t call_segment_number(const struct wire_call_segment *segment)
{
	return (uint32_t)(((const char *)segment - tracepoint_session.calls.segments) / WIRE_CALL_SEGMENT) +
	       1;
}

/* call_segment_at - by number; NULL: none. A damaged session cannot lead out of the segments. */
static inline struct wire_call_segment *call_segment_at(uint64_t number)
{
	return number - 1 < tracepoint_session.geometry.call_segments
		       ? session_call_segment_at(&tracepoint_session, (uint32_t)number)
		       : NULL;
}

/*
 * call_stack_more - the first frame of the stack's next segment, or of a new stack. A recursion may come here often.
 * Return: NULL: the call is lost, and counted.
 */
static inline struct wire_call_frame *call_stack_more(void)
{
	const struct wire_call_segment *next =
		call_thread.top == CALL_NO_STACK
			? NULL
			: call_segment_at(call_segment_of(call_thread.top - 1)->next);

	if (call_thread.stopped) {
		call_lose_stopped();
		return NULL;
	}
	return next ? (struct wire_call_frame *)(uintptr_t)next + 1
		    : (struct wire_call_frame *)(uintptr_t)call_apart(call_stack_extend, 0, 0);
}

/* call_stack_below - the call below a frame, in an earlier segment if need be; NULL: none. */
static inline struct wire_call_frame *call_stack_below(const struct wire_call_frame *frame)
{
	struct wire_call_segment *segment = call_segment_of(frame);

	if (frame - 1 != (const struct wire_call_frame *)segment)
		return (struct wire_call_frame *)(uintptr_t)(frame - 1);
	segment = call_segment_at(segment->previous);
	return segment ? (struct wire_call_frame *)segment + WIRE_CALL_FRAMES : NULL;
}

/* call_stack_top - the innermost open call of this stack; NULL: none. */
static inline struct wire_call_frame *call_stack_top(void)
{
	if (call_is_new())
		call_notice(0);
	return call_thread.top == CALL_NO_STACK ? NULL : call_stack_below(call_thread.top);
}

/* call_segment_take - a segment for this thread, as session_call_segment(). Return: NULL: there is no memory. */
struct wire_call_segment *call_segment_take(uint32_t stack, uint32_t depth, uint32_t previous);

/* call_segment_free - give it back, and those that follow it. */
void call_segment_free(const struct wire_call_segment *first);

/* call_segment_try_again - in a new process: after a lack of memory, the next call asks again. */
void call_segment_try_again(void);

#endif
