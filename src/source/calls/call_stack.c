/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks of open calls: the slow paths; see call_thread.h. */
#include <pthread.h>
#include <string.h>

#include "source/calls/call_native.h"
#include "source/calls/call_thread.h"

enum {
	RETRY_TICKS = 1 << 22, /* about a millisecond */
};

_Alignas(WIRE_CALL_SEGMENT) struct wire_call_frame call_no_frames[WIRE_CALL_FRAMES + 1];

__thread struct call_thread call_thread = { .top = CALL_NO_STACK, .home = CALL_NO_STACK };

static pthread_key_t key; /* its destructor frees a thread's segments */
static bool has_key;
static uint64_t retry; /* clock: after there was no memory for a segment */

static struct wire_call_segment *segment_of(const struct wire_call_frame *frame)
{
	return (struct wire_call_segment *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_SEGMENT - 1));
}

static uint32_t number_of(const struct wire_call_segment *segment)
{
	return (uint32_t)(((const char *)segment - tracepoint_session.calls.segments) / WIRE_CALL_SEGMENT) +
	       1;
}

/* The segment before or behind a segment; NULL: none. A damaged session cannot lead out of the segments. */
static struct wire_call_segment *segment_at(uint64_t number)
{
	return number - 1 < tracepoint_session.geometry.call_segments
		       ? session_call_segment_at(&tracepoint_session, (uint32_t)number)
		       : NULL;
}

/* The segment of the innermost call of a stack, or the first one; NULL: there is none. */
static struct wire_call_segment *last_segment(const struct wire_call_frame *top)
{
	return top == CALL_NO_STACK ? NULL : segment_of(top - 1);
}

static struct wire_call_segment *first_segment(const struct wire_call_frame *top)
{
	struct wire_call_segment *segment = last_segment(top), *before;

	while (segment && (before = segment_at(segment->previous)) != NULL)
		segment = before;
	return segment;
}

/* Another segment for a stack. Return: NULL: there is no memory. */
static struct wire_call_segment *add_segment(const struct wire_call_segment *full, uint32_t stack)
{
	const uint64_t now = ring_clock();
	const uint32_t tid = tracepoint_thread_enter();
	struct wire_call_segment *segment;

	if (now < __atomic_load_n(&retry, __ATOMIC_RELAXED))
		return NULL;
	segment = segment_at(session_call_segment(&tracepoint_session, session_self(), tid,
						  full ? full->stack : stack,
						  full ? full->depth + WIRE_CALL_FRAMES : 0,
						  full ? number_of(full) : 0));
	if (!segment) /* do not search for segments of the dead at each call */
		__atomic_store_n(&retry, now + RETRY_TICKS, __ATOMIC_RELAXED);
	return segment;
}

/* The first frame of the stack's next segment, or of a new stack; NULL: the call is lost, and counted. */
static struct wire_call_frame *more(void)
{
	const struct wire_call_segment *full = last_segment(call_thread.top);
	struct wire_call_segment *segment = full ? segment_at(full->next) : NULL;

	if (!segment) {
		if (has_key)
			pthread_setspecific(key,
					    &key); /* any value but NULL: then leave_thread() is called */
		segment = add_segment(full, call_thread.native ? call_thread.native->stack
							       : call_thread.home_stack);
	}
	if (!segment) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, 1);
		return NULL;
	}
	return (struct wire_call_frame *)segment + 1;
}

/* The frame below a frame, in an earlier segment if need be; NULL: none. */
static struct wire_call_frame *frame_below(const struct wire_call_frame *frame)
{
	struct wire_call_segment *segment = segment_of(frame);

	if (frame - 1 != (const struct wire_call_frame *)segment)
		return (struct wire_call_frame *)(uintptr_t)(frame - 1);
	segment = segment_at(segment->previous);
	return segment ? (struct wire_call_frame *)segment + WIRE_CALL_FRAMES : NULL;
}

struct wire_call_frame *call_stack_top(void)
{
	return call_thread.top == CALL_NO_STACK ? NULL : frame_below(call_thread.top);
}

/* Record the end of a call in all cases but the usual one. */
static void record_slow(const struct wire_call_frame *frame)
{
	struct {
		char room[WIRE_HEADROOM];
		uint32_t function, low;
		uint16_t high, depth;
	} __attribute__((packed, aligned(8))) record = { .function = frame->function,
							 .low = (uint32_t)frame->start,
							 .high = (uint16_t)(frame->start >> 32),
							 .depth = (uint16_t)call_depth(frame) };

	const unsigned state = *call_site->state;

	if (tracepoint_session.base && state != WIRE_OFF)
		burin_emit(call_site, state, &record, 12);
}

void call_stack_pop(struct wire_call_frame *frame)
{
	/* Without a start its begin was interrupted by a signal handler that did not return. */
	if (frame->function && frame->start) {
		frame->flags = WIRE_CALL_ENDING;
		if (!call_put(frame))
			record_slow(frame);
	}
	call_close(frame);
}

