/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Off-CPU time from the kernel's records of threads that stop and resume, some of which are missing. */
#include "fixture.h"

#include "source/perf/stacks/offcpu.h"

enum {
	BEGIN = 100,
	WAITS_MAX = 16,
};

static struct {
	struct offcpu_wait waits[WAITS_MAX];
	unsigned count;
} reported;

static struct offcpu waits;

static void take(void *data, const struct offcpu_wait *wait)
{
	(void)data;
	assert_true(reported.count < WAITS_MAX);
	reported.waits[reported.count++] = *wait;
}

/* Threads 1 and 2, which exist at the beginning. */
static void begin(struct fixture *fixture)
{
	reported.count = 0;
	tasks_add(&fixture->tasks, 1, 1, "one");
	tasks_add(&fixture->tasks, 1, 2, "two");
	offcpu_begin(&waits, &fixture->tasks, take, NULL, BEGIN);
}

static void stack_of(uint32_t tid, uint64_t time, uint32_t stack)
{
	const struct record record = { .kind = RECORD_SAMPLE, .tid = tid, .time = time };

	offcpu_stop(&waits, &record, WIRE_SAMPLE_KEPT, &(struct attributed){ .task = tid, .stack = stack });
}

static void switch_of(uint16_t misc, uint32_t tid, uint64_t time, unsigned cpu)
{
	struct synthetic bytes;
	struct record record;

	synthetic_begin(&bytes, PERF_RECORD_SWITCH, misc);
	synthetic_trailer(&bytes, 1, tid, time);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_SWITCH);
	offcpu_switch(&waits, &record, cpu);
}

static void blocks(uint32_t tid, uint64_t time)
{
	switch_of(PERF_RECORD_MISC_SWITCH_OUT, tid, time, 0);
}

static void is_preempted(uint32_t tid, uint64_t time)
{
	switch_of(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, tid, time, 0);
}

static void resumes(uint32_t tid, uint64_t time)
{
	switch_of(0, tid, time, 1);
}

static void ends(struct fixture *fixture, uint32_t tid, uint64_t time)
{
	struct synthetic bytes;
	struct record record;

	synthetic_task(&bytes, PERF_RECORD_EXIT, 1, tid, 1, tid, time);
	record = synthetic_parsed(&bytes);
	offcpu_exit(&waits, &record);
	fixture_take(fixture, &bytes);
}

static void finish(uint64_t time)
{
	waits.end = time;
	offcpu_end(&waits);
}

/* Check the next reported wait. */
static void expect(enum wire_sample loss, uint32_t tid, uint64_t end, uint64_t ns, uint32_t stack)
{
	static unsigned n;
	const struct offcpu_wait *wait;

	if (reported.count == 0 || n >= reported.count)
		n = 0;
	assert_true(n < reported.count);
	wait = &reported.waits[n++];
	assert_int_equal(wait->loss, loss);
	assert_int_equal(wait->thread ? wait->thread->tid : 0, tid);
	assert_int_equal(wait->end, end);
	assert_int_equal(wait->ns, ns);
	if (!loss)
		assert_int_equal(wait->context.stack, stack);
	if (n == reported.count)
		reported.count = n = 0;
}

static void expect_none(void)
{
	assert_int_equal(reported.count, 0);
}

/* Each wait has its stack, and the CPU on which the thread resumes. */
static void usual(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	blocks(1, 201);
	stack_of(2, 300, 8);
	blocks(2, 301);
	expect_none();
	resumes(1, 500);
	assert_int_equal(reported.waits[0].cpu, 1);
	assert_int_equal(reported.waits[0].context.task, 1);
	expect(WIRE_SAMPLE_KEPT, 1, 500, 299, 7);
	resumes(2, 600);
	expect(WIRE_SAMPLE_KEPT, 2, 600, 299, 8);
	stack_of(1, 700, 9);
	blocks(1, 701);
	finish(1000);
	expect(WIRE_SAMPLE_KEPT, 1, 1000, 299, 9);
	expect_none();
	assert_int_equal(waits.before, 0);
}

