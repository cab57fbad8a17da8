/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The same stacks by elfutils' libdwfl, for comparison. */
#ifndef BURIN_TESTS_IMAGE_FOREIGN_H
#define BURIN_TESTS_IMAGE_FOREIGN_H

#include "process.h"

struct foreign;

/* foreign_open - open a process with libdwfl. Return: NULL: not possible. */
struct foreign *foreign_open(pid_t pid);
void foreign_close(struct foreign *foreign);

/* foreign_frames - as unwind_frames(). */
unsigned foreign_frames(struct foreign *foreign, const struct user_regs_struct *user,
			const unsigned char *stack, size_t bytes, uint64_t *locations, unsigned max);

#endif
