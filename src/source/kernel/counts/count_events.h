/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of an event that is counted, at a tracepoint that is no system call's, a probe or a function of the kernel. */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_COUNT_EVENTS_H
#define BURIN_SOURCE_KERNEL_COUNTS_COUNT_EVENTS_H

#include "source/kernel/counts/count_state.h"

/* count_events_attach - attach to the event of this number. Return: 0 or -errno. */
int count_events_attach(struct kernel_counts *counts, size_t number);

#endif
