/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The hash table of numbers: contents, an empty table, equal hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/containers/hash.h"
#include "base/containers/hash_table.h"

enum {
	NUMBERS = 100000,
};

/* Whether a number is among those with a hash. */
static bool has(const struct hash_table *table, uint64_t hash, uint32_t number)
{
	uint32_t found;

	for (size_t at = 0; (found = hash_table_next(table, hash, &at));)
		if (found == number)
			return true;
	return false;
}

static void test_contents(void **state)
{
	struct hash_table table = { 0 };

	(void)state;
	assert_false(has(&table, 0, 1));
	for (uint32_t n = 1; n <= NUMBERS; n++) {
		assert_true(hash_table_reserve(&table));
		hash_table_add(&table, hash_pair(n, 0), n);
		assert_true(table.count == n && table.count <= table.room / 2);
	}
	for (uint32_t n = 1; n <= NUMBERS; n++) {
		assert_true(has(&table, hash_pair(n, 0), n));
		assert_false(has(&table, hash_pair(n, 1), n));
	}
	hash_table_free(&table);
	assert_null(table.slots);
	assert_false(has(&table, hash_pair(1, 0), 1));
}

/* Numbers with equal hashes are all found, and those in between with another hash are not. */
static void test_equal_hashes(void **state)
{
	struct hash_table table = { 0 };
	uint32_t number, found = 0;

	(void)state;
	for (uint32_t n = 1; n <= 32; n++) {
		assert_true(hash_table_reserve(&table));
		hash_table_add(&table, UINT32_MAX - n % 2, n);
	}
	assert_int_equal(table.room, 64); /* so the slots behind the last one are the first ones */
	for (size_t at = 0; (number = hash_table_next(&table, UINT32_MAX, &at)); found++)
		assert_int_equal(number % 2, 0);
	assert_int_equal(found, 16);
	hash_table_free(&table);
}

/* Both halves of a hash count. */
static void test_halves(void **state)
{
	struct hash_table table = { 0 };

	(void)state;
	assert_true(hash_table_reserve(&table));
	hash_table_add(&table, UINT64_C(7) << 32, 1);
	assert_false(has(&table, UINT64_C(8) << 32, 1));
	assert_true(has(&table, UINT64_C(7) << 32, 1));
	hash_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_equal_hashes),
		cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
