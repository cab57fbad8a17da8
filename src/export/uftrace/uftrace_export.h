/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Write the calls of a trace as a data directory for uftrace, versions 0.13 to 0.19. */
#ifndef BURIN_EXPORT_UFTRACE_UFTRACE_EXPORT_H
#define BURIN_EXPORT_UFTRACE_UFTRACE_EXPORT_H

#include "burin/calls.h"

/* Counts of records that were written, and of others. */
struct uftrace_export {
	uint64_t calls, open; /* complete calls; calls without an end */
	uint64_t events;      /* whose names were written, without their fields */
	uint64_t samples;     /* not written */
	uint64_t
		other_stacks; /* of the calls: written as other tasks, since they do not nest in their thread */
	uint64_t left_out;    /* calls that were not written: their thread has too many stacks */
	uint64_t lost;	      /* records that the trace has lost */
	uint64_t tasks;
	uint32_t deepest; /* the most calls that were open at a time in a task */
	uint64_t bytes;
};

/*
 * uftrace_export - write the files.
 * @directory: empty; owned by the caller
 *
 * Context: reads the trace twice; allocates memory for its functions, threads and open calls.
 * Return: 0; -ENODATA: no calls; -errno: then the files are removed again.
 */
int uftrace_export(const struct burin_trace *trace, int directory, struct uftrace_export *result);

#endif