void call_stack_end_all(void)
{
	for (struct wire_call_frame *frame = call_stack_top(); frame; frame = call_stack_top())
		call_stack_pop(frame);
}

void call_begin_slow(uint32_t function, uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame = call_thread.top;

	if (call_is_segment_end(frame))
		frame = more();
	if (frame)
		call_begin(frame, function, match, sp);
}

void call_end_slow(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *wanted = call_stack_top(), *frame;

	/* A call cannot end while one that began on a lower address of the stack goes on. */
	while (wanted && wanted->match != match && wanted->sp <= sp)
		wanted = frame_below(wanted);
	if (!wanted || wanted->match != match)
		return;
	do {
		frame = call_stack_top();
		call_stack_pop(frame);
	} while (frame != wanted);
}

uint32_t call_stack_number(const struct wire_call_frame *top)
{
	const struct wire_call_segment *segment = last_segment(top);

	return segment ? segment->stack : 0;
}

void call_stack_owner(const struct wire_call_frame *top, uint32_t tid)
{
	struct wire_call_segment *segment = first_segment(top);

	for (; segment; segment = segment_at(segment->next))
		__atomic_store_n(&segment->tid, tid, __ATOMIC_RELAXED);
}

void call_stack_free(const struct wire_call_frame *top)
{
	const struct wire_call_segment *first = first_segment(top);

	if (first)
		session_call_segment_free(&tracepoint_session, number_of(first), tracepoint_thread_self());
}

/* Copy frames [1, end) of a segment. */
static void copy_frames(struct wire_call_segment *to, const struct wire_call_segment *from, size_t end)
{
	struct wire_call_frame *copies = (struct wire_call_frame *)to;
	const struct wire_call_frame *frames = (const struct wire_call_frame *)from;

	for (size_t n = 1; n < end; n++) {
		copies[n].function = frames[n].function;
		copies[n].flags = 0;
		copies[n].match = frames[n].match;
		copies[n].sp = frames[n].sp;
		__atomic_store_n(&copies[n].start, frames[n].start, __ATOMIC_RELEASE);
	}
}

struct wire_call_frame *call_stack_copy(const struct wire_call_frame *top, uint32_t stack)
{
	const struct wire_call_segment *last = last_segment(top), *from = first_segment(top);
	struct wire_call_segment *to = NULL, *first = NULL;
	size_t end = 1;

	for (; from; from = from == last ? NULL : segment_at(from->next)) {
		to = add_segment(to, stack);
		if (!to)
			break;
		first = first ? first : to;
		end = from == last ? (size_t)(top - (const struct wire_call_frame *)from)
				   : WIRE_CALL_FRAMES + 1;
		copy_frames(to, from, end);
	}
	if (from) { /* no memory: the calls that are open stay so, but will have no record */
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK,
				  last->depth + (uint64_t)(top - (const struct wire_call_frame *)last) - 1);
		if (first)
			call_stack_free((struct wire_call_frame *)first + 2);
		return CALL_NO_STACK;
	}
	return to ? (struct wire_call_frame *)to + end : CALL_NO_STACK;
}

/* The thread ends: its open calls end with it, and its segments are free. */
static void leave_thread(void *unused)
{
	const struct wire_call_frame *top;

	(void)unused;
	call_native_leave();
	call_stack_end_all();
	top = call_thread.top;
	call_thread.top = CALL_NO_STACK;
	call_thread.home_stack = 0;
	call_stack_free(top);
}

/* The child has a copy of the thread's stack: frames of the parent are the parent's. */
static void become_child(void)
{
	call_functions_fork();
	if (!tracepoint_session.calls.header)
		return;
	__atomic_store_n(&retry, 0, __ATOMIC_RELAXED);
	call_native_fork();
}

/* A child of vfork runs on the parent's memory; it gets a copy, too, since its calls may end by an exec. */
static void enter_vfork(void)
{
	if (!tracepoint_session.calls.header)
		return;
	call_thread.parent = call_thread.top;
	call_thread.top = call_thread.child = call_stack_copy(call_thread.top, 0);
}

static void leave_vfork(long child)
{
	const struct wire_call_frame *top = call_thread.top;
	struct wire_call_segment *segment;

	if (!tracepoint_session.calls.header)
		return;
	call_thread.top = call_thread.parent;
	if (child <= 0 || top == call_thread.child) { /* the child has no open calls of its own */
		call_stack_free(top);
		return;
	}
	for (segment = first_segment(top); segment; segment = segment_at(segment->next)) {
		segment->pid = (uint32_t)child;
		__atomic_store_n(&segment->tid, (uint32_t)child, __ATOMIC_RELEASE);
	}
}

void call_stack_begin(void)
{
	has_key = pthread_key_create(&key, leave_thread) == 0;
	pthread_atfork(NULL, NULL, become_child);
	tracepoint_vfork = (struct tracepoint_vfork){ enter_vfork, leave_vfork };
}
