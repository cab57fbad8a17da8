/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread's open calls: the fast paths of begin and end.
 *
 * An open call has a frame in the session (wire/wire_call.h), so it can be seen from outside, also after a SIGKILL. `top` is
 * the next free frame. When a segment is full, `top` is at its end, a multiple of the segment's size; a thread without a
 * stack has a `top` of that kind, too. So one test finds both cases.
 *
 * Signals. A handler may interrupt a begin or end of its own thread. It finds `top` either before or behind the frame, and
 * leaves it as it was. A begin therefore moves `top` first and fills the frame then; an end clears the frame first.
 */
#ifndef BURIN_SOURCE_CALLS_STACK_CALL_THREAD_H
#define BURIN_SOURCE_CALLS_STACK_CALL_THREAD_H

#include <stdbool.h>

#include "source/calls/stack/call_cpu.h"
#include "source/calls/functions/call_functions.h"
#include "source/calls/stack/call_site.h"
#include "source/tracepoint/commit.h"

enum {
	CALL_RECORD_BYTES = COMMIT_HEADER + 12,
};

/* Flags of a frame, beside WIRE_CALL_ENDING. */
enum {
	CALL_FRAME_REPLACED =
		1, /* `match` is the return address; in its place, at `sp`, stands one of ours ... */
	CALL_FRAME_RESTORED = 2, /* ... or stood: call_returns_restore() */
	CALL_FRAME_TARGET = 4,	 /* it called setjmp */
	CALL_FRAME_FLAGS = 7,	 /* all of them; from bit 8 on, the number of a block (call_values.h) */
};

struct call_native;

struct call_thread {
	struct wire_call_frame *top; /* of the stack that the thread runs on */
	/* The rest is for the slow paths. */
	struct call_native *native;		/* it runs on this one; NULL: on its own, its home */
	struct wire_call_frame *home;		/* meanwhile the top of its home */
	uint32_t home_stack;			/* number of its home; 0: that of the segments, or none yet */
	struct wire_call_frame *parent, *child; /* the tops at the begin of a fork or vfork */
	uint32_t forking, forking_tid; /* during a fork: the parent's pid, and its thread (call_fork.c) */
	struct wire_call_frame *stopped_top; /* of the calls that were open when it stopped */
	uint32_t stopped; /* enum tracepoint_stop: bits; then `top` is CALL_NO_STACK, and is not changed */
};

/* A full segment: a thread without a stack has it. Its head has the depth by which it seems that no call is open. */
extern struct wire_call_frame call_no_frames[WIRE_CALL_FRAMES + 1];
#define CALL_NO_STACK (call_no_frames + WIRE_CALL_FRAMES + 1)

extern __thread struct call_thread call_thread __attribute__((tls_model("initial-exec")));

/* call_stack_begin - prepare the process. @leave_thread: called at the end of each thread that has a stack. Context: before
 * there are threads. */
void call_stack_begin(void (*leave_thread)(void *));

/* call_lose_stopped - count a call of a thread that has stopped (call_fork.h). Context: any. */
void call_lose_stopped(void);

/*
 * call_notice - set by call_fork.c. In a child for which no handler of the fork ran, its calls are its own from now on (call_is_new()); otherwise
 * nothing happens. It has the frames of its parent, which goes on with them. So no call is open here; return addresses are put back.
 * @slot: where the return address was of a call that has ended here; 0: none
 * Context: any thread, signal handlers. Return: that return address; 0: it is not known, or nothing has happened.
 */
extern uint64_t (*call_notice)(uint64_t slot);

/* call_begin_slow - call_begin() where the stack has no room in its segment. */
void call_begin_slow(uint32_t function, uint64_t match, uint64_t sp);

/*
 * call_end_slow - a call ends in all cases but the usual one. If it is not the top frame's, the calls above it have ended
 * without notice; they end now. If it has no frame, nothing happens.
 * @match: as at its begin; @sp: its stack pointer
 */
void call_end_slow(uint64_t match, uint64_t sp);

/*
 * call_end_exit - the same for a function whose hooks are functions of C: its code may have other activations that are open, of which this
 * one was not recorded (--depth), or which ended without notice (siglongjmp()). The activation is known by its stack.
 */
struct call_exit {
	uint64_t match, sp;
	bool jumped; /* the hook was called by a jump at the function's end: `sp` is where its activation began */
	uint64_t frame_pointer; /* the register's value in the function, which may be anything */
	uint64_t caller;	/* its return address */
};

void call_end_exit(const struct call_exit *exit);

/* call_end_top - end the innermost call. @frame: it */
void call_end_top(struct wire_call_frame *frame);

/*
 * call_stack_returned - a function returned to us, and the top frame is not its own. Calls above its frame end now.
 * @slot: where its return address was
 * Return: its frame. Without one nothing is known of the way back: the process is aborted.
 */
struct wire_call_frame *call_stack_returned(uint64_t slot);

/* call_stack_extend - for call_stack_more() in call_segment.h: a segment more for this stack, or the first one. */
uint64_t call_stack_extend(uint64_t unused, uint64_t unused1);

/* call_stack_end_all - end all calls of the current stack. */
void call_stack_end_all(void);

