/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Filters of arrays and of integers with names; filter_compile-test.c has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "filter/filter_compile.h"
#include "filter/filter.h"
#include "wire/wire_event.h"

static _Alignas(64) char program[WIRE_FILTER_MAX];
static struct wire_filter *const filter = (struct wire_filter *)program;
static struct filter_error fault;
static const struct filter_subject subject = { 0 };

/* An array of i32, bytes, an array of doubles and a number, of which the first and the last have names. */
static void arrays_and_names(void **state)
{
	static const char format[] = "list=%d{e} raw=%p reals=%g state=%d{e} other=%d{missing}";
	static const char enums[] = "e OFF=0 ON=1 BAD=-5\nunused X=1\n";
	const uint64_t types = WIRE_I32 << 4 | WIRE_BYTES << 8 | (uint64_t)WIRE_F64 << 16 |
			       (uint64_t)WIRE_I8 << 20 | (uint64_t)WIRE_U8 << 24;
	static const struct {
		const char *text;
		bool wanted;
	} cases[] = {
		{ "list == 7", true },
		{ "list == 8", false },
		{ "list != 7", false },
		{ "list != 8", true },
		{ "list > 40", false },
		{ "list < 0", true },
		{ "list.count == 3", true },
		{ "list.count > 3", false },
		{ "arg1.count >= 3", true },
		{ "list == \"BAD\"", true },
		{ "list != \"ON\"", true },
		{ "\"OFF\" == list", false },
		{ "raw == 255", true },
		{ "raw == 1", false },
		{ "raw.count == 2", true },
		{ "raw <= 300", true },
		{ "reals >= 0", false },
		{ "reals.count", false },
		{ "reals == 0", false },
		{ "reals != 0", true },
		{ "state == \"ON\"", true },
		{ "state != \"ON\"", false },
		{ "state == 1 && other == 9", true },
	};
	/* {7, -5, 40}, {255, 254}, {}, 1, 9 */
	static const char payload[] = "\3\0\7\0\0\0\373\377\377\377\50\0\0\0\2\0\377\376\0\0\1\11";
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "state == \"off\"", "state has no value of this name; it has: OFF, ON, BAD" },
		{ "list == \"\"", "has no value of this name" },
		{ "state < \"ON\"", "state has names: compare them with == or !=" },
		{ "other == \"X\"", "other is a number" },
		{ "state.count == 1", "only arrays have a count" },
		{ "list", "list is an array" },
		{ "list == reals", "list is an integer, and reals a floating-point number" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		if (filter_compile(cases[n].text, format, enums, types, filter, sizeof(program), &fault) != 0)
			fail_msg("%s: %s", cases[n].text, fault.message);
		assert_int_equal(filter_verify(program, sizeof(program), types), 0);
		if (filter_passes(filter, payload, sizeof(payload) - 1, &subject) != cases[n].wanted)
			fail_msg("%s is not %s", cases[n].text, cases[n].wanted ? "true" : "false");
		/* A payload that ends anywhere: no byte behind it is read. */
		for (uint32_t bytes = 0; bytes < sizeof(payload) - 1; bytes++) {
			char *less = malloc(bytes ? bytes : 1);

			assert_non_null(less);
			memcpy(less, payload, bytes);
			filter_passes(filter, less, bytes, &subject);
			free(less);
		}
	}
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
		assert_int_equal(
			filter_compile(wrong[n].text, format, enums, types, filter, sizeof(program), &fault),
			-EINVAL);
		if (!strstr(fault.message, wrong[n].message))
			fail_msg("%s: %s", wrong[n].text, fault.message);
	}

	/* The place of an operand and the argument's type belong together. */
#define UNSOUND(source, number)                                                                            \
	do {                                                                                               \
		assert_int_equal(                                                                          \
			filter_compile(source, format, enums, types, filter, sizeof(program), &fault), 0); \
		number;                                                                                    \
		filter->checksum = filter_checksum(filter, filter->bytes);                                 \
		assert_int_equal(filter_verify(filter, sizeof(program), types), -EINVAL);                  \
	} while (0)
	UNSOUND("list == 7", filter->test[0].arg = 1);
	UNSOUND("list == 7", filter->test[0].arg = 3);
	UNSOUND("list == 7", filter->test[0].arg = 200);
	UNSOUND("list == 7", filter->test[0].offset = 2);
	UNSOUND("list == 7", filter->test[0].op = WIRE_FILTER_WALK | WIRE_FILTER_32);
	UNSOUND("list == 7", filter->test[0].op = WIRE_FILTER_ANY | WIRE_FILTER_OPS);
	UNSOUND("list == 7", filter->test[0].op = WIRE_FILTER_PLACES);
	UNSOUND("list.count == 7", filter->test[0].op = WIRE_FILTER_COUNT | WIRE_FILTER_32);
	UNSOUND("list.count == 7", filter->test[0].arg = 3);
	UNSOUND("state == 1", filter->test[0].op = WIRE_FILTER_ANY | WIRE_FILTER_8);
#undef UNSOUND
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_and_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
