/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Quantiles of durations: the nearest rank, beside a plain reading of its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/calls/call_durations.h"

static void check(const uint64_t *times, unsigned count, unsigned percent, uint64_t wanted)
{
	struct call_durations durations = { 0 };
	uint64_t found;

	for (unsigned n = 0; n < count; n++)
		assert_true(call_durations_add(&durations, times[n]));
	found = call_durations_quantile(&durations, percent);
	assert_in_range(found, wanted - wanted / 128, wanted + wanted / 128);
	call_durations_free(&durations);
}

static void test_few(void **state)
{
	static const uint64_t times[] = { 10, 1000000, 3000000, 5000000 };

	static const struct {
		unsigned count, percent;
		uint64_t wanted;
	} cases[] = {
		{ 0, 99, 0 },	    { 1, 50, 10 },	{ 1, 99, 10 },	    { 2, 50, 10 },
		{ 2, 99, 1000000 }, { 3, 50, 1000000 }, { 3, 99, 3000000 }, { 4, 0, 10 },
		{ 4, 50, 1000000 }, { 4, 75, 3000000 }, { 4, 76, 5000000 }, { 4, 100, 5000000 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++)
		check(times, cases[n].count, cases[n].percent, cases[n].wanted);
}

static int by_time(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* The least of the times that at least so many percent of all do not exceed. */
static void test_many(void **state)
{
	uint64_t times[1000], sorted[1000];

	(void)state;
	srand(1);
	for (unsigned count = 1; count <= 1000; count += 37)
		for (unsigned percent = 1; percent <= 100; percent += 7) {
			unsigned below = 0;

			for (unsigned n = 0; n < count; n++)
				times[n] = sorted[n] = (uint64_t)rand() << (n % 20);
			qsort(sorted, count, sizeof(*sorted), by_time);
			while ((below + 1) * 100 < count * percent)
				below++;
			check(times, count, percent, sorted[below]);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_few), cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
