/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For the programs of system calls: the arguments and variables of an exec, lists of addresses that end in a NULL. The record has both
 * counts, -1 if there are more than KERNEL_LIST_COUNT or if the list cannot be read, and as many whole arguments as fit, as texts.
 * Fewer than counted: the others did not fit.
 *
 * The verifier follows the loop turn by turn. All that grows lies in the ring, so the turns look alike to it. Addresses and texts
 * are read one after the other, and another thread may change them in between.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_LIST_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_LIST_C_H

#include "source/kernel/in_kernel/kernel_fields_c.h"
#include "source/kernel/in_kernel/kernel_task_c.h"

enum {
	KERNEL_LIST_COUNT = 256,
	KERNEL_LIST_MAX = 1536, /* bytes of a record's arguments and texts, as those of any other call */
	KERNEL_LIST_HEAD = 10,	/* both counts, and the number of bytes that follow */
};

static_assert(KERNEL_LIST_MAX <= KERNEL_ARGUMENTS * TRACEPOINT_TEXT_MAX, "KERNEL_LONGEST_ENTERED");

/* Copy a text, if the longest one has room. */
BPF_INLINE void kernel_list_text(const struct kernel_open *open, const void *from)
{
	if (*kernel_used(open) <= KERNEL_LIST_MAX - TRACEPOINT_TEXT_MAX)
		*kernel_used(open) += kernel_text_of_user(kernel_next(open), from, &open->ring->scratch);
}

/* Count a list, and copy its texts. @list: its address. Return: -1: it is too long, or cannot be read. */
BPF_INLINE int kernel_list_walk(const struct kernel_open *open, volatile uint64_t *list, bool copies)
{
	for (int n = 0; n < KERNEL_LIST_COUNT; n++) {
		const void *text;

		if (bpf_probe_read_user(&text, sizeof(text), (const void *)(*list + (uint64_t)n * 8)) != 0)
			return -1;
		if (!text)
			return n;
		if (copies)
			kernel_list_text(open, text);
	}
	return -1;
}

/* Put the lists at these addresses. */
BPF_FUNCTION void kernel_put_lists(const struct kernel_open *open, uint64_t arguments, uint64_t variables)
{
	volatile uint64_t *begin = &open->ring->fields.begin, *list = &open->ring->fields.list,
			  *counts = open->ring->fields.counts;
	char *head;

	*begin = *kernel_used(open);
	*kernel_used(open) += KERNEL_LIST_HEAD;
	counts[0] = counts[1] = UINT64_MAX;
	if (!BPF_NUMBER(without_lists)) {
		*list = arguments;
		counts[0] = (uint64_t)kernel_list_walk(open, list, true);
		*list = variables;
		counts[1] = (uint64_t)kernel_list_walk(open, list, false);
	}
	head = open->fields + KERNEL_BOUND(*begin, KERNEL_RECORD_MAX - 1);
	*(uint32_t *)head = (uint32_t)counts[0];
	*(uint32_t *)(head + 4) = (uint32_t)counts[1];
	*(uint16_t *)(head + 8) = (uint16_t)(*kernel_used(open) - *begin - KERNEL_LIST_HEAD);
}

/* Put the arguments that a new program of 64 bits finds on its stack, and that the variables are unknown. */
BPF_INLINE void kernel_put_new_lists(const struct kernel_open *open)
{
	const void *registers = bpf_task_pt_regs(bpf_get_current_task_btf());
	uint64_t arguments = 0;

	if (kernel_is_of_64_bits(registers)) /* their number lies below them */
		arguments = BPF_MEMBER(uint64_t, registers, REGISTERS_STACK) + 8;
	kernel_put_lists(open, arguments, 0);
}

#endif
