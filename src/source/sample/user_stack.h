/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The user's part of a stack, from the registers and the copy of the stack: the seam where an unwinder comes in.
 */
#ifndef BURIN_SOURCE_SAMPLE_USER_STACK_H
#define BURIN_SOURCE_SAMPLE_USER_STACK_H

#include "source/sample/tasks.h"

/*
 * user_stack - the addresses of the frames, the innermost first; all but that are addresses to return to.
 * @pcs, @max: room for them
 * @cut: why there are no more
 * Return: how many; 0: there are no registers (a thread of the kernel's, a 32-bit program).
 */
unsigned user_stack(const struct record_user *user, const struct sample_process *process, uint64_t *pcs,
		    unsigned max, enum wire_cut *cut);

#endif
