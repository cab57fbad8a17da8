/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events, counted in the kernel: programs at its tracepoints add to rows of a map, and nothing is written or read for an event.
 * in_kernel/counts/kernel_count.h describes the maps.
 *
 * Needs programs in the kernel, so root, or CAP_BPF, CAP_PERFMON and the right to read tracefs. All of it ends with this process.
 */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_KERNEL_COUNTS_H
#define BURIN_SOURCE_KERNEL_COUNTS_KERNEL_COUNTS_H

#include "source/kernel/counts/count_state.h"

/*
 * kernel_counts_open - choose the tracepoints, and attach to them. Nothing is counted before kernel_counts_start().
 * @options: the texts in it stay in use
 * @why: why it failed: one line without a newline
 * Return: 0 or -errno; then there is nothing to close. -ENOENT: the globs match nothing, or a condition or a word does not fit.
 */
int kernel_counts_open(struct kernel_counts *counts, const struct kernel_counts_options *options,
		       char why[KERNEL_WHY]);

/* kernel_counts_command - count a child that has not executed its program yet, from its exec on. */
void kernel_counts_command(const struct kernel_counts *counts, pid_t child);

/* kernel_counts_process - count all threads of a process. Return: 0; -ESRCH: there is none; another -errno. */
int kernel_counts_process(struct kernel_counts *counts, pid_t process);

/* kernel_counts_start, kernel_counts_stop - count all events from one moment to another. No program counts any more behind that. */
void kernel_counts_start(struct kernel_counts *counts);
void kernel_counts_stop(struct kernel_counts *counts);

/* kernel_counts_next - begin another slot. Behind that no program counts in the former one. */
void kernel_counts_next(struct kernel_counts *counts);

void kernel_counts_close(struct kernel_counts *counts);

#endif
