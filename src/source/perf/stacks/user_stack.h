/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unwinds the user's part of a stack from the registers and the copy of the stack, with the images' unwind tables. */
#ifndef BURIN_SOURCE_PERF_STACKS_USER_STACK_H
#define BURIN_SOURCE_PERF_STACKS_USER_STACK_H

#include "source/perf/tasks/tasks.h"

struct user_stack_end {
	enum wire_truncation
		truncation; /* why there are no more frames; WIRE_TRUNCATION_NONE: the stack is complete */
	bool continued;	    /* the outer frames are those of an earlier sample: deep_stack.h */
	bool scanned;	    /* frames were found by return addresses on the stack: unwind.h */
};

/*
 * user_stack - find the frames' addresses, the innermost first, as traces store them.
 * @mask: the registers in the sample
 * @task: its process' mappings count; a deep stack is kept, or continued (deep_stack.h)
 * @locations, @max: room for the addresses
 * Return: how many; 0: there are no registers (a kernel thread, a 32-bit program), or no code.
 */
unsigned user_stack(const struct record_sample *sample, uint64_t mask, struct images *images,
		    struct sample_task *task, uint64_t *locations, unsigned max, struct user_stack_end *end);

/*
 * user_stack_is_gone - whether the thread has no stack in user mode at the moment. From the moment when execve()
 * frees the memory of the former program until the next one begins, the registers of the sample are the former's, and their
 * stack pointer points to nothing.
 * @mask: the registers in a sample
 */
bool user_stack_is_gone(const struct record_sample *sample, uint64_t mask, struct sample_process *process);

#endif
