/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Pairs in order, and what is the same put together: against qsort() and a plain count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/profile/pairs.h"

enum {
	PAIRS = 300000,
};

static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* Numbers in every byte of a key: a sort that leaves one out shows. */
static struct view_pair sample(uint64_t *state, uint32_t different)
{
	uint64_t number = next(state) % different;

	return (struct view_pair){ .task = (uint32_t)(number % 7 * 0x01030507),
				   .stack = (uint32_t)(number * 0x9e3779b1),
				   .state = (uint32_t)(number % 3),
				   .samples = 1,
				   .weight = number % 5 + 1,
				   .squares = 1 };
}

static void check(uint32_t different)
{
	struct view_pair *pairs = malloc(PAIRS * sizeof(*pairs)), *all = malloc(PAIRS * sizeof(*all));
	size_t count = PAIRS, at = 0;
	uint64_t state = different;

	assert_non_null(pairs);
	assert_non_null(all);
	for (size_t n = 0; n < PAIRS; n++)
		all[n] = pairs[n] = sample(&state, different);
	assert_int_equal(view_pairs_sort(&pairs, &count), 0);
	qsort(all, PAIRS, sizeof(*all), view_pair_order);
	for (size_t n = 0; n < count; n++) {
		const struct view_pair *pair = &pairs[n];
		struct view_pair sum = { .samples = 0 };

		if (n)
			assert_int_equal(view_pair_order(pair - 1, pair), -1);
		for (; at < PAIRS && !view_pair_order(&all[at], pair); at++) {
			sum.samples += all[at].samples;
			sum.weight += all[at].weight;
			sum.squares += all[at].squares;
		}
		assert_int_not_equal(sum.samples, 0);
		assert_int_equal(pair->samples, sum.samples);
		assert_int_equal(pair->weight, sum.weight);
		assert_true(pair->squares == sum.squares);
	}
	assert_int_equal(at, PAIRS);
	free(pairs);
	free(all);
}

static void test_few(void **state)
{
	(void)state;
	check(1000);
}

static void test_many(void **state)
{
	(void)state;
	check(600000);
	check(UINT32_MAX);
}

static void test_none(void **state)
{
	struct view_pair *pairs = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(view_pairs_sort(&pairs, &count), 0);
	assert_int_equal(count, 0);
	free(pairs);
}

static void test_overflow(void **state)
{
	const struct view_pair pair = { .task = 1, .stack = 1, .samples = 1, .weight = UINT64_MAX / 2 + 1 };
	struct view_pair *pairs = malloc(3 * sizeof(*pairs));
	size_t count = 3;

	(void)state;
	assert_non_null(pairs);
	for (unsigned n = 0; n < 3; n++)
		pairs[n] = pair;
	assert_int_equal(view_pairs_sort(&pairs, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(pairs->samples, 3);
	assert_true(pairs->weight == UINT64_MAX);
	free(pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_few), cmocka_unit_test(test_many),
					    cmocka_unit_test(test_none), cmocka_unit_test(test_overflow) };

	return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
