/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads tasks and mappings that existed before the sampler from /proc. The side band is open before that, so nothing is
 * missed; its mappings replace the ones from here.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_PROC_SCAN_H
#define BURIN_SOURCE_PERF_TASKS_PROC_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/perf/tasks/tasks.h"

/* scan_process - add all threads of a process, its mappings and its program, unless it has ended. */
void scan_process(struct tasks *tasks, uint32_t pid);

/* scan_all - the same for all processes. */
void scan_all(struct tasks *tasks);

/* scan_is_blocked - whether a thread exists and is blocked, neither running nor in a run queue. */
bool scan_is_blocked(uint32_t pid, uint32_t tid);

#endif
