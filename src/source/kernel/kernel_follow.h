/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The recorded tasks, by their numbers, in a map of the kernel. Programs at tracepoints keep it: a task in it adds its
 * children, and a task that is freed is removed.
 *
 * The tree of the sampler (source/perf/rings/tree.h) has addresses of tasks instead: samples do not name other tasks, as records of
 * the scheduler do.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_FOLLOW_H
#define BURIN_SOURCE_KERNEL_KERNEL_FOLLOW_H

#include <stdint.h>
#include <sys/types.h>

enum {
	KERNEL_FOLLOW_TASKS = 32768,
	KERNEL_FOLLOW_PROGRAMS = 3,
};

struct kernel_follow {
	int members; /* map: u32 thread id -> u32, 0: it waits for its exec */
	int full;    /* array of one u64: tasks that found no room */
	int watches[KERNEL_FOLLOW_PROGRAMS], programs[KERNEL_FOLLOW_PROGRAMS];
};

/* kernel_follow_open - begin to follow. @events: of tracefs_open(). Return: 0 or -errno; then there is nothing to close. */
int kernel_follow_open(struct kernel_follow *follow, int events);

/* kernel_follow_command - record a child that has not executed its program yet, from its exec on. Return: 0 or -errno. */
int kernel_follow_command(const struct kernel_follow *follow, pid_t child);

/* kernel_follow_process - record all threads of a process. Return: 0; -ESRCH: there is none; another -errno. */
int kernel_follow_process(const struct kernel_follow *follow, pid_t process);

/* kernel_follow_missed - tasks that are not recorded, since there were too many. */
uint64_t kernel_follow_missed(const struct kernel_follow *follow);

void kernel_follow_close(struct kernel_follow *follow);

#endif