static void preempted(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	is_preempted(1, 201);
	resumes(1, 300);
	is_preempted(1, 400); /* its stack was lost, which does not matter */
	resumes(1, 410);
	finish(1000);
	expect_none();
	assert_int_equal(waits.preempted, 2);
	assert_int_equal(waits.preempted_ns, 109);
}

/* A thread that was blocked before is counted when it resumes. The idle task and records of other times are ignored. */
static void before(void **state)
{
	begin(*state);
	stack_of(1, 98, 7);
	blocks(1, 99);
	resumes(1, 150);
	resumes(2, 160);
	assert_int_equal(waits.before, 2);
	stack_of(0, 200, 7);
	blocks(0, 201);
	resumes(0, 202);
	blocks(UINT32_MAX, 203);
	stack_of(1, 300, 7);
	waits.end = 1000;
	blocks(1, 1001);
	resumes(1, 1002);
	finish(1000);
	expect_none();
}

/* Without a stack the time is known; without an end the wait is lost. */
static void lost(void **state)
{
	begin(*state);
	blocks(1, 200);
	resumes(1, 300);
	expect(WIRE_SAMPLE_KEPT, 1, 300, 100, 0);
	stack_of(1, 400, 7);
	blocks(1, 401);
	stack_of(1, 500, 8); /* it had resumed */
	expect(WIRE_SAMPLE_RING, 1, 500, 99, 0);
	blocks(1, 501);
	blocks(1, 600); /* again */
	expect(WIRE_SAMPLE_RING, 1, 600, 99, 0);
	resumes(1, 700);
	expect(WIRE_SAMPLE_KEPT, 1, 700, 100, 0);
	stack_of(1, 800, 9);
	resumes(1, 900); /* the switch is missing: was it blocked? */
	expect(WIRE_SAMPLE_RING, 1, 900, 100, 0);
	blocks(99, 950); /* an unknown thread */
	expect(WIRE_SAMPLE_TASK, 0, 950, 0, 0);
	resumes(99, 960);
	finish(1000);
	expect_none();
}

/* A wait that began before the end of a gap may have ended in it, and another begun. */
static void gaps(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	blocks(1, 201);
	offcpu_gap(&waits, 500);
	stack_of(2, 490, 8);
	blocks(2, 491);
	resumes(1, 600);
	expect(WIRE_SAMPLE_RING, 1, 600, 399, 0);
	resumes(2, 610);
	expect(WIRE_SAMPLE_RING, 2, 610, 119, 0);
	stack_of(1, 700, 7);
	blocks(1, 701);
	resumes(1, 800);
	expect(WIRE_SAMPLE_KEPT, 1, 800, 99, 7);
	stack_of(1, 850, 7);
	blocks(1, 851);
	stack_of(2, 860, 8);
	blocks(2, 861);
	offcpu_gap_at_end(&waits, 900);
	resumes(1, 890);
	expect(WIRE_SAMPLE_KEPT, 1, 890, 39, 7);
	finish(1000);
	expect(WIRE_SAMPLE_RING, 2, 1000, 139, 0);
	expect_none();
}

/* An ended thread has no waits until its id is reused, by a fork or by a thread that calls execve. */
static void ended(void **state)
{
	struct fixture *fixture = *state;
	struct synthetic bytes;

	begin(fixture);
	stack_of(1, 200, 7);
	blocks(1, 201);
	ends(fixture, 1, 300); /* it must have resumed */
	expect(WIRE_SAMPLE_RING, 1, 300, 99, 0);
	stack_of(1, 301, 7);
	blocks(1, 302); /* for ever */
	synthetic_name(&bytes, 1, 1, 400, 1, "other");
	fixture_take(fixture, &bytes);
	stack_of(1, 500, 8);
	blocks(1, 501);
	resumes(1, 600);
	expect(WIRE_SAMPLE_KEPT, 1, 600, 99, 8);
	ends(fixture, 2, 700);
	synthetic_task(&bytes, PERF_RECORD_FORK, 1, 2, 1, 1, 750);
	fixture_take(fixture, &bytes);
	resumes(2, 760); /* for the first time */
	stack_of(2, 800, 9);
	blocks(2, 801);
	resumes(2, 900);
	expect(WIRE_SAMPLE_KEPT, 2, 900, 99, 9);
	finish(1000);
	expect_none();
	assert_int_equal(waits.before, 0);
}

