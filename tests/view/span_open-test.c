/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Open pairs, compared with a plain list: begins and ends by chance, of few and of many keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/spans/span_open.h"

enum {
	PAIRS = 3000,
};

static struct span_open_pair list[PAIRS];
static unsigned count;

/* The last one of a key is the youngest. */
static unsigned find_youngest(const struct span_open_pair *wanted)
{
	unsigned n = count;

	while (n-- > 0)
		if (list[n].definition == wanted->definition && list[n].key[0] == wanted->key[0] &&
		    list[n].key[1] == wanted->key[1])
			break;
	return n;
}

static int count_visit(void *data, const struct span_open_pair *pair)
{
	unsigned *visits = data;

	assert_true(find_youngest(pair) < count);
	++*visits;
	return 0;
}

static void compare(unsigned keys, unsigned steps)
{
	struct span_open open = { 0 };
	unsigned visits = 0;

	count = 0;
	for (unsigned step = 0; step < steps; step++) {
		struct span_open_pair pair = { .key = { (unsigned)rand() % keys, (unsigned)rand() % 2 },
					       .begin = step,
					       .definition = (unsigned)rand() % 3 };
		unsigned found;

		if (count < PAIRS && rand() % 9 < 5) {
			assert_true(span_open_push(&open, &pair));
			list[count++] = pair;
			continue;
		}
		found = find_youngest(&pair);
		assert_int_equal(span_open_pop(&open, &pair), found < count);
		if (found >= count)
			continue;
		assert_int_equal(pair.begin, list[found].begin);
		for (count--; found < count; found++)
			list[found] = list[found + 1];
	}
	assert_int_equal(span_open_each(&open, count_visit, &visits), 0);
	assert_int_equal(visits, count);
	span_open_free(&open);
}

static void test_chance(void **state)
{
	(void)state;
	srand(1);
	compare(1, 3000);
	compare(20, 20000);
	compare(500, 30000);
	compare(100000, 30000);
}

/* Millions of keys that come and go need the room of those that are open. */
static void test_room(void **state)
{
	struct span_open open = { 0 };

	(void)state;
	for (uint64_t n = 0; n < 1000000; n++) {
		struct span_open_pair pair = { .key = { n, n }, .begin = n };

		assert_true(span_open_push(&open, &pair));
		if (n < 10)
			continue;
		pair.key[0] = pair.key[1] = n - 10;
		assert_true(span_open_pop(&open, &pair));
		assert_int_equal(pair.begin, n - 10);
	}
	assert_in_range(open.slot_room, 1, 64);
	assert_in_range(open.count, 1, 11);
	span_open_free(&open);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_chance),
						   cmocka_unit_test(test_room) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
