/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that sleep when a recording ends: one that slept all the time has no other record. A program in the kernel, which runs for each task (a
 * BPF iterator), reads state, call and stack of the threads of processes: none of these is asked for in files that a process can hold.
 */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_ASLEEP_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_ASLEEP_H

#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/points/tracepoint.h"

enum {
	KERNEL_ASLEEP_STACK = 256, /* bytes of the names of a stack, with the NUL */
};

struct kernel_asleep {
	uint32_t tid, state; /* the state as sched_switch has it */
	int16_t call;	     /* its number, or enum kernel_call */
	char stack
		[KERNEL_ASLEEP_STACK]; /* names of the kernel's functions with a space between, from the innermost one on; may be "" */
};

/* kernel_asleep_open - load the program. Return: its descriptor; -errno: the kernel cannot. */
int kernel_asleep_open(const struct kernel_layout *layout);

/* kernel_asleep_each - call a function for each such thread of the machine. @program: of kernel_asleep_open() */
void kernel_asleep_each(int program, void (*take)(void *context, const struct kernel_asleep *thread),
			void *context);

/* kernel_asleep_describe - the event: the fields of struct kernel_asleep behind `asleep_ns`, the least time for which it slept. */
void kernel_asleep_describe(struct tracepoint *point);

#endif
