/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Filters (wire/wire_filter.h) as a part of the programs in the kernel: each test becomes some instructions, before a ring is taken.
 */
#ifndef BURIN_SOURCE_KERNEL_BPF_KERNEL_FILTER_H
#define BURIN_SOURCE_KERNEL_BPF_KERNEL_FILTER_H

#include "source/kernel/bpf/kernel_put.h"

/*
 * kernel_filter_fits - whether a filter can be tested of the kernel's events.
 * @in_kernel: by a program there
 * Return: NULL; why not, as a phrase.
 */
const char *kernel_filter_fits(const struct kernel_filter *filter, bool in_kernel);

/* kernel_filter_needs_pid - whether a filter tests the process. @filter: NULL: there is none */
bool kernel_filter_needs_pid(const struct wire_filter *filter);

/* kernel_filter_same - whether the filters of two entries, or of two exits, of system calls have the same instructions. */
bool kernel_filter_same(const struct kernel_filter *a, const struct kernel_filter *b);

enum {
	KERNEL_FILTERS_MAX = 16, /* different ones of the entries or the exits of system calls */
};

struct kernel_filters {
	struct kernel_filter list[KERNEL_FILTERS_MAX];
	unsigned count;
};

/* kernel_filters_add - the number of a filter in a list of different ones, from 1, after adding it. Return: 0: there are too many. */
uint8_t kernel_filters_add(struct kernel_filters *filters, const struct wire_filter *filter,
			   const struct tracepoint *point);

/*
 * kernel_filter_put - write the part of a program that decides whether an event is recorded, kernel_chosen(). Its registers are those of
 * kernel_put.h; it returns enum kernel_verdict. Of several filters, which are of system calls, KERNEL_REG_FOUND has the number, from 1.
 */
void kernel_filter_put(struct bpf_program *to, const struct kernel_filter *filters, unsigned count);

#endif
