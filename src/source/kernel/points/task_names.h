/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of the threads in the kernel's records. A thread that is recorded need not have Burin's library, so the recorder
 * announces it: when the kernel makes or renames it, by these records; at its first record, as /proc has it. One that has ended by then is
 * looked up among those that were met (kernel_follow.h).
 */
#ifndef BURIN_SOURCE_KERNEL_POINTS_TASK_NAMES_H
#define BURIN_SOURCE_KERNEL_POINTS_TASK_NAMES_H

#include "session/session.h"
#include "source/kernel/points/tracepoint.h"

enum {
	TASK_NAMES_MAX = 1 << 22, /* the kernel's limit of thread ids */
};

struct task_names {
	struct session *session;
	struct tracepoint made, renamed; /* the tracepoints, and ... */
	uint16_t made_id, renamed_id;	 /* ... their events */
	uint32_t *known;		 /* of each thread id: that of its process; 0: not announced */
	uint32_t self;
	int met; /* map, a descriptor of our own: the recorder's are closed before the last records are read; -1: none */
};

/* task_names_begin - prepare. @met: as struct kernel_layout has it. Return: 0 or -ENOMEM. */
int task_names_begin(struct task_names *names, struct session *session, int met);

/*
 * task_names_record - take note of a record.
 * @id: of its event; @tid: of its thread; @time: ticks
 * @payload: @bytes of it, which need not be valid
 */
void task_names_record(struct task_names *names, uint32_t id, uint32_t tid, uint64_t time,
		       const char *payload, uint32_t bytes);

void task_names_free(struct task_names *names);

#endif
