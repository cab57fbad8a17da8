/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The current thread's id without a call of a helper, for programs at system calls. These get the address of the process's registers, which lie at
 * the top of the thread's stack in the kernel, at the same distance from its begin in each thread. A table has a task for each such
 * address. If that task's stack is the one that has these registers, it is the current task, since no two tasks have one stack; the
 * kernel removes the stack from a task that has ended. Otherwise the helper is asked, and the table gets its answer.
 *
 * A task of the table may have been freed meanwhile. Its memory is read as the kernel's programs read any address: without a fault.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_STACKS_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_STACKS_H

#include "source/kernel/bpf/kernel_put.h"

/* kernel_stacks_make - make the map of the table. Return: a descriptor; -errno. */
int kernel_stacks_make(void);

/*
 * kernel_stacks_put - register 0: the current thread's id. For typed programs, if @layout->stacks is there. Changes registers 0 to 5
 * and 7.
 */
void kernel_stacks_put(struct bpf_program *to, const struct kernel_layout *layout);

#endif
