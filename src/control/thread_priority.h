/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread stops when it gets a CPU, so on busy CPUs all threads of a process would stand still for as long as the queue is. As root,
 * threads that are asked to stop, and the one that asks, come before others for that moment (SCHED_FIFO).
 *
 * The former priorities are in memory that is shared with the parent, so a child that is killed meanwhile leaves none behind.
 */
#ifndef BURIN_CONTROL_THREAD_PRIORITY_H
#define BURIN_CONTROL_THREAD_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/* thread_priority_begin - before the process forks that will stop threads. Without memory, or rights, no priority is changed. */
void thread_priority_begin(void);

/* thread_priority_end - that process has ended: restore all priorities. */
void thread_priority_end(void);

/* thread_priority_raise, thread_priority_restore - of another process's thread. It need not have been raised. */
void thread_priority_raise(pid_t tid);
void thread_priority_restore(pid_t tid);

/* thread_priority_hurry - the calling thread's: above those; or as usual. */
void thread_priority_hurry(bool on);

#endif
