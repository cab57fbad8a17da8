/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The second mechanism: the kernel's own trace buffers (tracefs), for where programs in the kernel (BPF) are not there. The recorder reads
 * raw pages of an instance of its own, and appends to rings as those programs would.
 *
 * Differences from programs: texts of a process cannot be read, so a path is its address; records have no process id to filter by; an
 * instance outlives a recorder that is killed (tracefs_instance.h).
 */
#ifndef BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_TRACEFS_H
#define BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_TRACEFS_H

#include <sys/types.h>

#include "source/kernel/programs/kernel_sink.h"
#include "source/kernel/mechanisms/tracefs_page.h"

/* A CPU's buffer, and pages that were read from it. */
struct kernel_tracefs_cpu {
	int file, stats; /* -1: the CPU is not there */
	char *pages;	 /* `count` of them, of which `next` have been appended */
	size_t count, next, room;
	struct tracefs_page page;     /* the one that is being appended, ... */
	struct tracefs_record record; /* ... and its record for which there was no room */
	bool begun, held;
	uint64_t lost; /* as the kernel has counted them, so far */
};

struct kernel_tracefs {
	struct kernel_sink sink;
	int events, instance; /* folders; -1: closed */
	int tasks;	      /* file: the recorded tasks */
	unsigned page_bytes, cpus;
	struct kernel_tracefs_cpu *of;
	unsigned exec;	  /* number of the tracepoint sched_process_exec */
	pid_t command;	  /* recorded from its exec on; 0: none */
	bool others;	  /* tasks are recorded beside it */
	bool waits;	  /* that has not been seen */
	uint64_t exec_ns; /* when it was */
};

/*
 * kernel_tracefs_open - make an instance. It records nothing before kernel_tracefs_follow().
 * @tracefs: zeroed; @events: of tracefs_open()
 * @points, @layout, @rings: live as long as @tracefs; the points are registered
 * Return: 0 or -errno. In any case call kernel_tracefs_close().
 */
int kernel_tracefs_open(struct kernel_tracefs *tracefs, int events, const struct kernel_points *points,
			const struct kernel_layout *layout, char *rings, unsigned cpus,
			uint64_t buffer_bytes);

/* kernel_tracefs_enable - let a tracepoint be recorded. Return: 0 or -errno. */
int kernel_tracefs_enable(const struct kernel_tracefs *tracefs, const struct tracepoint *point);

/*
 * kernel_tracefs_follow - record a thread and all that it starts.
 * @task: -1: everything; @waits: its exec is yet to come, and records begin there
 * Return: 0 or -errno.
 */
int kernel_tracefs_follow(struct kernel_tracefs *tracefs, pid_t task, bool waits);

/* kernel_tracefs_read - append what the buffers have to the rings, as far as there is room. @last: count what has none as lost. */
void kernel_tracefs_read(struct kernel_tracefs *tracefs, bool last);

/* kernel_tracefs_stop - record nothing more. */
void kernel_tracefs_stop(struct kernel_tracefs *tracefs);

/* kernel_tracefs_close - remove the instance, and free all. */
void kernel_tracefs_close(struct kernel_tracefs *tracefs);

#endif
