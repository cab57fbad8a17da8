/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Comparisons of generated recordings: of equal programs, in which at most 5 % of the rows may be changes, and with one function that takes 20 %
 * more. A program has phases, and each of its recordings has its own speeds of functions, in one function of them much more.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "view/compare/compare.h"
#include "view/compare/student.h"

enum {
	FUNCTIONS = 60,
	PAIRS = 100,
	SAMPLES = 4000,
	UNSTEADY = 7, /* the function that differs most from recording to recording */
	PLANTED = 1,
	RECORDINGS_MAX = 10,
};

struct law {
	unsigned sides[2];   /* recordings */
	unsigned samples[2]; /* of each */
	double planted;	     /* how much more the function takes in B */
	double bursts;	     /* standard deviation of a function's part of a slice, by itself */
	double speeds;	     /* standard deviation of a function's speed between recordings */
};

static uint64_t state;

static double uniform(void)
{
	return ((double)random_next(&state) + 0.5) / (double)(UINT64_C(1) << 48);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* How much of each slice the functions take. Every fifth function is in one phase only, others have bursts. */
static void generate_weights(const struct law *law, unsigned side, double weights[][FUNCTIONS])
{
	for (unsigned function = 0; function < FUNCTIONS; function++) {
		const double deviation = function == UNSTEADY ? 5 * law->speeds : law->speeds,
			     speed = exp(deviation * normal()) *
				     (side && function == PLANTED ? 1 + law->planted : 1);

		for (unsigned slice = 0; slice < COMPARE_SLICES; slice++) {
			const bool asleep = function % 5 == 0 && slice / 4 != function % 4;

			weights[slice][function] =
				asleep ? 0 : speed * exp(law->bursts * normal()) / (1 + 0.6 * function);
		}
	}
}

static void draw(unsigned samples, double weights[][FUNCTIONS], double counts[][COMPARE_SLICES])
{
	memset(counts, 0, FUNCTIONS * sizeof(*counts));
	for (unsigned n = 0; n < samples; n++) {
		const unsigned slice = n * COMPARE_SLICES / samples;
		double sum = 0, at;
		unsigned function = 0;

		for (unsigned m = 0; m < FUNCTIONS; m++)
			sum += weights[slice][m];
		at = uniform() * sum;
		while (function < FUNCTIONS - 1 && at >= weights[slice][function])
			at -= weights[slice][function++];
		counts[function][slice]++;
	}
}

static void add_recording(struct compare *compare, const struct law *law, unsigned side)
{
	double weights[COMPARE_SLICES][FUNCTIONS], counts[FUNCTIONS][COMPARE_SLICES],
		whole[COMPARE_SLICES] = { 0 };
	struct compare_recording *recording = compare_next(compare, "generated");

	generate_weights(law, side, weights);
	draw(law->samples[side], weights, counts);
	recording->count = law->samples[side];
	recording->draws = law->samples[side];
	for (unsigned slice = 0; slice < COMPARE_SLICES; slice++)
		for (unsigned n = 0; n < FUNCTIONS; n++)
			whole[slice] += counts[n][slice];
	for (unsigned n = 0; n < FUNCTIONS; n++) {
		const struct significance_value share = compare_ratio(counts[n], whole);

		if (share.value > 0)
			assert_int_equal(compare_add(compare, n + 1, COMPARE_SHARE, share,
						     (uint64_t)(share.value * recording->draws + 0.5)),
					 0);
	}
}

struct found {
	size_t rows, changes; /* judged; and called changed */
	bool planted;
};

static struct found compare_generated(const struct law *law)
{
	struct found found = { .rows = 0 };
	uint8_t sides[RECORDINGS_MAX];
	struct compare compare;

	for (unsigned n = 0; n < law->sides[0] + law->sides[1]; n++)
		sides[n] = n >= law->sides[0];
	assert_int_equal(compare_begin(&compare, COMPARE_OF_SAMPLES, sides, law->sides[0] + law->sides[1]),
			 0);
	for (unsigned n = 0; n < law->sides[0] + law->sides[1]; n++)
		add_recording(&compare, law, sides[n]);
	assert_int_equal(compare_finish(&compare), 0);
	found.rows = compare.how.judged;
	for (size_t n = 0; n < compare.row_count; n++) {
		found.changes += compare_is_change(&compare.rows[n]);
		found.planted |= compare_is_change(&compare.rows[n]) && compare.rows[n].name == PLANTED + 1 &&
				 compare.rows[n].judged->low > 0;
	}
	compare_free(&compare);
	return found;
}

/* Of 100 pairs: rows, and those called changed; pairs with one; and pairs in which the planted change was found. */
struct tally {
	size_t rows, changes, pairs, planted;
};

static struct tally compare_pairs(const struct law *law)
{
	struct tally tally = { 0 };

	state = RANDOM_BEGIN;
	for (unsigned n = 0; n < PAIRS; n++) {
		const struct found found = compare_generated(law);

		tally.rows += found.rows;
		tally.changes += found.changes;
		tally.pairs += found.changes != 0;
		tally.planted += found.planted;
	}
	print_message(
		"%u to %u recordings, %u and %u samples, planted %.0f%%: %zu of %zu rows changed, in %zu "
		"pairs; found in %zu\n",
		law->sides[0], law->sides[1], law->samples[0], law->samples[1], law->planted * 100,
		tally.changes, tally.rows, tally.pairs, tally.planted);
	return tally;
}

static void test_equal(void **unused)
{
	static const struct law laws[] = {
		{ { 1, 1 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.03 },
		{ { 1, 1 }, { SAMPLES, SAMPLES / 10 }, 0, 0.3, 0.03 },
		{ { 2, 2 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.03 },
		{ { 3, 3 }, { SAMPLES, SAMPLES }, 0, 0.3, 0 },
		{ { 3, 3 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.03 },
		{ { 3, 3 }, { SAMPLES, SAMPLES / 10 }, 0, 0.3, 0.03 },
		{ { 3, 3 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.15 },
		{ { 1, 5 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.03 },
		{ { 5, 5 }, { SAMPLES, SAMPLES }, 0, 0.3, 0.03 },
	};

	(void)unused;
	for (unsigned n = 0; n < sizeof(laws) / sizeof(*laws); n++) {
		const struct tally tally = compare_pairs(&laws[n]);

		assert_true(tally.rows > PAIRS * 10);
		assert_true(tally.changes * 100 <= tally.rows * 5);
	}
}

static void test_planted(void **unused)
{
	const struct law law = { { 3, 3 }, { 3 * SAMPLES, 3 * SAMPLES }, 0.2, 0.05, 0.01 };

	(void)unused;
	assert_true(compare_pairs(&law).planted >= 95);
}

/* ---- Values that are no shares */

static void add_value(struct compare *compare, uint32_t name, double value, double variance)
{
	assert_int_equal(compare_add(compare, name, COMPARE_MEAN,
				     (struct significance_value){ value, variance }, 1000),
			 0);
}

/* Equal in all recordings of a side: any difference is a change. */
static void test_exact(void **unused)
{
	const uint8_t sides[] = { 0, 0, 1, 1 };
	struct compare compare;

	(void)unused;
	assert_int_equal(compare_begin(&compare, COMPARE_OF_SPANS, sides, 4), 0);
	for (unsigned n = 0; n < 4; n++) {
		compare_next(&compare, "");
		add_value(&compare, 1, 100, 0);
		add_value(&compare, 2, sides[n] ? 101 : 100, 0);
	}
	assert_int_equal(compare_finish(&compare), 0);
	assert_int_equal(compare.rows[0].name, 2);
	assert_true(compare_is_change(&compare.rows[0]));
	assert_true(compare.rows[1].judged->chance == 1);
	compare_free(&compare);
}

/* With few rows a variance is that of the recordings. A row that a side lacks, or that has too few, is not judged. */
static void test_few(void **unused)
{
	static const double jitter[] = { -1, 0, 1, -1, 0, 1 };
	const uint8_t sides[] = { 0, 0, 0, 1, 1, 1 };
	struct compare compare;

	(void)unused;
	assert_int_equal(compare_begin(&compare, COMPARE_OF_SPANS, sides, 6), 0);
	for (unsigned n = 0; n < 6; n++) {
		compare_next(&compare, "");
		add_value(&compare, 1, 100 + jitter[n] + (sides[n] ? 20 : 0), 1);
		add_value(&compare, 2, 100 + 10 * jitter[n] + (sides[n] ? 5 : 0), 1);
		if (sides[n])
			add_value(&compare, 3, 1, 1);
		assert_int_equal(compare_add(&compare, 4, COMPARE_P99,
					     (struct significance_value){ sides[n] ? 200 : 100, 1 }, 50),
				 0);
	}
	assert_int_equal(compare_finish(&compare), 0);
	for (size_t n = 0; n < compare.row_count; n++) {
		const struct compare_row *row = &compare.rows[n];

		assert_int_equal(compare_is_change(row), row->name == 1);
		assert_int_equal(isnan(row->judged->chance), row->name > 2);
		if (row->name == 1) {
			assert_true(row->judged->low > 15 && row->judged->low < 20);
			assert_true(row->judged->high > 20 && row->judged->high < 25);
		}
	}
	compare_free(&compare);
}

static void test_slices(void **unused)
{
	(void)unused;
	assert_int_equal(compare_slice_of(5, 10, 20), 0);
	assert_int_equal(compare_slice_of(10, 10, 25), 0);
	assert_int_equal(compare_slice_of(25, 10, 25), COMPARE_SLICES - 1);
	assert_int_equal(compare_slice_of(99, 10, 25), COMPARE_SLICES - 1);
	assert_int_equal(compare_slice_of(UINT64_MAX, 0, UINT64_MAX), COMPARE_SLICES - 1);
	assert_int_equal(compare_slice_of(UINT64_MAX / 2, 0, UINT64_MAX), COMPARE_SLICES / 2 - 1);
	assert_int_equal(compare_slice_of(7, 7, 7), 0);
}

/* Values of tables: Student's t, and the trigamma function of 1, 1/2 and 10. */
static void test_distributions(void **unused)
{
	(void)unused;
	assert_true(fabs(student_chance(12.706, 1) - 0.05) < 1e-5);
	assert_true(fabs(student_chance(2.776, 4) - 0.05) < 1e-4);
	assert_true(fabs(student_chance(8.610, 4) - 0.001) < 1e-5);
	assert_true(fabs(student_chance(1.960, 1e6) - 0.05) < 1e-4);
	assert_true(fabs(student_bound(0.05, 4) - 2.776445) < 1e-5);
	assert_true(student_chance(0, 3) == 1 && student_chance(INFINITY, 3) == 0 &&
		    student_chance(NAN, 3) == 1);
	assert_true(fabs(student_trigamma(1) - M_PI * M_PI / 6) < 1e-9);
	assert_true(fabs(student_trigamma(0.5) - M_PI * M_PI / 2) < 1e-9);
	assert_true(fabs(student_trigamma(10) - 0.1051663356816857) < 1e-9);
	assert_true(fabs(student_variance_median(4) - 0.8392) < 0.01); /* 3.3567 / 4 */
}

/*
 * A machine that disturbs makes times longer by a part of them. Times of a side that are nine, thirteen and eighteen are no reason to doubt
 * that they are a hundred times those of the other side. Among equal rows that vary as much, the row is the only change.
 */
static void test_ratios(void **unused)
{
	static const double disturbed[] = { 0.143, 0.140, 0.146, 9, 13, 18 };
	const uint8_t sides[] = { 0, 0, 0, 1, 1, 1 };
	struct compare compare;

	(void)unused;
	state = 5;
	assert_int_equal(compare_begin(&compare, COMPARE_OF_SPANS, sides, 6), 0);
	for (unsigned n = 0; n < 6; n++) {
		compare_next(&compare, "");
		add_value(&compare, 1, disturbed[n], 0);
		add_value(&compare, 2, sides[n] ? 0 : 100, 0); /* has no logarithm */
		for (uint32_t row = 3; row < 60; row++)
			add_value(&compare, row, 10 * exp(normal() / 3), 0);
	}
	assert_int_equal(compare_finish(&compare), 0);
	for (size_t n = 0; n < compare.row_count; n++) {
		const struct compare_row *row = &compare.rows[n];

		assert_int_equal(compare_is_change(row), row->name <= 2);
		if (row->name == 1)
			assert_true(row->judged->low > 3 && row->judged->low < 13 && row->judged->high > 13);
	}
	compare_free(&compare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions), cmocka_unit_test(test_slices),
		cmocka_unit_test(test_equal),	      cmocka_unit_test(test_planted),
		cmocka_unit_test(test_exact),	      cmocka_unit_test(test_few),
		cmocka_unit_test(test_ratios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
