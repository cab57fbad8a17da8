/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* States of threads: known records, and any records at random, after which the states add up to the time of each thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/sched/sched_states.h"

enum {
	INTERVALS = 64,
	ROUNDS = 300000,
	IDS = 41,
	THREADS = ROUNDS + IDS,
	READ = 7,
};

struct collected {
	struct sched_interval intervals[INTERVALS];
	unsigned count;
};

static int collect(void *data, const struct sched_interval *interval)
{
	struct collected *collected = data;

	assert_true(collected->count < INTERVALS);
	collected->intervals[collected->count++] = *interval;
	return 0;
}

static void expect(const struct collected *collected, unsigned n, enum sched_state state, uint64_t begin,
		   uint64_t end, uint32_t waker)
{
	assert_true(n < collected->count);
	assert_int_equal(collected->intervals[n].state, state);
	assert_int_equal(collected->intervals[n].begin, begin);
	assert_int_equal(collected->intervals[n].end, end);
	assert_int_equal(collected->intervals[n].waker, waker);
}

static int take_on(struct sched *sched, uint64_t time, uint32_t cpu, uint32_t prev, enum sched_leave leave,
		   uint32_t next)
{
	const struct sched_switch record = { .cpu = cpu,
					     .prev = prev,
					     .leave = leave,
					     .what = leave == SCHED_SLEEPS ? READ : 0,
					     .next = next };

	return sched_take_switch(sched, time, &record);
}

static int take(struct sched *sched, uint64_t time, uint32_t prev, enum sched_leave leave, uint32_t next)
{
	return take_on(sched, time, SCHED_NO_CPU, prev, leave, next);
}

static void known_records(void **state)
{
	struct collected collected = { .count = 0 };
	struct sched sched = { .closed = collect, .data = &collected };

	(void)state;
	assert_int_equal(sched_take_other(&sched, 10, 100, false), 0);	   /* index 0 */
	assert_int_equal(take(&sched, 20, 100, SCHED_SLEEPS, 0), 0);	   /* idle: index 1 */
	assert_int_equal(sched_take_wake(&sched, 50, 100, 200, false), 0); /* index 2 */
	assert_int_equal(take(&sched, 55, 0, SCHED_PREEMPTED, 100), 0);
	assert_int_equal(take(&sched, 60, 100, SCHED_PREEMPTED, 300), 0);
	assert_int_equal(take(&sched, 70, 300, SCHED_PREEMPTED, 100), 0);
	assert_int_equal(take(&sched, 75, 100, SCHED_DIES, 300), 0);
	assert_int_equal(sched_finish(&sched, 90), 0);
	expect(&collected, 0, SCHED_RUNNING, 10, 20, 0);
	expect(&collected, 1, SCHED_BLOCKED, 20, 50, 3);
	assert_int_equal(collected.intervals[1].what, READ);
	expect(&collected, 2, SCHED_RUNNABLE, 50, 55, 3);
	expect(&collected, 3, SCHED_RUNNING, 55, 60, 0);
	expect(&collected, 4, SCHED_RUNNING, 60, 70, 0); /* of 300 */
	expect(&collected, 5, SCHED_RUNNABLE, 60, 70, 0);
	expect(&collected, 6, SCHED_RUNNING, 70, 75, 0);
	assert_int_equal(sched_missing(&sched, true).switches + sched_missing(&sched, true).wakes, 0);
	assert_true(sched_recorded(&sched, 0));
	assert_false(sched_recorded(&sched, 1));
	assert_false(sched_recorded(&sched, 3)); /* it only met 100 */
	assert_int_equal(sched.threads[0].end, 75);
	sched_free(&sched);
}

