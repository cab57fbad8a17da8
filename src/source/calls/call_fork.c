/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ends of threads, and new processes; see call_fork.h.
 *
 * A fork's child has a copy of the thread's native stack, but shares the frames. The parent may go on before the child has
 * copied them. So they are kept in private memory during the fork.
 *
 * Other handlers of pthread_atfork() that were there before ours run in the child before become_child(). Calls that they make would be open
 * in the parent's frames. So the calls of a fork are open in private memory, too; those of the child are lost, and counted.
 *
 * The functions that fork without these handlers are replaced (interpose_fork.c). Those that remain are system calls by the program's own
 * instructions, and clone() with a stack of the child's own. The hooks find such a child by the page that the kernel clears (call_switch()).
 */
#include <pthread.h>
#include <sys/mman.h>

#include "source/calls/call_fork.h"
#include "source/calls/stack/call_native.h"
#include "source/calls/stack/call_segment.h"
#include "source/calls/stack/call_thread.h"
#include "source/calls/stack/call_values.h"
#include "source/calls/hooks/hook_entry.h"

static __thread struct call_kept kept_top
	__attribute__((tls_model("initial-exec"))), /* of the current stack */
	kept_home __attribute__((tls_model("initial-exec")));
static __thread void *away __attribute__((tls_model("initial-exec"))); /* NULL: there was no memory */

/* The frames of calls that were open when the thread stopped are given back: each is a lost record. */
static void forsake(void)
{
	struct wire_call_frame *const top = call_thread.stopped_top;

	call_thread.stopped_top = CALL_NO_STACK;
	if (top == CALL_NO_STACK)
		return;
	call_stack_drop_values(top);
	for (struct wire_call_frame *frame = call_stack_below(top); frame; frame = call_stack_below(frame))
		call_lose_stopped();
	call_stack_free(top);
}

/* The thread ends: its open calls end with it, and its segments are free. */
static void leave_thread(void *unused)
{
	const struct wire_call_frame *top;

	(void)unused;
	call_native_leave();
	call_stack_end_all();
	forsake();
	top = call_thread.top;
	call_thread.top = CALL_NO_STACK;
	call_thread.home_stack = 0;
	call_stack_free(top);
}

/* The switch of all calls is reached from this process. */
static void own_switch(void)
{
	const ptrdiff_t distance = call_site->state - (const uint8_t *)&session_identity;

	__atomic_store_n(&session_identity.calls, distance, __ATOMIC_RELAXED);
}

static void before_fork(void)
{
	void *room;

	if (!tracepoint_session.calls.header)
		return;
	call_notice(0);
	call_stack_keep(&kept_top, call_thread.top);
	call_stack_keep(&kept_home, call_thread.native ? call_thread.home : CALL_NO_STACK);
	room = mmap(NULL, WIRE_CALL_SEGMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	away = room == MAP_FAILED ? NULL : room;
	call_stack_away(away);
}

static void after_fork(void)
{
	if (!call_thread.forking)
		return;
	call_stack_back();
	if (away)
		munmap(away, WIRE_CALL_SEGMENT);
	call_stack_drop(&kept_top);
	call_stack_drop(&kept_home);
}

/* Nothing of the process is its parent's any more, but the frames. */
static void begin_child(void)
{
	call_functions_fork();
	call_apart_fork();
	call_segment_try_again();
	call_values_fork();
	call_thread.stopped &= TRACEPOINT_STOP_CLOCK;
	call_thread.stopped_top = CALL_NO_STACK;
	own_switch();
}

static void become_child(void)
{
	begin_child();
	if (!tracepoint_session.calls.header)
		return;
	tracepoint_thread.tid = tracepoint_thread.self_tid = 0; /* libburin.so's own handler may come later */
	call_thread.parent = call_stack_make(&kept_top, call_native_fork());
	call_thread.home = call_stack_make(&kept_home, 0);
	call_thread.home_stack = 0;
	after_fork();
}

/* call_notice */
static uint64_t notice(uint64_t slot)
{
	uint64_t address;

	if (!call_is_new() || call_thread.forking || !tracepoint_session.calls.header)
		return 0;
	tracepoint_thread_enter(); /* libburin.so does the same for its part */
	address = call_returns_put_back(slot);
	call_thread.top = call_thread.home = CALL_NO_STACK;
	call_thread.home_stack = 0;
	call_thread.native = NULL;
	begin_child();
	return address;
}

void call_fork_before(void)
{
	call_returns_restore();
	before_fork();
}

void call_fork_after(void)
{
	after_fork();
	call_returns_replace();
}

void call_fork_child(void)
{
	become_child();
	call_returns_in_child();
}

/* A child of vfork runs on the parent's memory; it gets a copy, too, since its calls may end by an exec. */
static void enter_vfork(void)
{
	if (!tracepoint_session.calls.header)
		return;
	call_notice(0);
	call_thread.parent = call_thread.top;
	call_thread.top = call_thread.child = call_stack_copy(call_thread.top);
}

static void leave_vfork(long child)
{
	const struct wire_call_frame *top = call_thread.top;

	if (!tracepoint_session.calls.header)
		return;
	call_thread.top = call_thread.parent;
	if (child <= 0 || top == call_thread.child) { /* the child has no open calls of its own */
		call_stack_free(top);
		return;
	}
	call_stack_drop_values(top);
	call_stack_give(top, (uint32_t)child);
}

void call_stop(uint32_t why)
{
	const bool has_stopped = call_thread.stopped;

	if (!tracepoint_session.calls.header)
		return;
	if (!has_stopped)
		call_returns_restore();
	call_thread.stopped |= why;
	if (has_stopped)
		return;
	call_thread.stopped_top = call_thread.top;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	call_thread.top = CALL_NO_STACK;
}

void call_go_on(uint32_t why, bool refused)
{
	const uint32_t stopped = call_thread.stopped & ~why;

	if (stopped == call_thread.stopped)
		return;
	call_thread.stopped = stopped;
	if (stopped)
		return;
	if (!refused) {
		forsake();
		return;
	}
	call_thread.top = call_thread.stopped_top;
	call_thread.stopped_top = CALL_NO_STACK;
	call_returns_replace();
}

void call_fork_begin(void)
{
	call_stack_begin(leave_thread);
	pthread_atfork(call_fork_before, call_fork_after, call_fork_child);
	call_notice = notice;
	tracepoint_calls = (struct tracepoint_calls){ enter_vfork, leave_vfork, call_stop, call_go_on };
	own_switch();
}
