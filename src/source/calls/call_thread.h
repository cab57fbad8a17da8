/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread's open calls: the fast paths of begin and end.
 *
 * An open call has a frame in the session (wire/wire_call.h), so it can be seen from outside, also after a SIGKILL. `top` is
 * the next free frame. When a chunk is full, `top` is at its end, a multiple of the chunk's size; a thread without a stack
 * has a `top` of that kind, too. So one test finds both cases.
 *
 * Signals. A handler may interrupt a begin or end of its own thread. It finds `top` either before or behind the frame, and
 * leaves it as it was. A begin therefore moves `top` first and fills the frame then; an end clears the frame first.
 */
#ifndef BURIN_SOURCE_CALLS_CALL_THREAD_H
#define BURIN_SOURCE_CALLS_CALL_THREAD_H

#include <stdbool.h>

#include "source/calls/call_functions.h"
#include "source/calls/call_site.h"
#include "source/tracepoint/commit.h"

struct call_thread {
	struct wire_call_frame *top;
};

extern __thread struct call_thread call_thread __attribute__((tls_model("initial-exec")));

/* call_stack_begin - prepare the process. Context: before there are threads. */
void call_stack_begin(void);

/* call_stack_more - the first frame of the stack's next chunk, or of a new stack; NULL: the call is lost, and counted. */
struct wire_call_frame *call_stack_more(void);

/*
 * call_is_permitted - a call of a function that is neither off nor on: count it, or decide by the depth and the callers.
 * @state: the function's switch
 * Return: whether the call has to be recorded.
 */
bool call_is_permitted(uint32_t function, unsigned state);

/*
 * call_end_slow - the top frame is not that of the call that ends. Calls above it have ended without notice; they end now.
 * If the call has no frame, nothing happens.
 */
void call_end_slow(uint64_t match, uint64_t sp);

/* call_record_slow - record the end of a call in all cases but the usual one. */
void call_record_slow(const struct wire_call_frame *frame);

static inline bool call_is_chunk_end(const struct wire_call_frame *top)
{
	return ((uintptr_t)top & (WIRE_CALL_CHUNK - 1)) == 0;
}

static inline uint32_t call_depth(const struct wire_call_frame *frame)
{
	const struct wire_call_chunk *chunk =
		(const struct wire_call_chunk *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_CHUNK - 1));

	return chunk->depth + (uint32_t)(frame - (const struct wire_call_frame *)chunk) - 1;
}

/* call_begin - a function begins. @match, @sp: for call_end() */
static inline __attribute__((always_inline)) void call_begin(uint32_t function, uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame = call_thread.top;

	if (__builtin_expect(call_is_chunk_end(frame), 0)) {
		frame = call_stack_more();
		if (!frame)
			return;
	}
	__atomic_store_n(&call_thread.top, frame + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	frame->function = function;
	frame->flags = 0;
	frame->match = match;
	frame->sp = sp;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Release: a reader that sees the start sees the function. */
	__atomic_store_n(&frame->start, ring_clock(), __ATOMIC_RELEASE);
}

/* call_close - the call of the top frame has been recorded: free the frame. */
static inline void call_close(struct wire_call_frame *frame)
{
	__atomic_store_n(&frame->start, 0, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&call_thread.top, frame, __ATOMIC_RELAXED);
}

/* call_put - build and append the record of a call that ends. */
static inline __attribute__((always_inline)) void call_put(const struct wire_call_frame *frame)
{
	enum {
		LENGTH = COMMIT_HEADER + 12
	};
	uint64_t words[4];
#if RING_HAVE_RSEQ
	const struct ring_record record = { words, LENGTH };
	const uint32_t tid = tracepoint_thread.tid;
	const uint32_t cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	const struct ring *ring = &tracepoint_session.rings[cpu];
	const struct burin_site *site = call_site;

	if (__builtin_expect(tid != 0 && *site->state == WIRE_ON && cpu < tracepoint_session.geometry.cpus &&
				     ring->slots,
			     1)) {
		words[1] = site->id | (uint64_t)LENGTH << 16;
		words[2] = (uint64_t)frame->function << 32 | tid;
		words[3] = (frame->start << 16 >> 16) | (uint64_t)call_depth(frame) << WIRE_CALL_START_BITS;
		if (__builtin_expect(section_rseq_put(ring, record) != RING_DONE, 0))
			commit_again(words);
		return;
	}
#else
	(void)words;
#endif
	call_record_slow(frame);
}

/* call_end - a function ends. @match: as at its begin. @sp: its stack pointer, for calls that ended without notice */
static inline __attribute__((always_inline)) void call_end(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame = call_thread.top - 1;

	if (__builtin_expect(frame->match != match, 0)) {
		/* The innermost open call is that of a caller: the function that ends is off. */
		if (frame->sp <= sp)
			call_end_slow(match, sp);
		return;
	}
	call_put(frame);
	call_close(frame);
}

#endif
