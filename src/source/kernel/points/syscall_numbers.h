/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The numbers of system calls by the names that the kernel's tracepoints have. Made by syscall_numbers.py. */
#ifndef BURIN_SOURCE_KERNEL_POINTS_SYSCALL_NUMBERS_H
#define BURIN_SOURCE_KERNEL_POINTS_SYSCALL_NUMBERS_H

struct syscall_number {
	const char *name;
	int number;
};

extern const struct syscall_number syscall_numbers[]; /* sorted by name */
extern const unsigned syscall_count;

#endif
