/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own tracepoints, by their names. */
#ifndef BURIN_KERNEL_POINTS_H
#define BURIN_KERNEL_POINTS_H

struct tracepoint;

/* points_find - a tracepoint of the kernel; NULL: it has none of that name. */
struct tracepoint *points_find(const char *name);

#endif
