/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which functions to leave out, from their counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/calls/suggest.h"

static void expect(struct call_suggest *functions, size_t count, unsigned limit, const char *wanted)
{
	struct view_buffer out = { .used = 0 };

	call_suggest_print(functions, count, limit, &out);
	view_buffer_put(&out, "", 1);
	assert_false(out.failed);
	assert_string_equal(out.bytes, wanted);
	view_buffer_free(&out);
}

static void most_calls_first(void **state)
{
	struct call_suggest functions[] = { { "main", "/x/app", 1, 1 },
					    { "crc", "/x/app", 2, 300 },
					    { NULL, "/x/libx.so", 0x1a, 150 },
					    { "operator[](int*)", "/x/app", 4, 249 },
					    { "crc", "/x/libx.so", 2, 300 } };

	(void)state;
	expect(functions, 5, 10,
	       " 60.00%  --no-calls 'crc'\n"
	       " 24.90%  --no-calls 'operator?](int?)'\n"
	       " 15.00%  --no-calls 'libx.so+0x1a'\n"
	       "they save 999 of 1,000 calls\n");
}

static void the_limit_holds(void **state)
{
	struct call_suggest functions[] = { { "a", "x", 1, 10 }, { "b", "x", 2, 30 }, { "c", "x", 3, 20 } };

	(void)state;
	expect(functions, 3, 1, " 50.00%  --no-calls 'b'\nthey save 30 of 60 calls\n");
}

static void nothing_to_save(void **state)
{
	static struct call_suggest functions[100];

	(void)state;
	for (unsigned n = 0; n < 100; n++)
		functions[n] = (struct call_suggest){ NULL, "x", n, 7 };
	expect(functions, 100, 10, "no function has 5% of 700 calls\n");
	expect(functions, 0, 10, "no function has 5% of 0 calls\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(most_calls_first),
					    cmocka_unit_test(the_limit_holds),
					    cmocka_unit_test(nothing_to_save) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
