/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The programs of system calls that are counted: two serve all of them, by tables of their numbers. */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_COUNT_CALLS_H
#define BURIN_SOURCE_KERNEL_COUNTS_COUNT_CALLS_H

#include "source/kernel/counts/count_state.h"

/* count_calls_attach - attach to the entries and the exits of all system calls among the events. Return: 0 or -errno. */
int count_calls_attach(struct kernel_counts *counts, bool untyped);

#endif
