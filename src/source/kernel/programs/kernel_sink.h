/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The last steps of mechanisms in which the kernel stores its own records, and the recorder reads them: filter, convert, and append to
 * a ring of Burin's in its own memory.
 */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_SINK_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_SINK_H

#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/programs/kernel_program.h"

struct kernel_sink {
	const struct kernel_points *points;
	const struct kernel_layout *layout;
	char *rings;	   /* of all CPUs, KERNEL_DEPTHS each; the first one is written */
	uint16_t *by_type; /* of a tracepoint's number: number of the point, from 1; 0: not recorded */
};

/* A record of the kernel. */
struct kernel_sink_record {
	unsigned cpu;
	uint32_t pid, tid; /* pid 0: unknown */
	uint64_t ns;	   /* CLOCK_MONOTONIC */
	const char *raw;   /* in the kernel's form */
	unsigned bytes;	   /* of it */
};

/*
 * kernel_sink_open - prepare.
 * @points, @layout, @rings: live as long as @sink; the points are registered
 * Return: 0 or -ENOMEM. In any case call kernel_sink_close().
 */
int kernel_sink_open(struct kernel_sink *sink, const struct kernel_points *points,
		     const struct kernel_layout *layout, char *rings);

/* kernel_sink_point - the number of a record's point, from 1, by its tracepoint's; 0: it is not recorded. */
size_t kernel_sink_point(const struct kernel_sink *sink, const char *raw, unsigned bytes);

/* kernel_sink_put - append a record, unless its filter rejects it. @number: of its point. Return: false: there is no room. */
bool kernel_sink_put(const struct kernel_sink *sink, size_t number, const struct kernel_sink_record *record);

/* kernel_sink_lost - count records that a CPU has lost. */
void kernel_sink_lost(const struct kernel_sink *sink, unsigned cpu, uint64_t records);

void kernel_sink_close(struct kernel_sink *sink);

#endif
