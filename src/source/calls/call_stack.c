/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks of open calls: the slow paths; see call_thread.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/calls/call_thread.h"

/* A full segment, in which no call is open: a thread without a stack has it. */
static _Alignas(WIRE_CALL_SEGMENT) struct wire_call_frame none[WIRE_CALL_FRAMES + 1] = {
	[WIRE_CALL_FRAMES] = { .sp = UINT64_MAX }, /* no call that ends is below it (hook_instrument.c) */
};

__thread struct call_thread call_thread = { .top = none + WIRE_CALL_FRAMES + 1 };

static pthread_key_t key; /* its destructor frees a thread's segments */
static bool has_key;

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

static bool has_stack(void)
{
	return call_thread.top != none + WIRE_CALL_FRAMES + 1;
}

struct wire_call_frame *call_stack_more(void)
{
	const struct wire_call_segment *full = has_stack() ? segment_of(call_thread.top - 1) : NULL;
	struct wire_call_segment *segment = full ? segment_at(full->next) : NULL;
	uint32_t number;

	if (!segment) {
		const uint32_t tid = tracepoint_thread_enter();

		if (has_key)
			pthread_setspecific(key,
					    &key); /* any value but NULL: then leave_thread() is called */
		number = session_call_segment(
			&tracepoint_session, session_self(), tid, full ? full->stack : 0,
			full ? full->depth + WIRE_CALL_FRAMES : 0, full ? number_of(full) : 0);
		segment = segment_at(number);
	}
	if (!segment) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, 1);
		return NULL;
	}
	return (struct wire_call_frame *)segment + 1;
}

struct wire_call_frame *call_stack_below(const struct wire_call_frame *frame)
{
	struct wire_call_segment *segment = segment_of(frame);

	if (frame - 1 != (const struct wire_call_frame *)segment)
		return (struct wire_call_frame *)(uintptr_t)(frame - 1);
	segment = segment_at(segment->previous);
	return segment ? (struct wire_call_frame *)segment + WIRE_CALL_FRAMES : NULL;
}

struct wire_call_frame *call_stack_top(void)
{
	return has_stack() ? call_stack_below(call_thread.top) : NULL;
}

bool call_is_permitted(uint32_t function, unsigned state)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;
	const struct wire_call_frame *top;
	uint32_t open;

	if (state == WIRE_CALL_COUNT) {
		__atomic_fetch_add(&tracepoint_session.calls.counts[function], 1, __ATOMIC_RELAXED);
		return false;
	}
	/* Only permitted calls have frames. So a call is below a root if any call is open. */
	top = call_stack_top();
	open = top ? call_depth(top) + 1 : 0;
	return (!calls->depth_max || open < calls->depth_max) &&
	       (!calls->below || state == WIRE_CALL_ROOT || open != 0);
}

/* Whether the options leave out a call that ends now: --min. */
static bool is_short(const struct wire_call_frame *frame)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;

	return calls && calls->min_ticks && ring_clock() - frame->start < calls->min_ticks;
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

	if (tracepoint_session.base && state != WIRE_OFF && !is_short(frame))
		burin_emit(call_site, state, &record, 12);
}

void call_end_top(struct wire_call_frame *frame)
{
	if (frame->function && !call_put(frame))
		record_slow(frame);
	frame->flags = 0;
	call_close(frame);
}

void call_begin_slow(uint32_t function, uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame = call_thread.top;

	if (call_is_segment_end(frame))
		frame = call_stack_more();
	if (frame)
		call_begin(frame, function, match, sp);
}

void call_end_slow(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *wanted = call_stack_top(), *frame;

	/* A call cannot end while one that began on a lower address of the stack goes on. */
	while (wanted && wanted->match != match && wanted->sp <= sp)
		wanted = call_stack_below(wanted);
	if (!wanted || wanted->match != match)
		return;
	do {
		frame = call_stack_top();
		call_end_top(frame);
	} while (frame != wanted);
}

struct wire_call_frame *call_stack_returned(uint64_t slot)
{
	static const char message[] =
		"burin: a traced function returned whose caller is not known; see burin-record(1), CALLS\n";
	struct wire_call_frame *wanted = call_stack_top(), *frame;

	while (wanted && wanted->sp != slot)
		wanted = call_stack_below(wanted);
	if (!wanted) {
		if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
			abort();
		abort();
	}
	while ((frame = call_stack_top()) != wanted)
		call_end_top(frame);
	return wanted;
}

/* The thread ends: its open calls end with it, and its segments are free. */
static void leave_thread(void *unused)
{
	struct wire_call_segment *segment;

	(void)unused;
	for (struct wire_call_frame *frame = call_stack_top(); frame; frame = call_stack_top())
		call_end_top(frame);
	if (!has_stack())
		return;
	for (segment = segment_of(call_thread.top - 1); segment_at(segment->previous);)
		segment = segment_at(segment->previous);
	call_thread.top = none + WIRE_CALL_FRAMES + 1;
	session_call_segment_free(&tracepoint_session, number_of(segment), tracepoint_thread_self());
}

void call_stack_begin(void)
{
	has_key = pthread_key_create(&key, leave_thread) == 0;
}