/* Two threads that took turns only with each other: which is recorded is known by those that lived at the end, or else by their switches. */
static void living_threads(void **state)
{
	for (unsigned known = 0; known < 2; known++) {
		struct collected collected = { .count = 0 };
		struct sched sched = { .closed = collect, .data = &collected };

		(void)state;
		take(&sched, 10, 100, SCHED_SLEEPS, 200);
		take(&sched, 20, 200, SCHED_SLEEPS, 100);
		take(&sched, 30, 300, SCHED_SLEEPS, 200);
		if (known) {
			sched.living = calloc(2, sizeof(*sched.living));
			assert_non_null(sched.living);
			sched.living[0] = (struct sched_range){ 1, 7 };
			sched.living[1] = (struct sched_range){ 99, 101 };
			sched.living_count = 2;
		}
		assert_int_equal(sched_recorded(&sched, sched_find(&sched, 100, 30)), known);
		assert_int_equal(sched_recorded(&sched, sched_find(&sched, 200, 30)), !known);
		assert_false(sched_recorded(&sched, sched_find(&sched, 300, 30)));
		sched_free(&sched);
	}
}

/* The record of a wake-up comes before that of the switch, if another CPU is quicker. */
static void early_wake_up(void **state)
{
	struct collected collected = { .count = 0 };
	struct sched sched = { .closed = collect, .data = &collected };

	(void)state;
	sched_take_other(&sched, 10, 100, false);
	sched_take_wake(&sched, 18, 100, 200, false);
	take(&sched, 20, 100, SCHED_SLEEPS, 0);
	take(&sched, 30, 0, SCHED_PREEMPTED, 100);
	expect(&collected, 1, SCHED_RUNNABLE, 20, 30, 2);
	/* One that was not for the sleep: another one ends it. */
	sched_take_wake(&sched, 35, 100, 200, false);
	take(&sched, 40, 100, SCHED_SLEEPS, 0);
	sched_take_wake(&sched, 48, 100, 200, true); /* an interrupt, while 200 ran */
	take(&sched, 50, 0, SCHED_PREEMPTED, 100);
	expect(&collected, 3, SCHED_BLOCKED, 40, 48, 3);
	expect(&collected, 4, SCHED_RUNNABLE, 48, 50, 3);
	sched_free(&sched);
}

static void used_ids_and_missing_records(void **state)
{
	struct collected collected = { .count = 0 };
	struct sched sched = { .closed = collect, .data = &collected };

	(void)state;
	sched_take_fork(&sched, 10, 100, 101);
	take(&sched, 12, 0, SCHED_PREEMPTED, 101);
	sched_take_fork(&sched, 20, 100, 101); /* the first one's end is missing */
	take(&sched, 25, 0, SCHED_PREEMPTED, 101);
	take(&sched, 30, 101, SCHED_DIES, 0);
	take(&sched, 40, 0, SCHED_PREEMPTED, 101); /* a third one, whose fork is missing */
	sched_finish(&sched, 45);
	expect(&collected, 0, SCHED_RUNNABLE, 10, 12, 2); /* woken by 100 */
	expect(&collected, 1, SCHED_RUNNING, 12, 20, 0);
	expect(&collected, 2, SCHED_RUNNABLE, 20, 25, 2);
	expect(&collected, 3, SCHED_RUNNING, 25, 30, 0);
	expect(&collected, 4, SCHED_RUNNING, 40, 45, 0);
	/* Two switches to a thread, and two from it. */
	collected.count = 0;
	take(&sched, 50, 0, SCHED_PREEMPTED, 500);
	take(&sched, 60, 0, SCHED_PREEMPTED, 500);
	take(&sched, 70, 500, SCHED_SLEEPS, 0);
	take(&sched, 80, 500, SCHED_SLEEPS, 0);
	expect(&collected, 0, SCHED_RUNNING, 50, 60, 0);
	expect(&collected, 1, SCHED_RUNNING, 60, 70, 0);
	expect(&collected, 2, SCHED_BLOCKED, 70, 80, 0);
	sched_free(&sched);
}

