/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a sample to (task, stack): addresses become locations in images, with the mappings of the sample's time.
 *
 * A stack has two parts, the kernel's and the user's. The kernel's part is the kernel's call chain. The user's part is from
 * that chain, too, or it is unwound from the registers and the copy of the stack (user_stack.h).
 */
#ifndef BURIN_SOURCE_PERF_STACKS_ATTRIBUTE_H
#define BURIN_SOURCE_PERF_STACKS_ATTRIBUTE_H

#include "source/perf/tasks/kernel_image.h"
#include "source/perf/stacks/stacks.h"
#include "source/perf/stacks/user_stack.h"
#include "source/perf/tasks/tasks.h"

struct attribution {
	struct tasks *tasks;
	struct images *images;
	struct kernel *kernel;
	struct stacks *stacks;
	struct jit_state jit;
	uint64_t time;	     /* of the sample */
	uint32_t last_ended; /* thread that ended last on the sample's CPU; 0: none */
	uint64_t registers;  /* mask of the registers in a sample */
	unsigned max_depth;  /* frames of the kernel's chain, at most */
	bool stacks_wanted;  /* otherwise only the innermost frame */
};

struct attributed {
	uint32_t task, stack;
	uint32_t tid; /* of the task */
	unsigned
		ends; /* how the stack's user part ends, enum wire_truncation; WIRE_TRUNCATIONS: there is none */
	bool kernel; /* the innermost frame is in the kernel */
	struct user_stack_end end;
};

/* attribute - find a sample's task and stack. Return: WIRE_SAMPLE_KEPT, or why it is lost. */
enum wire_sample attribute(struct attribution *attribution, const struct record *record,
			   struct attributed *out);

#endif
