/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Off-CPU time, as the kernel tells of threads that stop and go on; what it had no room for among it. */
#include "place.h"

#include "source/sample/waits.h"

enum {
	BEGIN = 100,
	TOLD_MAX = 16,
};

static struct {
	struct waits_wait waits[TOLD_MAX];
	unsigned count;
} told;

static struct waits waits;

static void take(void *data, const struct waits_wait *wait)
{
	(void)data;
	assert_true(told.count < TOLD_MAX);
	told.waits[told.count++] = *wait;
}

/* Threads 1 and 2, which are there when it begins. */
static void begin(struct place *place)
{
	told.count = 0;
	tasks_add(&place->tasks, 1, 1, "one");
	tasks_add(&place->tasks, 1, 2, "two");
	waits_begin(&waits, &place->tasks, take, NULL, BEGIN);
}

static void stack_of(uint32_t tid, uint64_t time, uint32_t stack)
{
	const struct record record = { .kind = RECORD_SAMPLE, .tid = tid, .time = time };

	waits_stop(&waits, &record, SAMPLE_KEPT, &(struct attributed){ .task = tid, .stack = stack });
}

static void switch_of(uint16_t misc, uint32_t tid, uint64_t time, unsigned cpu)
{
	struct synthetic bytes;
	struct record record;

	synthetic_begin(&bytes, PERF_RECORD_SWITCH, misc);
	synthetic_trailer(&bytes, 1, tid, time);
	record = synthetic_parsed(&bytes);
	assert_int_equal(record.kind, RECORD_SWITCH);
	waits_switch(&waits, &record, cpu);
}

static void blocks(uint32_t tid, uint64_t time)
{
	switch_of(PERF_RECORD_MISC_SWITCH_OUT, tid, time, 0);
}

static void is_preempted(uint32_t tid, uint64_t time)
{
	switch_of(PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, tid, time, 0);
}

static void goes_on(uint32_t tid, uint64_t time)
{
	switch_of(0, tid, time, 1);
}

static void ends(struct place *place, uint32_t tid, uint64_t time)
{
	struct synthetic bytes;
	struct record record;

	synthetic_task(&bytes, PERF_RECORD_EXIT, 1, tid, 1, tid, time);
	record = synthetic_parsed(&bytes);
	waits_exit(&waits, &record);
	place_tell(place, &bytes);
}

static void finish(uint64_t time)
{
	waits.end = time;
	waits_end(&waits);
}

/* The next wait that was told. */
static void expect(enum sample_loss loss, uint32_t tid, uint64_t end, uint64_t ns, uint32_t stack)
{
	static unsigned n;
	const struct waits_wait *wait;

	if (told.count == 0 || n >= told.count)
		n = 0;
	assert_true(n < told.count);
	wait = &told.waits[n++];
	assert_int_equal(wait->loss, loss);
	assert_int_equal(wait->thread ? wait->thread->tid : 0, tid);
	assert_int_equal(wait->end, end);
	assert_int_equal(wait->ns, ns);
	if (!loss)
		assert_int_equal(wait->place.stack, stack);
	if (n == told.count)
		told.count = n = 0;
}

static void expect_none(void)
{
	assert_int_equal(told.count, 0);
}

/* Each with its stack, on the CPU on which it goes on. */
static void usual(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	blocks(1, 201);
	stack_of(2, 300, 8);
	blocks(2, 301);
	expect_none();
	goes_on(1, 500);
	assert_int_equal(told.waits[0].cpu, 1);
	assert_int_equal(told.waits[0].place.task, 1);
	expect(SAMPLE_KEPT, 1, 500, 299, 7);
	goes_on(2, 600);
	expect(SAMPLE_KEPT, 2, 600, 299, 8);
	stack_of(1, 700, 9);
	blocks(1, 701);
	finish(1000);
	expect(SAMPLE_KEPT, 1, 1000, 299, 9);
	expect_none();
	assert_int_equal(waits.before, 0);
}

static void preempted(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	is_preempted(1, 201);
	goes_on(1, 300);
	is_preempted(1, 400); /* its stack was lost: all the same */
	goes_on(1, 410);
	finish(1000);
	expect_none();
	assert_int_equal(waits.preempted, 2);
	assert_int_equal(waits.preempted_ns, 109);
}

