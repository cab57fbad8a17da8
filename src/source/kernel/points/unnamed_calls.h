/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls that have no tracepoint of their own, as events with their number: `unnamed` are those whose number the kernel or Burin has no
 * name for, `compat` those of another interface than the machine's own, such as of 32-bit programs, whose numbers mean other calls.
 */
#ifndef BURIN_SOURCE_KERNEL_POINTS_UNNAMED_CALLS_H
#define BURIN_SOURCE_KERNEL_POINTS_UNNAMED_CALLS_H

#include "source/kernel/points/tracepoint.h"

enum {
	UNNAMED_FIRST_ID = (1 << 29) + (1 << 28), /* of `tracepoint.id`: above those of TRACEFS_FIRST_ID */
};

/*
 * unnamed_calls_each - the tracepoints whose names match one of the globs.
 * @globs: ends with NULL; none: all
 * @take: returns 0, or an error that ends the walk
 * Return: 0; what @take returned.
 */
int unnamed_calls_each(const char *const *globs, int (*take)(void *context, const struct tracepoint *),
		       void *context);

#endif
