/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The files of /proc that have figures of the machine: /proc/pressure and /proc/diskstats. Their formats are those of the kernel's
 * Documentation/accounting/psi.rst and Documentation/admin-guide/iostats.rst.
 */
#ifndef BURIN_SOURCE_COUNTERS_FIGURES_PROC_H
#define BURIN_SOURCE_COUNTERS_FIGURES_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FIGURES_NAME = 64, /* bytes of a name, with its NUL */
};

/* The unit of a count that only rises. */
enum figure_unit {
	FIGURE_BUSY_US, /* microseconds */
	FIGURE_BUSY_MS, /* milliseconds */
	FIGURE_SECTORS, /* 512 bytes */
};

/* @name: such as pressure.io.some or disk.sda.read; a driver chose the name of a disk */
typedef void figures_take(void *context, const char *name, enum figure_unit unit, uint64_t count);

/* figures_proc_read - take all counts that /proc has now. A line of another form is left out. Return: how many there were. */
size_t figures_proc_read(figures_take *take, void *context);

#endif
