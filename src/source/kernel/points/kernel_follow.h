/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The recorded tasks: a byte for each thread id, in a map of the kernel. Programs at tracepoints keep it: each task that is
 * made is recorded if its maker is.
 *
 * The tree of the sampler (source/perf/rings/tree.h) has addresses of tasks instead: samples do not name other tasks, as records of
 * the scheduler do.
 */
#ifndef BURIN_SOURCE_KERNEL_POINTS_KERNEL_FOLLOW_H
#define BURIN_SOURCE_KERNEL_POINTS_KERNEL_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/kernel/in_kernel/kernel_follow_state.h"

enum {
	KERNEL_FOLLOW_PROGRAMS = 2,
	KERNEL_FOLLOW_MET = 1 << 14,
};

struct kernel_follow {
	int met;	/* map: struct kernel_met by thread id, the latest ones */
	int members;	/* map: one value, a byte for each thread id */
	uint8_t *tasks; /* its value, mapped; NULL: it is not open */
	int watches[KERNEL_FOLLOW_PROGRAMS], programs[KERNEL_FOLLOW_PROGRAMS];
};

/* kernel_follow_open - begin to follow. @events: of tracefs_open(). Return: 0 or -errno; then there is nothing to close. */
int kernel_follow_open(struct kernel_follow *follow, int events);

/* kernel_follow_command - record a child that has not executed its program yet, from its exec on. */
void kernel_follow_command(const struct kernel_follow *follow, pid_t child);

/* kernel_follow_process - record all threads of a process. Return: 0; -ESRCH: there is none; another -errno. */
int kernel_follow_process(struct kernel_follow *follow, pid_t process);

/* kernel_follow_threads - call a function for each thread of a process, until it returns an error. Return: as above; that error. */
int kernel_follow_threads(pid_t process, int (*each)(void *context, pid_t thread), void *context);

/*
 * kernel_follow_list - list the threads that are recorded now: "13 20-25", in order. Those that ended may be among them.
 * Return: false: there is no room for all, or it is not open.
 */
bool kernel_follow_list(const struct kernel_follow *follow, char *out, size_t size);

void kernel_follow_close(struct kernel_follow *follow);

#endif