static struct {
	struct offcpu_waker wakers[WAITS_MAX];
	unsigned count;
} woken;

static void take_waker(void *data, const struct offcpu_waker *waker)
{
	(void)data;
	assert_true(woken.count < WAITS_MAX);
	woken.wakers[woken.count++] = *waker;
}

/* Thread @tid is woken by one whose stack is @stack. Return: whether that was of use. */
static bool wakes(uint32_t tid, uint64_t time, uint32_t stack)
{
	struct sample_task *sleeper = offcpu_sleeper(&waits, tid, time);

	if (sleeper)
		offcpu_wake(&waits, sleeper,
			    &(struct offcpu_waker){ .time = time,
						    .cpu = 1,
						    .context = { .tid = 9, .task = 9, .stack = stack } });
	return sleeper;
}

static void expect_waker(uint32_t tid, uint64_t time, uint64_t ns, uint32_t stack)
{
	assert_int_equal(woken.count, 1);
	assert_int_equal(woken.wakers[0].woken, tid);
	assert_int_equal(woken.wakers[0].time, time);
	assert_int_equal(woken.wakers[0].ns, ns);
	assert_int_equal(woken.wakers[0].context.stack, stack);
	assert_int_equal(woken.wakers[0].context.tid, 9);
	woken.count = 0;
}

/* A wake-up has the time for which the thread was blocked; a thread is woken once in a wait. */
static void wakers(void **state)
{
	begin(*state);
	assert_false(wakes(1, 150, 5)); /* they are not recorded */
	waits.take_waker = take_waker;
	assert_false(wakes(1, 90, 5)); /* before the recording */
	assert_false(wakes(99, 150, 5));
	assert_false(wakes(0, 150, 5));
	assert_false(wakes(1, 150, 5)); /* since when it was blocked is not known */
	resumes(1, 190);
	stack_of(1, 200, 7);
	blocks(1, 201);
	assert_true(wakes(1, 400, 5));
	expect_waker(1, 400, 199, 5);
	assert_false(wakes(1, 410, 6));
	resumes(1, 500);
	expect(WIRE_SAMPLE_KEPT, 1, 500, 299, 7);
	is_preempted(1, 600);
	assert_false(wakes(1, 610, 6));
	assert_int_equal(woken.count, 0);
}

/* A wake-up just before the switch is that of this wait, unless the thread was preempted instead, or much time passed. */
static void early_wakers(void **state)
{
	begin(*state);
	waits.take_waker = take_waker;
	resumes(1, 190);
	assert_true(wakes(1, 200, 5));
	assert_int_equal(woken.count, 0);
	blocks(1, 201);
	expect_waker(1, 201, 0, 5);
	resumes(1, 300);
	expect(WIRE_SAMPLE_KEPT, 1, 300, 99, 0);
	assert_true(wakes(1, 310, 6));
	is_preempted(1, 320);
	resumes(1, 330);
	blocks(1, 340);
	assert_int_equal(woken.count, 0);
	assert_true(wakes(1, 350, 7));
	expect_waker(1, 350, 10, 7);
	resumes(1, 400);
	expect(WIRE_SAMPLE_KEPT, 1, 400, 60, 0);
	assert_true(wakes(1, 410, 8));
	blocks(1, 10000000);
	assert_int_equal(woken.count, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(usual), CASE(preempted), CASE(before), CASE(lost),
		CASE(gaps),  CASE(ended),     CASE(wakers), CASE(early_wakers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
