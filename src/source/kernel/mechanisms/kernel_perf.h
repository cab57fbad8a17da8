/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The last mechanism: perf events with a buffer for each CPU, for where neither programs in the kernel (BPF) nor tracefs are permitted. The recorder
 * reads the buffers, and appends to rings as those programs would: fields, filters, times and losses are the same.
 *
 * Differences: a perf event belongs to a task, so a wake-up of it by another task is not recorded; texts of a process cannot be read, so a
 * path is its address; a record costs about three times as much.
 */
#ifndef BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_PERF_H
#define BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_PERF_H

#include <stdint.h>
#include <sys/types.h>

#include "source/kernel/programs/kernel_sink.h"

/* The buffer of a CPU. */
struct kernel_perf_buffer {
	int event; /* a dummy that has the buffer; -1: the CPU is not there */
	struct perf_event_mmap_page *control;
	uint32_t bytes;
};

struct kernel_perf {
	struct kernel_sink sink;
	unsigned cpus;
	struct kernel_perf_buffer *buffers;
	uint32_t buffer_bytes;
	struct tracepoint calls
		[2]; /* raw_syscalls: of the entries and the exits of all system calls; id 0: not recorded */
	char calls_filter[2][512]; /* of perf: the numbers of the calls; empty: too many */
	uint16_t by_call
		[2]
		[KERNEL_CALLS]; /* of a system call's number: number of the point, from 1; 0: not recorded */
	int *events;
	size_t count, room;
	bool counts_lost; /* the events count what they lose */
	uint64_t stated;  /* losses that the buffers have stated */
	char *copy;	  /* of a record that goes around the buffer's end */
};

/*
 * kernel_perf_open - make the buffers.
 * @perf: zeroed; @events: of tracefs_open()
 * @points, @layout, @rings: live as long as @perf; the points are registered
 * Return: 0 or -errno. In any case call kernel_perf_close().
 */
int kernel_perf_open(struct kernel_perf *perf, int events, const struct kernel_points *points,
		     const struct kernel_layout *layout, char *rings, unsigned cpus, uint64_t buffer_bytes);

/*
 * kernel_perf_follow - record a thread and all that it starts.
 * @task: -1: everything; @waits: its exec is yet to come, and records begin there
 * Return: 0 or -errno; -ESRCH: it has ended.
 */
int kernel_perf_follow(struct kernel_perf *perf, pid_t task, bool waits);

/* kernel_perf_read - append what the buffers have to the rings, as far as there is room. @last: count what has none as lost. */
void kernel_perf_read(struct kernel_perf *perf, bool last);

/* kernel_perf_stop - record nothing more. */
void kernel_perf_stop(struct kernel_perf *perf);

/* kernel_perf_close - free it, without the events, which the caller closes. */
void kernel_perf_close(struct kernel_perf *perf);

#endif
