/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a sample to (task, stack): addresses become places in images while the mappings are those of the sample's moment.
 *
 * A stack has two parts, the kernel's and the user's. The kernel's is the chain that the kernel gives. The user's is that
 * chain, too, or what was unwound from the registers and the copy of the stack (user_stack.h).
 */
#ifndef BURIN_SOURCE_SAMPLE_ATTRIBUTE_H
#define BURIN_SOURCE_SAMPLE_ATTRIBUTE_H

#include "source/sample/kernel.h"
#include "source/sample/stacks.h"
#include "source/sample/tasks.h"

/* Why a sample is not in the trace; the order of `.burin/profile`. */
enum sample_loss {
	SAMPLE_KEPT,
	SAMPLE_LOST_RING,
	SAMPLE_LOST_LATE,
	SAMPLE_LOST_TASK,
	SAMPLE_LOST_MAPPING,
	SAMPLE_LOST_CONTEXT,
	SAMPLE_LOST_DAMAGED,
	SAMPLE_LOST_WRITE,
	SAMPLE_LOSSES
};

struct attribution {
	struct tasks *tasks;
	struct images *images;
	struct kernel *kernel;
	struct stacks *stacks;
	struct jit_state jit;
	uint64_t time;	    /* of the sample */
	uint64_t registers; /* mask of those that samples have */
	unsigned max_depth; /* frames that the kernel gives */
	bool stacks_wanted; /* otherwise the innermost frame alone */
};

struct attributed {
	uint32_t task, stack;
	unsigned ends; /* how the user's part of the stack does, enum wire_cut; WIRE_CUTS: there is none */
	bool kernel;   /* the innermost frame lies there */
};

/* attribute - Return: SAMPLE_KEPT, or why not. */
enum sample_loss attribute(struct attribution *attribution, const struct record *record,
			   struct attributed *out);

#endif
