/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The open calls of threads that end or stop, and of processes that fork. */
#ifndef BURIN_SOURCE_CALLS_CALL_FORK_H
#define BURIN_SOURCE_CALLS_CALL_FORK_H

#include <stdbool.h>
#include <stdint.h>

/* call_fork_begin - watch threads and forks. Context: before there are threads. */
void call_fork_begin(void);

/*
 * call_fork_before, call_fork_after, call_fork_child - around a fork for which no handler of pthread_atfork() runs; the second in the parent.
 * Context: any thread, signal handlers.
 */
void call_fork_before(void);
void call_fork_after(void);
void call_fork_child(void);

/*
 * call_stop - the calling thread records no calls from now on. Those that are open keep their frames, so they are seen as open; their return
 * addresses are put back. Those that begin are lost, and counted.
 * call_go_on - the cause has gone. @refused: it never came, so nothing has changed.
 * @why: enum tracepoint_stop. Context: any.
 */
void call_stop(uint32_t why);
void call_go_on(uint32_t why, bool refused);

#endif
