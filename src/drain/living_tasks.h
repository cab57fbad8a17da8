/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of all tasks that live now, from /proc. The kernel's session has the names of tasks that were renamed or have
 * ended only, so a trace of it gets the others at its end.
 */
#ifndef BURIN_DRAIN_LIVING_TASKS_H
#define BURIN_DRAIN_LIVING_TASKS_H

#include "drain/statedump.h"

/*
 * living_tasks_write - announce all threads and processes in packets of the names stream.
 * @hz: of the trace's clock
 * @time: the present, ticks. The records have this time, and hold since their tasks began
 * Return: 0 or -errno; the caller must call statedump_packets_free() in both cases.
 */
int living_tasks_write(uint64_t hz, uint64_t time, uint32_t packet_bytes, struct statedump_packets *out);

#endif
