/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's own description of its tracepoints: tracefs, events/SYSTEM/NAME/format.
 * Nothing is changed there.
 */
#ifndef BURIN_SOURCE_KERNEL_POINTS_TRACEFS_H
#define BURIN_SOURCE_KERNEL_POINTS_TRACEFS_H

#include "file/tracefs_open.h"
#include "source/kernel/points/tracepoint.h"

enum {
	TRACEFS_FIRST_ID = 1 << 29, /* of tracefs_each_by_name(): above the kernel's */
};

/*
 * tracefs_each - read the tracepoints whose names (SYSTEM:NAME) match one of the globs, in the order of their names.
 * @events: of tracefs_open()
 * @globs: ends with NULL; none: all
 * @take: returns 0, or an error that ends the walk
 * Return: 0; -errno; what @take returned. A format that cannot be read or parsed is left out.
 */
int tracefs_each(int events, const char *const *globs, int (*take)(void *context, const struct tracepoint *),
		 void *context);

/*
 * tracefs_each_by_name - the same for a caller that does not use the ids of system calls' exits: these have descriptions that differ in
 * the id only, so one is read. Theirs are from TRACEFS_FIRST_ID on.
 */
int tracefs_each_by_name(int events, const char *const *globs,
			 int (*take)(void *context, const struct tracepoint *), void *context);

#endif