/* Who had stopped before is counted once it goes on. The idle task, and what is told of other times, count for nothing. */
static void before(void **state)
{
	begin(*state);
	stack_of(1, 98, 7);
	blocks(1, 99);
	goes_on(1, 150);
	goes_on(2, 160);
	assert_int_equal(waits.before, 2);
	stack_of(0, 200, 7);
	blocks(0, 201);
	goes_on(0, 202);
	blocks(UINT32_MAX, 203);
	stack_of(1, 300, 7);
	waits.end = 1000;
	blocks(1, 1001);
	goes_on(1, 1002);
	finish(1000);
	expect_none();
}

/* The time is known without the stack; an end that was not told makes the wait a loss. */
static void lost(void **state)
{
	begin(*state);
	blocks(1, 200);
	goes_on(1, 300);
	expect(SAMPLE_KEPT, 1, 300, 100, 0);
	stack_of(1, 400, 7);
	blocks(1, 401);
	stack_of(1, 500, 8); /* it had gone on */
	expect(SAMPLE_LOST_RING, 1, 500, 99, 0);
	blocks(1, 501);
	blocks(1, 600); /* again */
	expect(SAMPLE_LOST_RING, 1, 600, 99, 0);
	goes_on(1, 700);
	expect(SAMPLE_KEPT, 1, 700, 100, 0);
	stack_of(1, 800, 9);
	goes_on(1, 900); /* nobody knows whether it was blocked */
	expect(SAMPLE_LOST_RING, 1, 900, 100, 0);
	blocks(99, 950); /* nobody knows it at all */
	expect(SAMPLE_LOST_TASK, 0, 950, 0, 0);
	goes_on(99, 960);
	finish(1000);
	expect_none();
}

/* What began before the end of a gap may have ended in it, and begun anew. */
static void gaps(void **state)
{
	begin(*state);
	stack_of(1, 200, 7);
	blocks(1, 201);
	waits_gap(&waits, 500);
	stack_of(2, 490, 8);
	blocks(2, 491);
	goes_on(1, 600);
	expect(SAMPLE_LOST_RING, 1, 600, 399, 0);
	goes_on(2, 610);
	expect(SAMPLE_LOST_RING, 2, 610, 119, 0);
	stack_of(1, 700, 7);
	blocks(1, 701);
	goes_on(1, 800);
	expect(SAMPLE_KEPT, 1, 800, 99, 7);
	stack_of(1, 850, 7);
	blocks(1, 851);
	stack_of(2, 860, 8);
	blocks(2, 861);
	waits_gap_at_end(&waits, 900);
	goes_on(1, 890);
	expect(SAMPLE_KEPT, 1, 890, 39, 7);
	finish(1000);
	expect(SAMPLE_LOST_RING, 2, 1000, 139, 0);
	expect_none();
}

/* Who has ended waits for nothing, until its id is used again: by a fork, or by a thread that executes a program. */
static void ended(void **state)
{
	struct place *place = *state;
	struct synthetic bytes;

	begin(place);
	stack_of(1, 200, 7);
	blocks(1, 201);
	ends(place, 1, 300); /* it must have gone on */
	expect(SAMPLE_LOST_RING, 1, 300, 99, 0);
	stack_of(1, 301, 7);
	blocks(1, 302); /* for ever */
	synthetic_name(&bytes, 1, 1, 400, 1, "other");
	place_tell(place, &bytes);
	for (unsigned n = 0; n < 5; n++)
		tasks_round(&place->tasks);
	stack_of(1, 500, 8);
	blocks(1, 501);
	goes_on(1, 600);
	expect(SAMPLE_KEPT, 1, 600, 99, 8);
	ends(place, 2, 700);
	synthetic_task(&bytes, PERF_RECORD_FORK, 1, 2, 1, 1, 750);
	place_tell(place, &bytes);
	goes_on(2, 760); /* for the first time */
	stack_of(2, 800, 9);
	blocks(2, 801);
	goes_on(2, 900);
	expect(SAMPLE_KEPT, 2, 900, 99, 9);
	finish(1000);
	expect_none();
	assert_int_equal(waits.before, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
	const struct CMUnitTest tests[] = {
		CASE(usual), CASE(preempted), CASE(before), CASE(lost), CASE(gaps), CASE(ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
