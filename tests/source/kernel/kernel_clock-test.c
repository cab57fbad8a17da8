/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From the kernel's clock to the trace's: exact where the rate is constant, in order always, and the error is stated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "source/kernel/kernel_clock.h"
#include "wire/wire_session.h"

enum {
	STEP = 10000000, /* ns between two pairs */
	TICKS = 26,	 /* in 10 ns */
};

/* A clock with a known first pair. */
static struct kernel_clock begin(uint64_t ns, uint64_t ticks)
{
	struct kernel_clock clock;

	kernel_clock_begin(&clock, WIRE_CLOCK_TSC, 2600000000);
	clock.pairs[0].ns = ns;
	clock.pairs[0].ticks = ticks;
	return clock;
}

static void constant_rate(void **state)
{
	struct kernel_clock clock = begin(1000, 5000);

	(void)state;
	for (uint64_t n = 1; n < 1000; n++)
		kernel_clock_add(&clock, 1000 + n * STEP, 5000 + n * STEP / 10 * TICKS, 0);
	assert_true(clock.error <= 1);
	for (uint64_t ns = 1000 + 900ull * STEP; ns < 1000 + 1100ull * STEP;
	     ns += 123457) { /* also behind the last pair */
		const int64_t wrong =
			(int64_t)(kernel_clock_ticks(&clock, ns) - (5000 + (ns - 1000) * TICKS / 10));

		assert_true(wrong >= -2 && wrong <= 2);
	}
}

/* Rates that jump: no time goes back, and each lies within the stated error of its interval. */
static void changing_rate(void **state)
{
	struct kernel_clock clock = begin(1000, 5000);
	uint64_t ns = 1000, ticks = 5000, last = 0;

	(void)state;
	srandom(1);
	for (unsigned n = 1; n < 2000; n++) {
		const uint64_t from_ns = ns, from_ticks = ticks, rate = 2600000 + (uint64_t)random() % 2000;

		ns += STEP;
		ticks += STEP / 1000000 * rate * 1;
		kernel_clock_add(&clock, ns, ticks, 40);
		assert_int_equal(clock.count, n + 1);
		for (uint64_t at = from_ns; at < ns; at += STEP / 16) {
			const uint64_t found = kernel_clock_ticks(&clock, at);

			assert_true(found >= last);
			last = found;
			assert_true(found >= from_ticks && found <= ticks);
		}
	}
	assert_true(clock.error >= 7 && clock.error < 10000);
}

static void pairs_too_close(void **state)
{
	struct kernel_clock clock = begin(1000, 5000);

	(void)state;
	kernel_clock_add(&clock, 1000 + KERNEL_CLOCK_STEP - 1, 99999999, 0);
	kernel_clock_add(&clock, 900, 99999999, 0);			 /* earlier */
	kernel_clock_add(&clock, 1000 + 2 * KERNEL_CLOCK_STEP, 5000, 0); /* the ticks stand still */
	assert_int_equal(clock.count, 1);
}

static void same_clock(void **state)
{
	struct kernel_clock clock;

	(void)state;
	kernel_clock_begin(&clock, WIRE_CLOCK_MONOTONIC, 1000000000);
	kernel_clock_round(&clock);
	assert_int_equal(kernel_clock_ticks(&clock, 123456789), 123456789);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_rate),
		cmocka_unit_test(changing_rate),
		cmocka_unit_test(pairs_too_close),
		cmocka_unit_test(same_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
