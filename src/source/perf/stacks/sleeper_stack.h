/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stack of a thread that sleeps, without a sample and without a stop.
 *
 * The kernel shows the program counter and the stack pointer of a thread that does not run (/proc/PID/task/TID/syscall). Its stack is
 * copied from the memory of the process, and unwound as that of a sample. The thread may wake meanwhile: then the copy is newer than
 * the registers, and frames may be missing or wrong. So the registers are read again, and if they differ, there is no stack.
 */
#ifndef BURIN_SOURCE_PERF_STACKS_SLEEPER_STACK_H
#define BURIN_SOURCE_PERF_STACKS_SLEEPER_STACK_H

#include "source/perf/stacks/attribute.h"

/* The system call in which a thread sleeps. */
struct sleeper_call {
	bool running;	/* it does not sleep; nothing else is set */
	int64_t number; /* below 0: it sleeps outside of a call, such as in a page fault */
	uint64_t arguments[6];
	uint64_t stack, pc; /* 0: it has none (a thread of the kernel) */
};

/* sleeper_call_read - Return: 0; -ESRCH: it has ended; -EPERM or -EACCES; -ETIMEDOUT; another -errno. */
int sleeper_call_read(uint32_t pid, uint32_t tid, struct sleeper_call *call);

/*
 * sleeper_stack - the task and the stack of a thread that the attribution's tasks have.
 * @call: as just read
 * Return: 0; -EAGAIN: it runs, or has woken; -ENODATA: it has no stack that can be unwound; its memory cannot be read: -ETIMEDOUT or
 * another -errno.
 */
int sleeper_stack(struct attribution *attribution, uint32_t pid, uint32_t tid,
		  const struct sleeper_call *call, struct attributed *out);

/* The stacks of processes, without a trace. */
struct sleeper_stacks {
	struct table_writer images_table, tasks_table, stacks_table;
	struct images images;
	struct tasks tasks;
	struct kernel kernel;
	struct stacks stacks;
	struct attribution attribution;
};

/* sleeper_stacks_begin - Return: 0 or -ENOMEM; then sleeper_stacks_free(). */
int sleeper_stacks_begin(struct sleeper_stacks *all);
void sleeper_stacks_free(struct sleeper_stacks *all);

/* sleeper_stacks_scan - read a process's threads and mappings, as they are now. Numbers of stacks may not be valid any more. */
void sleeper_stacks_scan(struct sleeper_stacks *all, uint32_t pid);

#endif
