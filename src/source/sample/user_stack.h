/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's part of a stack, from the registers and the copy of the stack, by the tables of the images. */
#ifndef BURIN_SOURCE_SAMPLE_USER_STACK_H
#define BURIN_SOURCE_SAMPLE_USER_STACK_H

#include "source/sample/tasks.h"

/*
 * user_stack - the places of the frames, the innermost first, as traces keep them.
 * @mask: which registers there are
 * @places, @max: room for them
 * @cut: why there are no more; WIRE_CUT_NONE: this is where the thread began
 * Return: how many; 0: there are no registers (a thread of the kernel's, a 32-bit program), or no code.
 */
unsigned user_stack(const struct record_sample *sample, uint64_t mask, struct sample_process *process,
		    uint64_t *places, unsigned max, enum wire_cut *cut);

#endif
