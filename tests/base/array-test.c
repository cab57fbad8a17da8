/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arrays that grow: contents, limits, and what a failure leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/containers/array.h"

enum {
	ITEMS = 100000,
};

struct item {
	uint64_t number;
	char name[16];
};

static void test_contents(void **state)
{
	struct item *items = NULL;
	size_t room = 0, growths = 0;

	(void)state;
	assert_true(array_reserve(items, room, 0));
	assert_null(items);
	for (size_t count = 0; count < ITEMS; count++) {
		const size_t before = room;

		assert_true(array_reserve(items, room, count + 1));
		assert_true(room > count);
		growths += room != before;
		items[count].number = count;
	}
	for (size_t n = 0; n < ITEMS; n++)
		assert_int_equal(items[n].number, n);
	assert_true(room <= 2 * (size_t)ITEMS);
	assert_in_range(growths, 1,
			17); /* it doubles, else an array of a user's size would take quadratic time */
	free(items);
}

static void test_many_at_once(void **state)
{
	char *text = NULL;
	size_t room = 0;

	(void)state;
	assert_true(array_reserve(text, room, 70000));
	assert_in_range(room, 70000, 2 * 70000);
	text[69999] = 'x';
	assert_int_equal(array_larger(room, 1, 1), 2 * room);
	assert_int_equal(array_larger(room, 3 * room, 1), 3 * room);
	free(text);
}

/* A failure keeps the items and their room. */
static void test_no_memory(void **state)
{
	uint64_t *items = NULL, *before;
	size_t room = 0, room_before;

	(void)state;
	assert_true(array_reserve(items, room, 1));
	items[0] = 42;
	before = items;
	room_before = room;
	assert_false(array_reserve(items, room, SIZE_MAX / 2));	    /* more than there is */
	assert_false(array_reserve(items, room, SIZE_MAX / 8 + 2)); /* 8 bytes, modulo 2^64 */
	assert_false(array_reserve_zeroed(items, room, SIZE_MAX));
	assert_ptr_equal(items, before);
	assert_int_equal(room, room_before);
	assert_int_equal(items[0], 42);
	free(items);
}

static void test_limit(void **state)
{
	uint32_t *items = NULL;
	size_t room = 0;

	(void)state;
	assert_false(array_reserve_max(items, room, 1001, 1000));
	assert_null(items);
	for (size_t count = 1; count <= 1000; count++) {
		assert_true(array_reserve_max(items, room, count, 1000));
		items[count - 1] = 1;
		assert_in_range(room, count, 1000);
	}
	assert_false(array_reserve_max(items, room, 1001, 1000));
	assert_int_equal(room, 1000);
	free(items);
}

static void test_zeroed(void **state)
{
	uint32_t *items = NULL;
	size_t room = 0, used = 0;

	(void)state;
	for (size_t index = 0; index < ITEMS; index = 3 * index + 1) {
		assert_true(array_reserve_zeroed(items, room, index + 1));
		for (size_t n = used; n < room; n++)
			assert_int_equal(items[n], 0);
		items[index] = 1;
		used = index + 1;
	}
	free(items);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),  cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
