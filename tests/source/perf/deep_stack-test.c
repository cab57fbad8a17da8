/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks deeper than their copies: the outer frames are those of the last complete stack that has the same frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "source/perf/tasks/deep_stack.h"

enum {
	FRAMES = 64,
	APART = 1024, /* bytes between frames */
};

struct stack {
	uint64_t locations[2 * FRAMES], pointers[2 * FRAMES];
	unsigned count;
};

/* A stack of @count frames, the outermost of which is at the top; @from: the number of the innermost. */
static struct stack stack_of(unsigned from, unsigned count)
{
	struct stack stack = { .count = count };

	for (unsigned n = 0; n < count; n++) {
		stack.locations[n] = 0x1000 + from + n;
		stack.pointers[n] = 0x700000 + (uint64_t)(from + n) * APART;
	}
	return stack;
}

static void keep(struct deep_stack **kept, const struct stack *stack)
{
	deep_stack_keep(kept, stack->locations, stack->pointers, stack->count);
}

static unsigned go_on(const struct deep_stack *kept, struct stack *stack, unsigned max)
{
	return deep_stack_continue(kept, stack->locations, stack->pointers, stack->count, max);
}

static void the_outer_frames_follow(void **state)
{
	const struct stack whole = stack_of(0, FRAMES);
	struct stack cut = stack_of(0, 20);
	struct deep_stack *kept = NULL;

	(void)state;
	keep(&kept, &whole);
	assert_non_null(kept);
	assert_int_equal(go_on(kept, &cut, 2 * FRAMES), FRAMES);
	assert_memory_equal(cut.locations, whole.locations, FRAMES * sizeof(uint64_t));
	assert_memory_equal(cut.pointers, whole.pointers, FRAMES * sizeof(uint64_t));
	cut = stack_of(0, 20);
	assert_int_equal(go_on(kept, &cut, 30), 30); /* no more than there is room for */
	deep_stack_drop(&kept);
	assert_null(kept);
}

static void only_the_same_frame_counts(void **state)
{
	const struct stack whole = stack_of(0, FRAMES);
	struct stack cut = stack_of(0, 20);
	struct deep_stack *kept = NULL;

	(void)state;
	assert_int_equal(go_on(NULL, &cut, FRAMES), 20); /* nothing is kept */
	keep(&kept, &whole);
	cut.pointers[19] += 8; /* the same function, called at another depth */
	assert_int_equal(go_on(kept, &cut, FRAMES), 20);
	cut.pointers[19] -= 8;
	cut.locations[19]++; /* another place at that depth */
	assert_int_equal(go_on(kept, &cut, FRAMES), 20);
	cut.locations[19]--;
	cut.pointers[19] = 0; /* a frame of the kernel's chain: unknown where */
	assert_int_equal(go_on(kept, &cut, FRAMES), 20);
	deep_stack_drop(&kept);
}

static void frames_without_a_stack_of_their_own(void **state)
{
	struct stack whole = stack_of(0, FRAMES), cut = stack_of(0, 20);
	struct deep_stack *kept = NULL;

	(void)state;
	whole.pointers[18] = whole.pointers[19];
	keep(&kept, &whole);
	assert_int_equal(go_on(kept, &cut, FRAMES), FRAMES);
	assert_int_equal(cut.locations[20], whole.locations[20]);
	deep_stack_drop(&kept);
}

static void shallow_stacks_are_not_kept(void **state)
{
	const struct stack shallow = stack_of(0, 8), larger = stack_of(0, FRAMES),
			   other = stack_of(7, FRAMES);
	struct stack whole = stack_of(0, FRAMES), cut = stack_of(7, 9);
	struct deep_stack *kept = NULL;

	(void)state;
	keep(&kept, &shallow);
	assert_null(kept);
	whole.pointers[FRAMES - 1] = 0; /* its outer frames are from the kernel's chain */
	keep(&kept, &whole);
	assert_null(kept);
	keep(&kept, &larger);
	keep(&kept, &other); /* the last one counts */
	assert_int_equal(go_on(kept, &cut, 2 * FRAMES), FRAMES);
	assert_int_equal(cut.locations[FRAMES - 1], other.locations[FRAMES - 1]);
	keep(&kept, &shallow);
	assert_non_null(kept); /* a shallow moment does not end it */
	deep_stack_drop(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_outer_frames_follow),
		cmocka_unit_test(only_the_same_frame_counts),
		cmocka_unit_test(frames_without_a_stack_of_their_own),
		cmocka_unit_test(shallow_stacks_are_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
