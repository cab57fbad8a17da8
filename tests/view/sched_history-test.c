/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Kept intervals, compared with a plain list: cuts of random times add up, and have the states that the list has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/sched/sched_history.h"

enum {
	LISTS = 3,
	INTERVALS = 400,
	TIME = 100000,
};

static struct sched_interval all[LISTS][INTERVALS];
static unsigned counts[LISTS];

static uint64_t no_floor(void *data, uint64_t now)
{
	(void)data, (void)now;
	return 0;
}

/* Intervals with gaps, in order; if @overlaps, some begin before the end of the one before them. */
static void fill(struct sched_history *history, bool overlaps)
{
	for (unsigned list = 0; list < LISTS; list++) {
		uint64_t at = 1;

		counts[list] = 0;
		while (counts[list] < INTERVALS && at < TIME) {
			struct sched_interval *interval = &all[list][counts[list]++];
			const uint64_t back = overlaps && at > 50 ? (unsigned)rand() % 50 : 0;

			*interval =
				(struct sched_interval){ .thread = list,
							 .state = (enum sched_state)(rand() % SCHED_STATES),
							 .begin = at - back,
							 .end = at + 1 + (unsigned)rand() % 300 };
			at = interval->end + (unsigned)(rand() % 3 ? 0 : rand() % 100);
			assert_int_equal(sched_history_keep(history, list, interval), 0);
		}
	}
}

/* The state at a time. */
static enum sched_state state_at(unsigned list, uint64_t time)
{
	for (unsigned n = 0; n < counts[list]; n++)
		if (time >= all[list][n].begin && time < all[list][n].end)
			return all[list][n].state;
	return SCHED_UNKNOWN;
}

struct seen {
	unsigned list;
	uint64_t at, sum;
	bool exact;
};

static int see_piece(void *data, const struct sched_interval *piece, const struct sched_interval *whole)
{
	struct seen *seen = data;

	assert_int_equal(piece->begin, seen->at);
	assert_true(piece->begin < piece->end);
	if (seen->exact) {
		assert_int_equal(piece->state, state_at(seen->list, piece->begin));
		assert_int_equal(piece->state, state_at(seen->list, piece->end - 1));
	}
	assert_int_equal(piece->state, whole->state);
	seen->at = piece->end;
	seen->sum += piece->end - piece->begin;
	return 0;
}

static void cut_all(const struct sched_history *history, uint64_t least, bool exact)
{
	for (unsigned n = 0; n < 2000; n++) {
		const uint64_t from = least + (unsigned)rand() % TIME, to = from + (unsigned)rand() % 2000;
		struct seen seen = { .list = (unsigned)rand() % LISTS, .at = from, .exact = exact };

		assert_int_equal(sched_history_cut(history, seen.list, from, to, NULL, see_piece, &seen), 0);
		assert_int_equal(seen.sum, to - from);
	}
}

static void test_cuts(void **state)
{
	struct sched_history history = { .find_floor = no_floor };

	(void)state;
	srand(1);
	fill(&history, false);
	cut_all(&history, 0, true);
	sched_history_free(&history);
}

/* A damaged trace may have such intervals: pieces follow each other all the same. */
static void test_overlaps(void **state)
{
	struct sched_history history = { .find_floor = no_floor };

	(void)state;
	srand(2);
	fill(&history, true);
	cut_all(&history, 0, false);
	sched_history_free(&history);
}

/* Nothing before the floor is kept, and everything behind it. */
static void test_floor(void **state)
{
	struct sched_history history = { .find_floor = no_floor };

	(void)state;
	srand(3);
	history.floor = TIME / 4;
	fill(&history, false);
	for (unsigned list = 0; list < LISTS; list++)
		for (size_t n = history.lists[list].first; n < history.lists[list].count; n++)
			assert_true(history.lists[list].intervals[n].end > history.floor);
	cut_all(&history, history.floor, true);
	sched_history_free(&history);
	assert_int_equal(sched_history_cut(&history, 7, 5, 5, NULL, see_piece, NULL), 0);
}

/* The present state follows the last interval. */
static void test_now(void **state)
{
	const struct sched_interval last = { .state = SCHED_RUNNING, .begin = 10, .end = 20 },
				    now = { .state = SCHED_BLOCKED, .begin = 25 };
	struct sched_history history = { .find_floor = no_floor };
	struct seen seen = { .at = 5 };

	(void)state;
	assert_int_equal(sched_history_keep(&history, 0, &last), 0);
	counts[0] = 0;
	assert_int_equal(sched_history_cut(&history, 0, 5, 40, &now, see_piece, &seen), 0);
	assert_int_equal(seen.sum, 35);
	sched_history_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
