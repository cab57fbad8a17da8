/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks of open calls: the slow paths; see call_thread.h. */
#include <pthread.h>
#include <string.h>

#include "source/calls/call_thread.h"

/* A full chunk, in which no call is open: a thread without a stack has it. */
static _Alignas(WIRE_CALL_CHUNK) struct wire_call_frame none[WIRE_CALL_FRAMES + 1] = {
	[WIRE_CALL_FRAMES] = { .sp = UINT64_MAX }, /* no call that ends is below it: see call_end() */
};

__thread struct call_thread call_thread = { .top = none + WIRE_CALL_FRAMES + 1 };

static pthread_key_t key; /* its destructor frees a thread's chunks */
static bool has_key;

static struct wire_call_chunk *chunk_of(const struct wire_call_frame *frame)
{
	return (struct wire_call_chunk *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_CHUNK - 1));
}

static uint32_t number_of(const struct wire_call_chunk *chunk)
{
	return (uint32_t)(((const char *)chunk - tracepoint_session.calls.chunks) / WIRE_CALL_CHUNK) + 1;
}

/* The chunk before or behind a chunk; NULL: none. A damaged session cannot lead out of the chunks. */
static struct wire_call_chunk *chunk_at(uint64_t number)
{
	return number - 1 < tracepoint_session.geometry.call_chunks
		       ? session_call_chunk_at(&tracepoint_session, (uint32_t)number)
		       : NULL;
}

static bool has_stack(void)
{
	return call_thread.top != none + WIRE_CALL_FRAMES + 1;
}

/* The frame below a frame, in an earlier chunk if need be; NULL: none. */
static struct wire_call_frame *frame_below(const struct wire_call_frame *frame)
{
	struct wire_call_chunk *chunk = chunk_of(frame);

	if (frame - 1 != (const struct wire_call_frame *)chunk)
		return (struct wire_call_frame *)(uintptr_t)(frame - 1);
	chunk = chunk_at(chunk->previous);
	return chunk ? (struct wire_call_frame *)chunk + WIRE_CALL_FRAMES : NULL;
}

/* The innermost open call; NULL: none. */
static struct wire_call_frame *top_frame(void)
{
	return has_stack() ? frame_below(call_thread.top) : NULL;
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
	top = top_frame();
	open = top ? call_depth(top) + 1 : 0;
	return (!calls->depth_max || open < calls->depth_max) &&
	       (!calls->below || state == WIRE_CALL_ROOT || open != 0);
}

struct wire_call_frame *call_stack_more(void)
{
	const struct wire_call_chunk *full = has_stack() ? chunk_of(call_thread.top - 1) : NULL;
	struct wire_call_chunk *chunk = full ? chunk_at(full->next) : NULL;
	uint32_t number;

	if (!chunk) {
		const uint32_t tid = tracepoint_thread_enter();

		if (has_key)
			pthread_setspecific(key,
					    &key); /* any value but NULL: then leave_thread() is called */
		number = session_call_chunk(&tracepoint_session, session_self(), tid, full ? full->stack : 0,
					    full ? full->depth + WIRE_CALL_FRAMES : 0,
					    full ? number_of(full) : 0);
		chunk = chunk_at(number);
	}
	if (!chunk) {
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_STACK, 1);
		return NULL;
	}
	return (struct wire_call_frame *)chunk + 1;
}

/* End the innermost call. */
static void end_top(struct wire_call_frame *frame)
{
	if (frame->function)
		call_put(frame);
	call_close(frame);
}

void call_end_slow(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *wanted = top_frame(), *frame;

	/* A call cannot end while one that began on a lower address of the stack goes on. */
	while (wanted && wanted->match != match && wanted->sp <= sp)
		wanted = frame_below(wanted);
	if (!wanted || wanted->match != match)
		return;
	do {
		frame = top_frame();
		end_top(frame);
	} while (frame != wanted);
}

/* Whether the options leave out a call that ends now: --min. */
static bool is_short(const struct wire_call_frame *frame)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;

	return calls && calls->min_ticks && ring_clock() - frame->start < calls->min_ticks;
}

void call_record_slow(const struct wire_call_frame *frame)
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

/* The thread ends: its open calls end with it, and its chunks are free. */
static void leave_thread(void *unused)
{
	struct wire_call_chunk *chunk;

	(void)unused;
	for (struct wire_call_frame *frame = top_frame(); frame; frame = top_frame())
		end_top(frame);
	if (!has_stack())
		return;
	for (chunk = chunk_of(call_thread.top - 1); chunk_at(chunk->previous);)
		chunk = chunk_at(chunk->previous);
	call_thread.top = none + WIRE_CALL_FRAMES + 1;
	session_call_chunk_free(&tracepoint_session, number_of(chunk), tracepoint_thread_self());
}

void call_stack_begin(void)
{
	has_key = pthread_key_create(&key, leave_thread) == 0;
}