/* The functions below are given the top of a stack, which may be CALL_NO_STACK. */

/* call_stack_number - its number in the session; 0: it has no segment yet. */
uint32_t call_stack_number(const struct wire_call_frame *top);

/* call_stack_owner - it belongs to another thread from now on. */
void call_stack_owner(const struct wire_call_frame *top, uint32_t tid);

/* call_stack_give - it belongs to the first thread of another process from now on. */
void call_stack_give(const struct wire_call_frame *top, uint32_t pid);

/* call_stack_drop_values - its calls will not end in this process: free what is kept of their arguments. */
void call_stack_drop_values(const struct wire_call_frame *top);

/* call_stack_copy - a copy, while no thread uses it. Return: its top; CALL_NO_STACK: no memory, or there are no calls. */
struct wire_call_frame *call_stack_copy(const struct wire_call_frame *top);

/* The frames of a stack in private memory. */
struct call_kept {
	struct wire_call_frame *frames;
	size_t count;
};

/*
 * call_stack_keep, call_stack_drop - keep the open calls of a stack, and free that memory.
 * call_stack_make - make a stack of the frames that were kept. @stack: its number; 0: a new one. Return: its top.
 */
void call_stack_keep(struct call_kept *kept, const struct wire_call_frame *top);
void call_stack_drop(struct call_kept *kept);
struct wire_call_frame *call_stack_make(const struct call_kept *kept, uint32_t stack);

/*
 * call_stack_away, call_stack_back - from the one to the other the calls of this thread are open in private memory.
 * @room: of it, WIRE_CALL_SEGMENT bytes, aligned to them; NULL: there is none, and these calls are lost
 */
void call_stack_away(void *room);
void call_stack_back(void);

/* call_stack_free - give its segments back; its calls are no longer open. */
void call_stack_free(const struct wire_call_frame *top);

static inline bool call_is_segment_end(const struct wire_call_frame *top)
{
	return ((uintptr_t)top & (WIRE_CALL_SEGMENT - 1)) == 0;
}

static inline uint32_t call_depth(const struct wire_call_frame *frame)
{
	const struct wire_call_segment *segment =
		(const struct wire_call_segment *)((uintptr_t)frame & ~(uintptr_t)(WIRE_CALL_SEGMENT - 1));

	return segment->depth + (uint32_t)(frame - (const struct wire_call_frame *)segment) - 1;
}

/*
 * call_is_permitted - a call of a function that is neither off nor on: count it, or decide by the depth and the callers.
 * @state: the function's switch
 * Return: whether the call has to be recorded. hook_near.c decides the same.
 */
static inline bool call_is_permitted(uint32_t function, unsigned state)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;
	/* Only permitted calls have frames. So a call is below a root if any call is open. */
	const uint32_t open = call_depth(call_thread.top - 1) + 1;

	if (state == WIRE_CALL_COUNT) {
		call_count(function);
		return false;
	}
	return (!calls->depth_max || open < calls->depth_max) &&
	       (!calls->below || state == WIRE_CALL_ROOT || open != 0);
}

/* call_begin - a function begins. @frame: call_thread.top, not the end of a segment. @match, @sp: for call_end() */
static inline __attribute__((always_inline)) void call_begin(struct wire_call_frame *frame, uint32_t function,
							     uint64_t match, uint64_t sp)
{
	__atomic_store_n(&call_thread.top, frame + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	wire_call_frame_begin(frame, function);
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

/* call_is_short - the options leave out a call that ends now: --min. */
static inline bool call_is_short(const struct wire_call_frame *frame)
{
	const uint64_t min = tracepoint_session.calls.header ? tracepoint_session.calls.header->min_ticks : 0;

	return min && ring_clock() - frame->start < min;
}

/*
 * call_put - append the record of a call that ends, unless it is too short.
 * Return: false: call_end_slow() or call_end_top() has to do it.
 */
static inline __attribute__((always_inline)) bool call_put(const struct wire_call_frame *frame)
{
#if RING_HAVE_RSEQ
	const uint32_t tid = tracepoint_thread.tid;
	const uint32_t cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	const struct ring *ring = &tracepoint_session.rings[cpu];
	const struct burin_site *site = call_site;

	if (__builtin_expect(call_cpu_here->cpu != cpu || !call_cpu_here->room, 0))
		call_cpu_enter();
	if (__builtin_expect(call_is_short(frame), 0))
		return true;
	return __builtin_expect(tid != 0 && call_switch() == WIRE_ON && cpu < session_identity.cpus &&
					ring->slots,
				1) &&
	       section_rseq_put3(ring, site->id | (uint64_t)CALL_RECORD_BYTES << 16,
				 (uint64_t)frame->function << 32 | tid,
				 (frame->start << 16 >> 16) | (uint64_t)call_depth(frame)
								      << WIRE_CALL_START_BITS) == RING_DONE;
#else
	(void)frame;
	return false;
#endif
}

/* call_end - a function ends, whose frame is the top one. */
static inline __attribute__((always_inline)) bool call_end(struct wire_call_frame *frame)
{
	frame->flags |= WIRE_CALL_ENDING;
	if (__builtin_expect(!call_put(frame), 0))
		return false;
	call_close(frame);
	return true;
}

#endif
