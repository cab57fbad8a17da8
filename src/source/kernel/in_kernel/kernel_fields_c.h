/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For the programs of system calls: fields behind each other.
 *
 * How many bytes a record has so far is in the ring, which the program holds, and not in a register: the verifier knows no values there. So all
 * ways by which a field can be written come to the same state behind it, and it follows only one of them further. A number
 * from there is masked before it becomes a part of an address. Whatever lengths a process gives, each part is bounded right before
 * it is copied.
 */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_FIELDS_C_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_FIELDS_C_H

#include "source/kernel/in_kernel/kernel_append_c.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/in_kernel/kernel_text_c.h"

/* A number of at most @mask, a power of two less 1, as the verifier sees it, too: the compiler must not derive it from a comparison. */
#define KERNEL_BOUND(number, mask)               \
	({                                       \
		uint64_t bound_ = (number);      \
		asm volatile("" : "+r"(bound_)); \
		bound_ &(mask);                  \
	})

BPF_INLINE uint64_t kernel_argument(const struct kernel_input *input, unsigned number)
{
	return input->arguments[KERNEL_BOUND(number, 7)];
}

BPF_INLINE volatile uint64_t *kernel_used(const struct kernel_open *open)
{
	return &open->ring->fields.bytes;
}

/* Where the next field comes. */
BPF_INLINE char *kernel_next(const struct kernel_open *open)
{
	return open->fields + KERNEL_BOUND(*kernel_used(open), KERNEL_RECORD_MAX - 1);
}

BPF_INLINE void kernel_put64(const struct kernel_open *open, uint64_t number)
{
	*(uint64_t *)kernel_next(open) = number;
	*kernel_used(open) += 8;
}

BPF_INLINE void kernel_put32(const struct kernel_open *open, uint32_t number)
{
	*(uint32_t *)kernel_next(open) = number;
	*kernel_used(open) += 4;
}

/*
 * The text at the address of an argument: of the process, or where the kernel has copied it in an exec. A function of its own: what it leaves
 * in its frame would be different states for the verifier.
 */
BPF_FUNCTION void kernel_put_text(const struct kernel_open *open, uint64_t address)
{
	char *to = kernel_next(open);
	uint64_t bytes;

	if (BPF_NUMBER(in_kernel))
		bytes = kernel_text_of_kernel(to, (const void *)address);
	else
		bytes = kernel_text_of_user(to, (const void *)address, &open->ring->fields.unread);
	*kernel_used(open) += bytes;
}

/* End an array that begins with its count, and whose bytes are written: KERNEL_ARRAY bytes behind kernel_next(). */
enum {
	KERNEL_ARRAY = 2,
};

BPF_INLINE void kernel_put_array_end(const struct kernel_open *open, uint64_t bytes)
{
	*(uint16_t *)kernel_next(open) = (uint16_t)bytes;
	*kernel_used(open) += KERNEL_ARRAY + bytes;
}

/*
 * Some bytes of the process as an array, at most TRACEPOINT_SOCKET_MAX. It is empty if they cannot be read, or at NULL.
 * Return: false: they could not be read; NULL counts as read
 */
BPF_INLINE bool kernel_put_array(const struct kernel_open *open, uint64_t address, uint64_t bytes)
{
	char *to = kernel_next(open) + KERNEL_ARRAY;
	bool read = true;

	bytes = KERNEL_BOUND(bytes < TRACEPOINT_SOCKET_MAX ? bytes : TRACEPOINT_SOCKET_MAX,
			     TRACEPOINT_SOCKET_MAX * 2 - 1);
	if (!address) /* a fault would find that out, too, and take longer */
		bytes = 0;
	else if (bpf_probe_read_user(to, (uint32_t)bytes, (const void *)address) != 0)
		read = bytes = 0;
	kernel_put_array_end(open, bytes);
	return read;
}

#endif
