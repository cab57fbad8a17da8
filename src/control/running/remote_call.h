/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A call of a function in another process, by one of its threads (ptrace, x86-64, the GNU C library).
 *
 * The thread is one that holds no lock of the C library: it is blocked in a system call that the program asked for, or inside
 * the program's own code; not in a signal handler, and on a stack with room. It calls the function by code (remote_code.h) that is
 * written into unused bytes behind the C library's, and then puts its registers back by itself. It waits for the caller to do that
 * only if a signal came meanwhile that ends its system call.
 */
#ifndef BURIN_CONTROL_RUNNING_REMOTE_CALL_H
#define BURIN_CONTROL_RUNNING_REMOTE_CALL_H

#include "control/running/process_memory.h"
#include "control/running/process_threads.h"

struct remote_call {
	uint64_t function;
	const char *text;  /* the first argument is its address */
	uint64_t argument; /* the second */
	/* Another function, which gets the first one's result and a name; its result is called then. 0: none; a result of 0 ends this. */
	uint64_t next;
	const char *name;
	uint64_t result;    /* what the last function returned */
	uint64_t steps;	    /* functions that were called */
	uint64_t thread_ns; /* how long the thread was away from its own work */
};

/*
 * remote_call - call a function.
 * @threads: of the process. Those that stop too late, and the one that has called, are let go by the kernel at the end of the calling process
 * Return: 0; -EAGAIN: no thread came to a suitable place within some seconds; -ETIMEDOUT: the function has not returned
 * within some seconds, and goes on; -ESTALE: the process executed another program; -ESRCH; -EPERM; -ENOEXEC: there is no
 * place for the instructions.
 */
int remote_call(struct process_memory *memory, struct process_threads *threads, struct remote_call *call);

#endif