/* The kernel does not trace a task: it never leaves its CPU, and what wakes others meanwhile is missing. */
static void hidden_tasks(void **state)
{
	enum {
		HIDDEN = 75,
		MISSING = 3,
	};
	struct collected collected = { .count = 0 };
	struct sched sched = { .closed = collect, .data = &collected, .all = true, .unseen = MISSING };
	struct sched_missing missing;

	(void)state;
	take_on(&sched, 10, 0, 0, SCHED_PREEMPTED, 100); /* indexes 0 and 1 */
	take_on(&sched, 20, 0, 100, SCHED_SLEEPS, HIDDEN);
	take_on(&sched, 40, 0, 200, SCHED_SLEEPS, 100); /* HIDDEN, then 200, were there before */
	expect(&collected, 0, SCHED_RUNNING, 10, 20, 0);
	expect(&collected, 1, SCHED_BLOCKED, 20, 40, 0);
	expect(&collected, 2, SCHED_RUNNING, 20, 40, 0);
	missing = sched_missing(&sched, true);
	assert_int_equal(missing.switches, 1);
	assert_int_equal(missing.wakes, 1);
	assert_int_equal(sched_missing(&sched, false).wakes, 0);
	take_on(&sched, 60, 1, 0, SCHED_PREEMPTED, HIDDEN);
	expect(&collected, 3, SCHED_BLOCKED, 40, 60, 0);
	assert_int_equal(collected.intervals[3].what, MISSING);
	/* 100 leaves CPU 0 and is put on CPU 1 without the switch away. */
	take_on(&sched, 70, 1, HIDDEN, SCHED_SLEEPS, 100);
	assert_int_equal(sched_missing(&sched, true).switches, 2);
	/* What CPU 0 does now is no sign of that again. */
	take_on(&sched, 80, 0, 300, SCHED_SLEEPS, 0);
	assert_int_equal(sched_missing(&sched, true).switches, 2);
	sched_free(&sched);
}

struct sums {
	uint64_t time[THREADS], last[THREADS];
};

static int add(void *data, const struct sched_interval *interval)
{
	struct sums *sums = data;

	assert_true(interval->state < SCHED_STATES && interval->end > interval->begin);
	assert_true(interval->begin >= sums->last[interval->thread]);
	sums->last[interval->thread] = interval->end;
	sums->time[interval->thread] += interval->end - interval->begin;
	return 0;
}

static void any_records(void **state)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	struct sched sched = { .closed = add, .data = sums };
	uint64_t seed = 12345, time = 1;

	(void)state;
	assert_non_null(sums);
	for (unsigned n = 0; n < ROUNDS; n++) {
		uint32_t one, other;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		one = (uint32_t)(seed >> 33) % IDS;
		other = (uint32_t)(seed >> 43) % IDS;
		time += seed >> 62;
		switch (seed >> 59 & 7) {
		case 0:
			assert_int_equal(sched_take_wake(&sched, time, one, other, seed & 1), 0);
			break;
		case 1:
			assert_int_equal(sched_take_fork(&sched, time, one, other), 0);
			break;
		case 2:
			assert_int_equal(sched_take_exit(&sched, time, one), 0);
			break;
		case 3:
			assert_int_equal(sched_take_other(&sched, time, one, seed & 1), 0);
			break;
		default:
			assert_int_equal(take_on(&sched, time, (uint32_t)(seed >> 50) % 3, one,
						 (enum sched_leave)((seed >> 53) % 3), other),
					 0);
		}
	}
	assert_int_equal(sched_finish(&sched, time + 5), 0);
	assert_true(sched.count > 1000);
	for (size_t n = 0; n < sched.count; n++)
		assert_int_equal(sums->time[n], sched.threads[n].end - sched.threads[n].begin);
	sched_free(&sched);
	free(sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_records), cmocka_unit_test(living_threads),
		cmocka_unit_test(early_wake_up), cmocka_unit_test(used_ids_and_missing_records),
		cmocka_unit_test(hidden_tasks),	 cmocka_unit_test(any_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
