/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A thread stops when it gets a CPU, so on busy CPUs all threads of a process would stand still for as long as the queue is. As root,
 * threads that are asked to stop, and the one that asks, come before others for that moment (SCHED_FIFO).
 *
 * An ordinary user may not do that. But a thread that stops at once leaves its CPU to the next one of its process, if the kernel shares
 * CPUs among sessions or groups of processes. So threads that were asked wait for one CPU, all for the same: then they stop in a
 * row, and the one that asks uses another CPU. Since they stop before they execute anything, none can bequeath its CPU.
 *
 * The former priorities and CPUs are in memory that is shared with the parent, so a child that is killed meanwhile leaves none behind.
 * A thread has them only from the question to the stop: it executes nothing of its program meanwhile, but may end a system call, such
 * as one that executes another program.
 */
#ifndef BURIN_CONTROL_RUNNING_THREAD_PRIORITY_H
#define BURIN_CONTROL_RUNNING_THREAD_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/* thread_priority_begin - before the process forks that will stop threads. Without memory, or rights, no priority is changed. */
void thread_priority_begin(void);

/* thread_priority_end - that process has ended: restore all priorities. */
void thread_priority_end(void);

/*
 * thread_priority_raise - a thread of another process was asked to stop. Its id cannot become another's: it is traced.
 * thread_priority_gather - the same for an ordinary user.
 * thread_priority_restore - it has stopped. It need not have been raised.
 * thread_priority_leave - it is no longer there: it has ended, or executed another program, and is the first thread of its process.
 */
void thread_priority_raise(pid_t pid, pid_t tid);
void thread_priority_gather(pid_t pid, pid_t tid);
void thread_priority_restore(pid_t tid);
void thread_priority_leave(pid_t tid);

/* thread_priority_hurry, thread_priority_usual - the calling thread's, before and after it stops those of a process. */
void thread_priority_hurry(pid_t pid);
void thread_priority_usual(void);

/* thread_priority_is_aside - whether gathered threads have another CPU than the calling thread, which may use its own meanwhile. */
bool thread_priority_is_aside(void);

#endif
