/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading the rows of counted events. */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_COUNT_ROWS_H
#define BURIN_SOURCE_KERNEL_COUNTS_COUNT_ROWS_H

#include "source/kernel/counts/count_state.h"

/* A row, as it is read. Rows of several CPUs have the same texts. */
struct kernel_counts_row {
	const char *event;
	uint16_t slot;
	const char *words[KERNEL_COUNT_WORDS]; /* values, as text; "": the event has no such field */
	const struct kernel_count_row *counts;
	bool has_number, has_sign;		   /* numbers were counted; they have a sign */
	uint64_t (*buckets)[KERNEL_COUNT_BUCKETS]; /* by number of the page */
	size_t pages;
};

/* kernel_counts_each - call a function for each row of all slots, until it returns an error. Return: 0; that error. */
int kernel_counts_each(struct kernel_counts *counts,
		       int (*each)(void *context, const struct kernel_counts_row *row), void *context);

/* kernel_counts_clear - remove the rows of the former slot, before another kernel_counts_next(). */
void kernel_counts_clear(struct kernel_counts *counts);

#endif
