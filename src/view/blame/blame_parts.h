/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of blame: each exists once; and what samples say of them. */
#ifndef BURIN_VIEW_BLAME_BLAME_PARTS_H
#define BURIN_VIEW_BLAME_BLAME_PARTS_H

#include "view/blame/blame.h"

/* blame_part_find - the number of a part, which is added if it is new. Return: 0: no memory. */
uint32_t blame_part_find(struct blame *blame, const struct blame_part *part);

/* blame_add - add to a part of a vector. Return: 0; -ENOMEM. */
int blame_add(struct blame_vector *vector, uint32_t part, uint64_t number);
/* blame_add_share - the same of what another vector has. */
int blame_add_share(struct blame_vector *vector, const struct blame_share *added);

void blame_vector_free(struct blame_vector *vector);

/* blame_add_part - the same of a part that may be new. */
int blame_add_part(struct blame *blame, struct blame_vector *vector, const struct blame_part *part,
		   uint64_t number);

/* The parts of samples, by their stacks. */
struct blame_stacks {
	struct burin_profile *profile; /* NULL: the trace has no samples */
	uint32_t *parts;	       /* by stack; 0: not found yet */
	size_t bytes;		       /* of texts of stacks, at most */
};

/* blame_part_of_stack - the part of a thread that ran in a stack. Return: 0: no memory. */
uint32_t blame_part_of_stack(struct blame *blame, struct blame_stacks *stacks, uint32_t stack);

/* blame_short_stack - the object and the innermost functions of a stack as sched_stacks.h has it. Return: a string. */
uint32_t blame_short_stack(struct blame *blame, uint32_t stack);

#endif
