/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks that are deeper than the kernel copies; see deep_stack.h. */
#include <stdlib.h>
#include <string.h>

#include "source/perf/tasks/deep_stack.h"

enum {
	DEEP_BYTES = 24 << 10, /* a stack of fewer bytes is not kept */
	DEEP_MAX = 2048,       /* kept stacks of all threads, at most 16 KiB each */
};

struct deep_stack {
	unsigned count, room;
	struct deep_frame {
		uint64_t location, pointer;
	} frames[];
};

static unsigned kept_stacks; /* of all threads */

void deep_stack_drop(struct deep_stack **kept)
{
	if (!*kept)
		return;
	free(*kept);
	*kept = NULL;
	kept_stacks--;
}

/* Make room for so many frames; the frames so far are lost. */
static bool have_room(struct deep_stack **kept, unsigned count)
{
	const unsigned room = count + count / 4;

	if (*kept && (*kept)->room >= count)
		return true;
	deep_stack_drop(kept);
	if (kept_stacks == DEEP_MAX)
		return false;
	*kept = malloc(sizeof(**kept) + room * sizeof((*kept)->frames[0]));
	if (!*kept)
		return false;
	(*kept)->room = room;
	kept_stacks++;
	return true;
}

void deep_stack_keep(struct deep_stack **kept, const uint64_t *locations, const uint64_t *pointers,
		     unsigned count)
{
	/* The kernel's chain has no stack pointers. */
	if (!count || !pointers[count - 1] || pointers[count - 1] - pointers[0] < DEEP_BYTES ||
	    !have_room(kept, count))
		return;
	(*kept)->count = count;
	for (unsigned n = 0; n < count; n++)
		(*kept)->frames[n] = (struct deep_frame){ locations[n], pointers[n] };
}

unsigned deep_stack_continue(const struct deep_stack *kept, uint64_t *locations, uint64_t *pointers,
			     unsigned count, unsigned max)
{
	unsigned n = 0;

	if (!kept || !count || !pointers[count - 1])
		return count;
	while (n < kept->count && kept->frames[n].pointer < pointers[count - 1])
		n++;
	/* Frames without stack of their own have the pointer of their caller. */
	while (n < kept->count && kept->frames[n].pointer == pointers[count - 1] &&
	       kept->frames[n].location != locations[count - 1])
		n++;
	if (n == kept->count || kept->frames[n].pointer != pointers[count - 1])
		return count;
	for (n++; n < kept->count && count < max; n++, count++) {
		locations[count] = kept->frames[n].location;
		pointers[count] = kept->frames[n].pointer;
	}
	return count;
}
