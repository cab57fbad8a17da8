/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tasks and mappings that were there before the sampler: read from /proc. The side band is open by then, so that nothing
 * falls between; what the kernel tells later lies over what was found here.
 */
#ifndef BURIN_SOURCE_SAMPLE_SCAN_H
#define BURIN_SOURCE_SAMPLE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/sample/tasks.h"

/* scan_process - all threads of a process, its mappings and its program. One that is gone is nothing. */
void scan_process(struct tasks *tasks, uint32_t pid);

/* scan_all - all processes. */
void scan_all(struct tasks *tasks);

/* scan_stopped - whether a thread is there and does not run, nor wait for a CPU. */
bool scan_stopped(uint32_t pid, uint32_t tid);

#endif
