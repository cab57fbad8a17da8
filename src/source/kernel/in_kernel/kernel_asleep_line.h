/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The line that the program of kernel_asleep.h writes of a thread. */
#ifndef BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_ASLEEP_LINE_H
#define BURIN_SOURCE_KERNEL_IN_KERNEL_KERNEL_ASLEEP_LINE_H

#include <stdint.h>

/* %ps is the name of a function of the kernel. */
#define KERNEL_ASLEEP_LINE "%u %u %d %ps %ps %ps %ps %ps %ps %ps %ps %ps\n"

enum {
	KERNEL_ASLEEP_FORMAT = sizeof(KERNEL_ASLEEP_LINE),
	KERNEL_ASLEEP_FRAMES = 9, /* with the numbers, the most that the kernel takes */
};

struct kernel_asleep_line {
	uint64_t tid, state, call;
	uint64_t frames[KERNEL_ASLEEP_FRAMES]; /* addresses; 0: there is no more */
};

#endif
