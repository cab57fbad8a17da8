/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A call of a function in another process, by one of its threads (ptrace, x86-64, the GNU C library).
 *
 * The thread is one that holds no lock of the C library: it is blocked in a system call that the program asked for, or inside
 * the program's own code; not in a signal handler, and on a stack with room. It calls the function through a few
 * instructions that are written into unused bytes behind the C library's code. When the function has returned, its registers
 * are put back. If the caller has died meanwhile, the instructions do that themselves, as at the end of a signal handler.
 */
#ifndef BURIN_CONTROL_REMOTE_CALL_H
#define BURIN_CONTROL_REMOTE_CALL_H

#include "control/process_memory.h"
#include "control/process_threads.h"

enum {
	REMOTE_CALL_TEXT = 4096, /* longest text, with its NUL */
};

struct remote_call {
	uint64_t function;
	const char *text;   /* the first argument is its address; NULL: it is 0 */
	uint64_t argument;  /* the second */
	uint64_t result;    /* what the function returned */
	uint64_t thread_ns; /* how long the thread was away from its own work */
};

/*
 * remote_call - call a function.
 * @threads: of the process; the same for all calls. Threads that stop too late for one are let go by the next, or by the kernel at
 * the end of the calling process
 * Return: 0; -EAGAIN: no thread came to a suitable place within some seconds; -ETIMEDOUT: the function has not returned
 * within some seconds, and goes on; -ESTALE: the process executed another program; -ESRCH; -EPERM; -ENOEXEC: there is no
 * place for the instructions.
 */
int remote_call(struct process_memory *memory, struct process_threads *threads, struct remote_call *call);

#endif
