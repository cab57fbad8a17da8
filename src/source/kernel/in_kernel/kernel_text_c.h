/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For programs in C: texts of records.
 *
 * A text of dynamic size takes at most TRACEPOINT_TEXT_MAX bytes, and a longer one ends in WIRE_TRUNCATED; one that cannot be read is WIRE_NULL.
 *
 * The verifier follows each way through a program to its end, unless it comes to a state that includes one seen before, so each text
 * could double the ways. Hence the size of a mark comes from the mark itself, whose bytes in the record the verifier does not know.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_TEXT_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_TEXT_C_H

#include "bpf/bpf_c.h"
#include "source/kernel/in_kernel/kernel_memory.h"

/* The marks of wire_event.h as numbers, with their NULs, and a bit that is 1 in both. */
#define KERNEL_MARK_TRUNCATED 0x00a680e2
#define KERNEL_MARK_NULL      0x008090e2
#define KERNEL_MARK_BIT	      23

/* Store a mark. Return: a size that has one bit. */
BPF_INLINE uint64_t kernel_mark(char *to, uint32_t mark, unsigned bit)
{
	*(volatile uint32_t *)to = mark;
	return *(volatile uint32_t *)to >> (KERNEL_MARK_BIT - bit) & UINT32_C(1) << bit;
}

/* @result: of the helper that has copied it, of at most TRACEPOINT_TEXT_MAX bytes */
BPF_INLINE uint64_t kernel_text_bytes(char *to, long result)
{
	if (result <= 0)
		return kernel_mark(to, KERNEL_MARK_NULL, 2);
	if (result == TRACEPOINT_TEXT_MAX)
		return kernel_mark(to + TRACEPOINT_TEXT_MAX - 4, KERNEL_MARK_TRUNCATED, 8);
	return (uint64_t)result;
}

BPF_INLINE uint64_t kernel_text_of_kernel(char *to, const void *from)
{
	return kernel_text_bytes(to, bpf_probe_read_kernel_str(to, TRACEPOINT_TEXT_MAX, from));
}

/* Return: as of the helper. Of an empty text, older kernels (6.1) count and copy not even the NUL. */
BPF_INLINE long kernel_read_text(char *to, const void *from)
{
	const long result = bpf_probe_read_user_str(to, TRACEPOINT_TEXT_MAX, from);

	if (result == 0) {
		*to = 0;
		return 1;
	}
	return result;
}

/* @unread: set to not 0 if its memory is not there; NULL counts as read */
BPF_INLINE uint64_t kernel_text_of_user(char *to, const void *from, volatile uint64_t *unread)
{
	const long result = kernel_read_text(to, from);

	if (result < 0 && from)
		*unread = 1;
	return kernel_text_bytes(to, result);
}

#endif
