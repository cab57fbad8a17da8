/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Enters and exits of system calls: pairs, and ends that are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "view/syscalls/syscall_pairs.h"

enum {
	READ = 1,
	WRITE = 2,
	THREADS = 70001,
};

static void pairs_are_of_one_thread(void **state)
{
	struct syscall_pairs pairs = { .count = 0 };
	uint64_t begin;
	uint32_t unended;

	(void)state;
	for (uint32_t tid = 0; tid < THREADS; tid++) {
		const size_t number = syscall_pairs_find(&pairs, tid * 3);

		assert_int_equal(number, tid);
		assert_int_equal(syscall_enter(&pairs.threads[number], READ + (tid & 1), tid + 5), 0);
	}
	for (uint32_t tid = THREADS; tid-- > 0;) {
		const size_t number = syscall_pairs_find(&pairs, tid * 3);

		assert_int_equal(number, tid);
		assert_true(syscall_leave(&pairs.threads[number], READ + (tid & 1), &begin, &unended));
		assert_int_equal(begin, tid + 5);
		assert_int_equal(unended, 0);
	}
	assert_int_equal(pairs.count, THREADS);
	syscall_pairs_free(&pairs);
}

static void missing_ends_are_reported_once(void **state)
{
	struct syscall_thread thread = { .tid = 1 };
	uint64_t begin;
	uint32_t unended;

	(void)state;
	assert_false(syscall_leave(&thread, READ, &begin, &unended)); /* no enter */
	assert_int_equal(unended, 0);
	assert_int_equal(syscall_enter(&thread, READ, 10), 0);
	assert_int_equal(syscall_enter(&thread, READ, 20), READ);      /* no exit, of the same call */
	assert_false(syscall_leave(&thread, WRITE, &begin, &unended)); /* no exit, and no enter */
	assert_int_equal(unended, READ);
	assert_false(syscall_leave(&thread, READ, &begin, &unended)); /* it was reported */
	assert_int_equal(unended, 0);
	assert_int_equal(syscall_enter(&thread, WRITE, 30), 0);
	assert_true(syscall_leave(&thread, WRITE, &begin, &unended));
	assert_int_equal(begin, 30);
	assert_int_equal(thread.call, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_of_one_thread),
		cmocka_unit_test(missing_ends_are_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
