/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Multiplexed counters, and the statistics of repeated runs, against known numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/control/stat_command.h"

static void assert_near(double value, double expected, double difference)
{
	assert_true(fabs(value - expected) <= difference);
}

static void multiplexed_counts_are_scaled(void **state)
{
	const struct counter_value all = { 1000, 50, 50 }, half = { 1000, 50, 25 }, never = { 0, 50, 0 },
				   not_enabled = { 0, 0, 0 }, odd = { 1000, 50, 60 };

	(void)state;
	assert_true(counter_scaled(&all) == 1000 && counter_share(&all) == 1);
	assert_true(counter_scaled(&half) == 2000 && counter_share(&half) == 0.5);
	assert_true(counter_scaled(&never) == 0 && counter_share(&never) == 0);
	assert_true(counter_scaled(&not_enabled) == 0 && counter_share(&not_enabled) == 1);
	assert_true(counter_scaled(&odd) == 1000 && counter_share(&odd) == 1);
}

static void add_all(struct count_row *row, const double *values, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		count_add(row, values[n], n == 1 ? 0.5 : 1);
}

/* The deviation divides by n - 1. The confidence is Student's t for n - 1 degrees times it, divided by the root of n. */
static void runs_are_summed_up(void **state)
{
	static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct count_row one = { .runs = 0 }, two = { .runs = 0 }, eight = { .runs = 0 };

	(void)state;
	add_all(&one, values, 1);
	assert_true(one.mean == 2 && count_deviation(&one) == 0 && count_confidence(&one) == 0);
	add_all(&two, values, 2);
	assert_near(two.mean, 3, 1e-12);
	assert_near(count_deviation(&two), 1.414214, 1e-6);
	assert_near(count_confidence(&two), 12.706, 1e-6);
	add_all(&eight, values, 8);
	assert_near(eight.mean, 5, 1e-12);
	assert_near(count_deviation(&eight), 2.138090, 1e-6);
	assert_near(count_confidence(&eight), 2.36462 * 0.755929, 0.002);
	assert_true(eight.share == 0.5);
}

static void set(struct counts *counts, const char *name, double mean)
{
	struct count_row *row = &counts->rows[counts->count++];

	snprintf(row->counter.event.name, sizeof(row->counter.event.name), "%s", name);
	count_add(row, mean, 1);
}

static double figure_of(const struct counts *counts, const char *name, enum count_figure expected)
{
	enum count_figure kind = COUNT_FIGURES;
	double figure = -1;

	count_figure(counts, count_find(counts, name), &figure, &kind);
	assert_int_equal(kind, expected);
	return figure;
}

static void figures_follow(void **state)
{
	static struct counts counts;

	(void)state;
	set(&counts, "task-clock", 5e8);
	set(&counts, "elapsed", 2e9);
	set(&counts, "cycles", 1e9);
	set(&counts, "instructions", 2.5e9);
	set(&counts, "branches", 1e6);
	set(&counts, "branch-misses", 1e4);
	set(&counts, "page-faults", 100);
	counts.rows[0].is_time = counts.rows[1].is_time = true;
	assert_near(figure_of(&counts, "task-clock", COUNT_CPUS), 0.25, 1e-12);
	assert_near(figure_of(&counts, "instructions", COUNT_PER_CYCLE), 2.5, 1e-12);
	assert_near(figure_of(&counts, "branch-misses", COUNT_OF_BRANCHES), 1, 1e-12);
	assert_near(figure_of(&counts, "page-faults", COUNT_PER_S), 200, 1e-9);
	assert_near(figure_of(&counts, "cycles", COUNT_PER_S), 2e9, 1);
	assert_near(figure_of(&counts, "elapsed", COUNT_FIGURES), -1, 1e-12);
	counts.rows[2].error = -1; /* a row without a number is not a base */
	assert_null(count_find(&counts, "cycles"));
	assert_near(figure_of(&counts, "instructions", COUNT_PER_S), 5e9, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multiplexed_counts_are_scaled),
		cmocka_unit_test(runs_are_summed_up),
		cmocka_unit_test(figures_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
