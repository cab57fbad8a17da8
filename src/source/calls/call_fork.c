/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ends of threads, and new processes; see call_fork.h.
 *
 * A fork's child has a copy of the thread's native stack, but shares the frames. The parent may go on before the child has
 * copied them. So they are kept in private memory during the fork.
 *
 * Other handlers of pthread_atfork() that were there before ours run in the child before become_child(). Calls that they make would be open
 * in the parent's frames. So the calls of a fork are open in private memory, too; those of the child are lost, and counted.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "source/calls/call_fork.h"
#include "source/calls/call_native.h"
#include "source/calls/call_segment.h"
#include "source/calls/call_thread.h"
#include "source/calls/call_values.h"

static __thread struct call_kept kept_top
	__attribute__((tls_model("initial-exec"))), /* of the current stack */
	kept_home __attribute__((tls_model("initial-exec")));
static __thread void *away __attribute__((tls_model("initial-exec"))); /* NULL: there was no memory */

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

static void before_fork(void)
{
	void *room;

	if (!tracepoint_session.calls.header)
		return;
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

static void become_child(void)
{
	call_functions_fork();
	call_apart_fork();
	if (!tracepoint_session.calls.header)
		return;
	tracepoint_thread.tid = tracepoint_thread.self_tid = 0; /* libburin.so's own handler may come later */
	call_segment_try_again();
	call_values_fork();
	call_thread.parent = call_stack_make(&kept_top, call_native_fork());
	call_thread.home = call_stack_make(&kept_home, 0);
	call_thread.home_stack = 0;
	after_fork();
}

/* A child of vfork runs on the parent's memory; it gets a copy, too, since its calls may end by an exec. */
static void enter_vfork(void)
{
	if (!tracepoint_session.calls.header)
		return;
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

void call_fork_begin(void)
{
	call_stack_begin(leave_thread);
	pthread_atfork(before_fork, after_fork, become_child);
	tracepoint_vfork = (struct tracepoint_vfork){ enter_vfork, leave_vfork };
}
