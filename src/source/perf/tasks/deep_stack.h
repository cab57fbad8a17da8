/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks that are deeper than the kernel copies.
 *
 * The outer frames of a deep stack change seldom. So the last complete stack of a thread that was deep is kept. A later
 * sample whose copy ends at one of its frames continues with that stack's outer frames. The same frame is the same return
 * address with the same stack pointer. A thread that left the frame since then, and came back to the same place in another
 * way, gets wrong callers. So such samples are counted.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_DEEP_STACK_H
#define BURIN_SOURCE_PERF_TASKS_DEEP_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct deep_stack; /* of one thread */

/*
 * deep_stack_keep - keep a complete stack, if it is deep.
 * @kept: the thread's; it replaces what is there, and is NULL for a thread without any
 * @locations, @pointers: of each frame, from the innermost; the stack pointers
 */
void deep_stack_keep(struct deep_stack **kept, const uint64_t *locations, const uint64_t *pointers,
		     unsigned count);

/*
 * deep_stack_continue - append the outer frames to a stack whose copy ended.
 * @max: room for frames
 * Return: how many frames there are then; @count: the last frame is not of the kept stack.
 */
unsigned deep_stack_continue(const struct deep_stack *kept, uint64_t *locations, uint64_t *pointers,
			     unsigned count, unsigned max);

void deep_stack_drop(struct deep_stack **kept);

#endif
