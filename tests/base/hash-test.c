/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The hash that is the same everywhere: a trace, a session and other processes depend on its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/containers/hash.h"

/* The values are those of FNV's authors. */
static void test_stable(void **state)
{
	(void)state;
	assert_int_equal(hash_stable("", 0), 0x811c9dc5);
	assert_int_equal(hash_stable("a", 1), 0xe40c292c);
	assert_int_equal(hash_stable("foobar", 6), 0xbf9cf968);
	assert_int_equal(hash_stable("\xff\0\x01", 3), hash_stable("\xff\0\x01", 3));
	assert_int_not_equal(hash_stable("\xff\0\x01", 3), hash_stable("\xff\0\x02", 3));
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_stable) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
