/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The system calls of a recording by programs: two programs serve all of them, by a table of their numbers. */
#ifndef BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_CALLS_H
#define BURIN_SOURCE_KERNEL_PROGRAMS_KERNEL_CALLS_H

#include "source/kernel/bpf/kernel_files.h"
#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/bpf/kernel_layout.h"

/*
 * kernel_calls_attach - attach to the entries and the exits of the chosen system calls.
 * @layout: receives whether the programs are typed, and the map of calls that are read at their exit
 * @untyped: let programs not use the kernel's types
 * Return: 0 or -errno.
 */
int kernel_calls_attach(struct kernel_files *files, struct kernel_layout *layout,
			const struct kernel_points *points, bool untyped);

#endif
