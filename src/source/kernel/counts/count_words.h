/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The events that are counted, and the values by which their rows differ. */
#ifndef BURIN_SOURCE_KERNEL_COUNTS_COUNT_WORDS_H
#define BURIN_SOURCE_KERNEL_COUNTS_COUNT_WORDS_H

#include "source/kernel/counts/count_state.h"

/* kernel_counts_choose - find events, words and the field. Return: 0; -ENOENT and *@why; -ENOMEM. */
int kernel_counts_choose(struct kernel_counts *counts, char why[KERNEL_WHY]);

/*
 * kernel_counts_symbols - what the symbols of all programs mean, behind @out[@count].
 * @event: of the program; NULL: it serves several
 * Return: how many there are then.
 */
unsigned kernel_counts_symbols(const struct kernel_counts *counts, const struct kernel_counts_event *event,
			       struct bpf_symbol *out, unsigned count);

/* kernel_counts_is_text, kernel_counts_is_name - whether a field, or a fact, is a text. */
bool kernel_counts_is_text(const struct tracepoint_field *field);
static inline bool kernel_counts_is_name(enum kernel_count_source fact)
{
	return fact == KERNEL_COUNT_THREAD || fact == KERNEL_COUNT_PROGRAM;
}

#endif
