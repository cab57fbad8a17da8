/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* In place of cmocka's header where it is not installed: tests compile, and missing.c.in skips them before their main(). */
#ifndef BURIN_TESTS_WITHOUT_CMOCKA_H
#define BURIN_TESTS_WITHOUT_CMOCKA_H

#include <stddef.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **);
	int (*setup)(void **);
	int (*teardown)(void **);
	void *initial_state;
};

enum {
	CM_OUTPUT_TAP
};

static inline int cmocka_missing(int none, ...)
{
	return none;
}

#define assert_false(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_in_range(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_int_equal(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_int_not_equal(...)      cmocka_missing(0, __VA_ARGS__)
#define assert_memory_equal(...)       cmocka_missing(0, __VA_ARGS__)
#define assert_non_null(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_null(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_ptr_equal(...)	       cmocka_missing(0, __VA_ARGS__)
#define assert_ptr_not_equal(...)      cmocka_missing(0, __VA_ARGS__)
#define assert_string_equal(...)       cmocka_missing(0, __VA_ARGS__)
#define assert_string_not_equal(...)   cmocka_missing(0, __VA_ARGS__)
#define assert_true(...)	       cmocka_missing(0, __VA_ARGS__)
#define fail_msg(...)		       cmocka_missing(0, __VA_ARGS__)
#define print_message(...)	       cmocka_missing(0, __VA_ARGS__)
#define cmocka_set_message_output(...) cmocka_missing(0, __VA_ARGS__)
#define skip()			       cmocka_missing(0)
/* clang-format off */
#define cmocka_unit_test(test) { NULL, test, NULL, NULL, NULL }
#define cmocka_unit_test_setup(test, setup) { NULL, test, setup, NULL, NULL }
#define cmocka_unit_test_setup_teardown(test, setup, teardown) { NULL, test, setup, teardown, NULL }
/* clang-format on */
#define cmocka_run_group_tests(...)	 cmocka_missing(0, __VA_ARGS__)
#define cmocka_run_group_tests_name(...) cmocka_missing(0, __VA_ARGS__)

#endif
