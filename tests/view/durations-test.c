/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Quantiles of durations: the nearest rank, beside a plain reading of its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/calls/call_durations.h"

static void check(const uint64_t *times, unsigned count, unsigned permille, uint64_t wanted)
{
	struct call_durations durations = { 0 };
	uint64_t found;

	for (unsigned n = 0; n < count; n++)
		assert_true(call_durations_add(&durations, times[n]));
	found = call_durations_quantile(&durations, permille);
	assert_in_range(found, wanted - wanted / 128, wanted + wanted / 128);
	call_durations_free(&durations);
}

static void test_few(void **state)
{
	static const uint64_t times[] = { 10, 1000000, 3000000, 5000000 };

	static const struct {
		unsigned count, permille;
		uint64_t wanted;
	} cases[] = {
		{ 0, 990, 0 },	     { 1, 500, 10 },	  { 1, 990, 10 },      { 2, 500, 10 },
		{ 2, 990, 1000000 }, { 3, 500, 1000000 }, { 3, 990, 3000000 }, { 4, 0, 10 },
		{ 4, 500, 1000000 }, { 4, 750, 3000000 }, { 4, 760, 5000000 }, { 4, 1000, 5000000 },
		{ 4, 751, 5000000 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++)
		check(times, cases[n].count, cases[n].permille, cases[n].wanted);
}

static int by_time(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* The least of the times that at least so many per mille of all do not exceed. */
static void test_many(void **state)
{
	uint64_t times[1000], sorted[1000];

	(void)state;
	srand(1);
	for (unsigned count = 1; count <= 1000; count += 37)
		for (unsigned permille = 1; permille <= 1000; permille += 37) {
			unsigned below = 0;

			for (unsigned n = 0; n < count; n++)
				times[n] = sorted[n] = (uint64_t)rand() << (n % 20);
			qsort(sorted, count, sizeof(*sorted), by_time);
			while ((below + 1) * 1000 < count * permille)
				below++;
			check(times, count, permille, sorted[below]);
		}
}

/* Bars of durations in ticks of 2 GHz: each duration in the bar of its time, none between left out, and all counted. */
static void test_histogram(void **state)
{
	static const uint64_t ticks[] = { 0, 1, 3, 3, 19, 20, 1999, 2000, 4000000, UINT64_MAX };
	static const struct call_bar wanted[] = {
		{ 0, 1, 2 }, { 1, 2, 2 }, { 2, 5, 0 }, { 5, 10, 1 }, { 10, 20, 1 }
	};
	struct call_durations durations = { 0 };
	struct call_bar bars[CALL_BARS];
	uint64_t sum = 0;
	unsigned count;

	(void)state;
	assert_int_equal(call_durations_histogram(&durations, 2000000000, bars), 0);
	for (size_t n = 0; n < sizeof(ticks) / sizeof(*ticks); n++)
		assert_true(call_durations_add(&durations, ticks[n]));
	count = call_durations_histogram(&durations, 2000000000, bars);
	assert_in_range(count, 1, CALL_BARS);
	assert_memory_equal(bars, wanted, sizeof(wanted));
	for (unsigned n = 0; n < count; n++) {
		sum += bars[n].count;
		if (n)
			assert_int_equal(bars[n].from, bars[n - 1].to);
	}
	assert_int_equal(sum, durations.count);
	assert_in_range(UINT64_MAX / 2, bars[count - 1].from, bars[count - 1].to - 1);
	assert_int_equal(call_durations_histogram(&durations, 1, bars), CALL_BARS - 1);
	call_durations_free(&durations);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_few), cmocka_unit_test(test_many),
						   cmocka_unit_test(test_histogram) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
