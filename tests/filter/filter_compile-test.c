/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Filters: expressions compiled and run; errors; invalid programs. filter_random-test.c has random ones. */
#include "filter_events.h"

static void expect_number(unsigned type, wide integer, double real, const char *text, bool wanted)
{
	struct event event = { .count = 1, .values = { { .type = type, .integer = integer, .real = real } } };

	event_pack(&event);
	expect(&event, text, wanted);
	event_close(&event);
}

/* The event of most tests. */
static struct event sample(void)
{
	struct event event = { .count = 5 };

	event.values[0] = (struct value){ .type = WIRE_U32, .integer = 1500 };
	event.values[1] = (struct value){ .type = WIRE_STR, .text = "tcp" };
	event.values[2] = (struct value){ .type = WIRE_I16, .integer = -7 };
	event.values[3] = (struct value){ .type = WIRE_BYTES, .integer = 5 };
	event.values[4] = (struct value){ .type = WIRE_BOOL, .integer = 1 };
	event_pack(&event);
	strcpy(event.format, "len=%u proto=%s delta=%d data=%p %d");
	return event;
}

static void language(void **state)
{
	static const struct {
		const char *text;
		bool wanted;
	} cases[] = {
		{ "len > 1000 && proto == \"tcp\"", true },
		{ "len > 1500", false },
		{ "len >= 1500 && len <= 1500 && len == 1500", true },
		{ "1000 < len", true },
		{ "1500 < len || 1500 > len", false },
		{ "len != 1500", false },
		{ "len == 0x5dc", true },
		{ "len < 2K && len < 1M && len < 1G", true },
		{ "len > 1k", true },
		{ "len > 1499.5 && len < 1500.5 && len != 1499.5", true },
		{ "len == 1500.0", true },
		{ "len == 1.5e3", true },
		{ "len", true },
		{ "!len", false },
		{ "!!len", true },
		{ "!(len == 5)", true },
		{ "arg5", true },
		{ "arg5 == true", true },
		{ "arg5 == false", false },
		{ "arg1 == 1500 && arg3 == -7", true },
		{ "delta < 0 && delta == -7 && delta > -8", true },
		{ "delta != -7 || arg5", true },
		{ "proto != \"tcp\"", false },
		{ "proto == \"udp\"", false },
		{ "proto == \"tc\"", false },
		{ "proto == \"tcpx\"", false },
		{ "proto == \"t*\"", true },
		{ "proto == \"?c?\"", true },
		{ "proto == \"[a-t]cp\"", true },
		{ "proto != \"u*\"", true },
		{ "\"tcp\" == proto", true },
		{ "proto == NULL", false },
		{ "proto != null", true },
		{ "pid == 4242 && tid == 4243 && cpu == 3", true },
		{ "pid != 4242 || tid < 4243 || cpu > 3", false },
		{ "depth == 2 && depth < 3 && correlation == 0xfedcba9876543210", true },
		{ "depth != 2 || correlation < 0x7000000000000000", false },
		/* facts */
		{ "$pid == 4242 && $tid == 4243 && $cpu == 3 && $depth == 2", true },
		{ "thread == \"worker/1\" && program == \"server\"", true },
		{ "$thread == \"worker/*\" && $program != \"serv\"", true },
		{ "thread == \"worker\" || program == \"*x*\" || thread == NULL", false },
		{ "thread == program || thread == proto", false },
		{ "thread != program", true },
		/* bits: & binds more tightly than comparisons */
		{ "len & 4", true }, /* 1500 is 0x5dc */
		{ "len & 2", false },
		{ "!(len & 2)", true },
		{ "len & 0xf == 0xc", true },
		{ "(len & 0xf) == 0xc", true },
		{ "((len & 0xf)) == 0xc", true },
		{ "0xc == (len & 0xf)", true },
		{ "0xc == len & 0xf", true },
		{ "len&0xf>=12&&len&0xf<13", true },
		{ "len & 0xf != 0xc || len & 0xf > 12", false },
		{ "delta & 0xff == 0xf9", true }, /* -7 */
		{ "delta & -4 == -8", true },
		{ "delta & 0xffff == 0xfff9", true },
		{ "correlation & 0x8000000000000000", true },
		{ "arg5 & 1 == 1", true },
		{ "data & 2 == 2 && data & 8 == 0", true }, /* any element; all are 7 */
		{ "data & 8 == 8", false },
		{ "data.count & 4", true },
		{ "((len & 4) && delta % 7 == 0) || len == 1", true },
		/* remainders */
		{ "len % 100 == 0", true },
		{ "len % 7 == 2 && len % 7 < 3", true },
		{ "len % 7", true },
		{ "len % 100", false },
		{ "delta % 4 == -3", true }, /* as in C */
		{ "delta % 4 == 1", false },
		{ "delta % 7 == 0", true },
		{ "data % 4 == 3 && data.count % 2 == 1", true },
		{ "$tid % 2 == 1 && pid % 2 == 0", true },
		/* two fields */
		{ "len == len && delta == arg3", true },
		{ "delta < len && len > delta && len >= delta && delta <= len", true },
		{ "len < delta || len == delta", false },
		{ "len != delta", true },
		{ "proto == arg2", true },
		{ "len > pid || $pid < len", false },
		{ "tid > pid && $tid != $pid", true },
		{ "data == data.count || data > delta", true }, /* 7, 5, -7 */
		{ "delta == data || data.count == data", false },
		{ "data.count < len && data.count < data", true },
		{ "len % 1495 == data.count", true },
		{ "data.count == len % 1495", true },
		{ "(data.count) == (len % 1495)", true },
		/* && before || */
		{ "len == 1500 || len == 1 && len == 2", true },
		{ "(len == 1500 || len == 1) && len == 2", false },
		{ "len == 2 && len == 1 || len == 1500", true },
		{ "!(len == 1 || len == 2) && !(len == 1500 && delta == 0)", true },
		/* constant conditions */
		{ "len >= 0", true },
		{ "len > -1", true },
		{ "len == -1", false },
		{ "len < 5000000000", true },
		{ "arg5 > 300", false },
		{ "delta < 40000 && len > 1", true },
		{ "delta > 40000 || len > 1", true },
		{ "delta > 40000 && len > 1", false },
		{ "!(delta > 40000)", true },
	};
	struct event event = sample();

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		expect(&event, cases[n].text, cases[n].wanted);
	event_close(&event);
}

static void numbers(void **state)
{
	(void)state;
	expect_number(WIRE_U64, UINT64_MAX, 0, "f0 == -1", false);
	expect_number(WIRE_U64, UINT64_MAX, 0, "f0 > -1", true);
	expect_number(WIRE_U64, UINT64_MAX, 0, "f0 == 18446744073709551615", true);
	expect_number(WIRE_U64, UINT64_MAX - 1, 0, "f0 == 18446744073709551615", false);
	expect_number(WIRE_U64, (wide)1 << 53, 0, "f0 < 9007199254740993", true);
	expect_number(WIRE_I32, -1, 0, "f0 < 3000000000", true);
	expect_number(WIRE_I32, -1, 0, "f0 == 4294967295", false);
	expect_number(WIRE_I64, INT64_MIN, 0, "f0 == -9223372036854775808", true);
	expect_number(WIRE_I64, INT64_MIN, 0, "f0 < -9223372036854775807", true);
	expect_number(WIRE_I64, INT64_MAX, 0, "f0 > -1 && f0 > 0 && f0 < 1e300 && f0 > -1e300", true);
	expect_number(WIRE_U8, 255, 0, "f0 > 254 && f0 <= 255 && f0 != 256", true);
	expect_number(WIRE_I8, -128, 0, "f0 < -127 && f0 >= -128", true);
	expect_number(WIRE_I8, -1, 0, "f0 > -1.5 && f0 < -0.5 && f0 != -1.5", true);
	expect_number(WIRE_CHAR, 'x', 0, "f0 == 'x' && f0 != 'y' && f0 > 'a'", true);
	expect_number(WIRE_CHAR, '\n', 0, "f0 == '\\n'", true);
	expect_number(WIRE_CHAR, '\'', 0, "f0 == '\\''", true);
	expect_number(WIRE_PTR, 0xdeadbeef, 0, "f0 == 0xdeadbeef && f0 != NULL && f0", true);
	expect_number(WIRE_PTR, 0, 0, "f0 == NULL && !f0", true);
	expect_number(WIRE_F64, 0, 1.5, "f0 > 1 && f0 < 2 && f0 == 1.5 && f0 >= 1.5 && f0 <= 1.5", true);
	expect_number(WIRE_F64, 0, -0.0, "f0 == 0 && f0 >= 0 && f0 <= 0 && !(f0 < 0) && !(f0 > 0) && !f0",
		      true);
	expect_number(WIRE_F64, 0, 5e-324, "f0 > 0 && f0", true);
	expect_number(WIRE_F64, 0, -5e-324, "f0 < 0 && f0 > -1e-300", true);
	expect_number(WIRE_F64, 0, 9007199254740992.0, "f0 < 9007199254740993 && f0 != 9007199254740993",
		      true);
	expect_number(WIRE_F64, 0, INFINITY, "f0 > 1e308 && f0 != 0", true);
	expect_number(WIRE_F64, 0, -INFINITY, "f0 < -1e308 && f0 < 0", true);
	expect_number(WIRE_F64, 0, NAN, "f0 == 0 || f0 < 0 || f0 > 0 || f0 <= 1e308 || f0 >= -1e308", false);
	expect_number(WIRE_F64, 0, -NAN, "f0 == 0 || f0 < 0 || f0 > 0 || f0 <= 1e308 || f0 >= -1e308", false);
	expect_number(WIRE_F64, 0, NAN, "f0 != 0 && f0", true);
	expect_number(WIRE_F32, 0, 0.1f, "f0 > 0.1 && f0 < 0.2 && f0 != 0.1", true);
	expect_number(WIRE_F32, 0, 16777216.0, "f0 < 16777217 && f0 > 16777215 && f0 == 16777216", true);
	expect_number(WIRE_F32, 0, 3e38, "f0 < 1e300 && f0 > -1e300 && f0 != 1e300", true);
	expect_number(WIRE_F32, 0, NAN, "f0 < 1e300 || f0 == 0", false);
}

static void strings(void **state)
{
	struct event event = { .count = 1, .values = { { .type = WIRE_STR, .text = "a\"\\\n\tb" } } };

	(void)state;
	event_pack(&event);
	expect(&event, "f0 == \"a\\\"\\\\\\n\\tb\"", true);
	event_close(&event);
	strcpy(event.values[0].text, WIRE_NULL);
	event_pack(&event);
	expect(&event, "f0 == NULL", true);
	expect(&event, "f0 != null", false);
	event_close(&event);
	strcpy(event.values[0].text, "a*b");
	event_pack(&event);
	expect(&event, "f0 == \"a[*]b\" && f0 != \"\"", true);
	event_close(&event);
	strcpy(event.values[0].text, "");
	event_pack(&event);
	expect(&event, "f0 == \"\" && f0 == \"*\" && f0 != \"?\"", true);
	event_close(&event);
}

/* A field with the name of a built-in hides the built-in. */
static void shadows(void **state)
{
	struct event event = { .count = 2 };

	(void)state;
	event.values[0] = (struct value){ .type = WIRE_U8, .integer = 9 };
	event.values[1] = (struct value){ .type = WIRE_U8, .integer = 8 };
	event_pack(&event);
	strcpy(event.format, "pid=%d arg1=%d");
	expect(&event, "pid == 9 && arg1 == 8 && arg2 == 8 && tid == 4243", true);
	expect(&event, "$pid == 4242 && pid != $pid && pid < $pid", true);
	event_close(&event);
}

static void faults(void **state)
{
	static const struct {
		const char *text;
		size_t offset, bytes;
		const char *message;
	} cases[] = {
		{ "lne > 5", 0, 3,
		  "there is no field 'lne'; did you mean 'len'? it has: len, proto, delta, data, arg5" },
		{ "frobnicate > 5", 0, 10,
		  "there is no field 'frobnicate'; it has: len, proto, delta, data, arg5" },
		{ "len > 5 && porto == \"x\"", 11, 5, "did you mean 'proto'" },
		{ "arg6 == 1", 0, 4, "no field 'arg6'" },
		{ "len = 5", 4, 1, "write ==" },
		{ "len > 5 & len < 7", 8, 1, "&& joins conditions" },
		{ "len & delta", 4, 1, "an integer behind it" },
		{ "len & 1.5", 4, 1, "an integer behind it" },
		{ "len & 18446744073709551616", 6, 20, "too large" },
		{ "len % 0 == 1", 4, 1, "above 0" },
		{ "len % -3 == 1", 4, 1, "above 0" },
		{ "len % delta == 1", 4, 1, "above 0" },
		{ "len & 3 & 1", 8, 1, "one & or %" },
		{ "len & 3 % 2 == 1", 8, 1, "one & or %" },
		{ "(len & 3) % 2 == 1", 10, 1, "&& or ||" },
		{ "proto & 1", 0, 5, "proto is not an integer" },
		{ "delta & 0x8000000000000000", 6, 1, "more bits" },
		{ "!len & 4", 1, 7, "in parentheses" },
		{ "!(len & 3) == 1", 11, 2, "cannot be compared" },
		{ "len & 3 == proto", 0, 16, "len & 3 is an integer, and proto a string" },
		{ "proto < thread", 6, 1, "== or !=" },
		{ "data == data", 0, 12, "an array" },
		{ "data == len & 1", 0, 15, "an array" },
		{ "len & 1 == delta & 1", 0, 20, "only one" },
		{ "$len > 5", 0, 4, "it has: $pid" },
		{ "$ > 5", 0, 1, "unexpected character" },
		{ "len == (5 || 6)", 10, 2, "expected )" },
		{ "len > 5 | len < 7", 8, 1, "||" },
		{ "proto < \"x\"", 6, 1, "proto is a string: compare it with == or !=" },
		{ "proto == 5", 9, 1, "proto is a string" },
		{ "5 == proto", 0, 1, "proto is a string" },
		{ "proto", 0, 5, "proto is a string: compare it with == or !=" },
		{ "!proto", 1, 5, "proto is a string" },
		{ "len == \"x\"", 7, 3, "len is a number" },
		{ "len == NULL", 7, 4, "only strings and pointers can be NULL" },
		{ "data == \"x\"", 8, 3, "data is a number" },
		{ "data", 0, 4, "data is an array: compare its elements or its count" },
		{ "1 == 2", 0, 6, "two constants" },
		{ "len == 5 || 6", 12, 1, "a constant alone" },
		{ "true", 0, 4, "a constant alone" },
		{ "1 < len < 5", 8, 1, "cannot be chained" },
		{ "!len == 5", 5, 2, "put the comparison in parentheses" },
		{ "(len > 3) == 5", 10, 2, "in parentheses" },
		{ "(len == 5", 0, 1, "not closed" },
		{ "len == 5)", 8, 1, "there is no (" },
		{ "(len == 5 len)", 10, 3, "&&, || or )" },
		{ "len == 5 and delta", 9, 3, "&& or ||" },
		{ "", 0, 0, "expected a field" },
		{ "  ", 2, 0, "expected a field" },
		{ "len >", 5, 0, "expected a field" },
		{ "len == 5 &&", 11, 0, "expected a field" },
		{ "len == )", 7, 1, "expected a field, a number or a string here" },
		{ "proto == \"x", 9, 1, "no end" },
		{ "proto == \"x\\q\"", 11, 2, "backslash" },
		{ "proto == \"x\\", 11, 1, "backslash" },
		{ "delta == 'xy'", 9, 1, "character" },
		{ "delta == ''", 9, 1, "character" },
		{ "len == 12ab", 7, 4, "not a number" },
		{ "len == 0x", 7, 2, "not a number" },
		{ "len == 1.2.3", 7, 5, "not a number" },
		{ "len == 010", 7, 3, "begins with 0" },
		{ "len == 18446744073709551616", 7, 20, "too large" },
		{ "len == 1e999", 7, 5, "too large" },
		{ "len == 5 \xc3\xa4", 9, 2, "unexpected character" },
		{ "len @ 5", 4, 1, "unexpected character" },
	};
	struct event event = sample();

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		if (filter_compile(cases[n].text, event.format, "", event.types, filter, sizeof(program),
				   &fault) != -EINVAL)
			fail_msg("%s is accepted", cases[n].text);
		if (fault.offset != cases[n].offset || fault.bytes != cases[n].bytes ||
		    !strstr(fault.message, cases[n].message))
			fail_msg("%s: %zu+%zu: %s", cases[n].text, fault.offset, fault.bytes, fault.message);
	}
	assert_int_equal(filter_compile("f > 1", "f=%s", "", 4, filter, sizeof(program), &fault), -EINVAL);
	assert_non_null(strstr(fault.message, "format"));
	event_close(&event);
}

static void repeat(char *out, const char *text, unsigned count, const char *end)
{
	*out = '\0';
	while (count--)
		strcat(out, text);
	strcat(out, end);
}

static void limits(void **state)
{
	struct event event = sample();
	char text[TEXT_MAX];

	(void)state;
	repeat(text, "len == 1500 && ", 19, "len");
	expect(&event, text, true);
	assert_int_equal(filter->bytes, WIRE_FILTER_MAX);
	assert_int_equal(
		filter_compile(text, event.format, "", event.types, filter, WIRE_FILTER_MAX - 1, &fault),
		-E2BIG);
	repeat(text, "len == 1500 && ", 20, "len");
	assert_int_equal(filter_compile(text, event.format, "", event.types, filter, sizeof(program), &fault),
			 -E2BIG);
	repeat(text, "len >= 0 && ", 90, "len");
	expect(&event, text, true);
	repeat(text, "len || ", 200, "len");
	assert_int_equal(filter_compile(text, event.format, "", event.types, filter, sizeof(program), &fault),
			 -E2BIG);
	repeat(text, "proto == \"0123456789012345678901234567890123456789\" || ", 8, "len");
	assert_int_equal(filter_compile(text, event.format, "", event.types, filter, sizeof(program), &fault),
			 -E2BIG);
	repeat(text, "!", 32, "len");
	expect(&event, text, true);
	repeat(text, "!", 33, "len");
	assert_int_equal(filter_compile(text, event.format, "", event.types, filter, sizeof(program), &fault),
			 -E2BIG);
	repeat(text, "(", 33, "len");
	assert_int_equal(filter_compile(text, event.format, "", event.types, filter, sizeof(program), &fault),
			 -E2BIG);
	assert_int_equal(fault.offset, 32);
	event_close(&event);
}

static void marks(void **state)
{
	static const struct {
		const char *text;
		struct filter_error fault;
		const char *wanted;
	} cases[] = {
		{ "len => 5", { .offset = 4, .bytes = 2 }, "    len => 5\n        ^~\n" },
		{ "len >", { .offset = 5 }, "    len >\n         ^\n" },
		{ "a\t\"\xc3\xa4\\n\" =",
		  { .offset = 8, .bytes = 1 },
		  "    a \"\xc3\xa4\\n\" =\n           ^\n" },
		{ "\033[1m =", { .offset = 5, .bytes = 1 }, "    \\e[1m =\n          ^\n" },
		{ "x", { .offset = 99, .bytes = 99 }, "    x\n     ^\n" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		char *text;
		size_t bytes;
		FILE *file = open_memstream(&text, &bytes);

		assert_non_null(file);
		filter_error_print(file, cases[n].text, &cases[n].fault);
		fclose(file);
		assert_string_equal(text, cases[n].wanted);
		free(text);
	}
}

/* ---- Invalid programs ---- */

static void unsound(void **state)
{
	struct event event = sample();
	const char *text = "len > 5 && delta > 5 && proto == \"x\" && pid == 5";
	const struct wire_filter_test *test = filter->test;
	struct wire_filter_more *more = (struct wire_filter_more *)(void *)&filter->test[1];

	(void)state;
#define UNSOUND(change)                                                                         \
	do {                                                                                    \
		compile(text, event.format, event.types);                                       \
		change;                                                                         \
		filter->checksum = filter_checksum(filter, filter->bytes);                      \
		assert_int_equal(filter_verify(filter, sizeof(program), event.types), -EINVAL); \
	} while (0)
	compile(text, event.format, event.types);
	assert_int_equal(filter->tests, 4);
	assert_int_equal(test[1].op, WIRE_FILTER_WALK | WIRE_FILTER_16);
	assert_int_equal(filter_verify(program, sizeof(program), event.types ^ 1), -ESTALE);
	assert_int_equal(filter_verify(program, filter->bytes - 1, event.types), -EINVAL);
	assert_int_equal(filter_verify(program + 1, sizeof(program) - 1, event.types), -EINVAL);
	program[40] ^= 1;
	assert_int_equal(filter_verify(program, sizeof(program), event.types), -EBADMSG);
	UNSOUND(filter->tests = 0);
	UNSOUND(filter->tests = 200);
	UNSOUND(filter->prefix--);
	UNSOUND(filter->test[0].op = WIRE_FILTER_64);
	UNSOUND(filter->test[0].op = WIRE_FILTER_OPS);
	UNSOUND(filter->test[0].op |= WIRE_FILTER_WALK);
	UNSOUND(filter->test[0].offset++);
	UNSOUND(filter->test[0].then = 0);
	UNSOUND(filter->test[1].then = 1);
	UNSOUND(filter->test[1].otherwise = 0);
	UNSOUND(filter->test[0].then = 4);
	UNSOUND(filter->test[1].op &= 7);
	UNSOUND(filter->test[1].arg = 3);
	UNSOUND(filter->test[1].arg = 16);
	UNSOUND(filter->test[2].op = WIRE_FILTER_8);
	UNSOUND(filter->test[2].low = 4);
	UNSOUND(filter->test[2].low = UINT64_MAX);
	UNSOUND(filter->test[2].span = 0);
	UNSOUND(filter->test[2].span = 3);
	UNSOUND(filter->test[2].span = UINT64_MAX);
	UNSOUND(program[filter->test[2].low + 1] = 'y');
	UNSOUND(filter->test[3].offset = offsetof(struct filter_subject, thread));
	UNSOUND(filter->test[3].offset = sizeof(struct filter_subject));
	UNSOUND(filter->test[3].offset = offsetof(struct filter_subject, correlation));
	UNSOUND(filter->test[3].offset = 2);
	UNSOUND(filter->test[3].op = WIRE_FILTER_SUBJECT | WIRE_FILTER_64);
	/* second halves */
	text = "len & 7 == 3 && len < delta && proto == arg2 && pid == 5";
	compile(text, event.format, event.types);
	assert_int_equal(filter->tests, 7);
	UNSOUND(filter->tests = 1);
	UNSOUND(filter->tests = 3);
	UNSOUND(filter->test[0].then = 1);
	UNSOUND(filter->test[0].then = 3);
	UNSOUND(filter->test[0].op &= ~WIRE_FILTER_MORE);
	UNSOUND(filter->test[6].op |= WIRE_FILTER_MORE);
	UNSOUND(more[0].relation = WIRE_FILTER_RELATIONS);
	UNSOUND(more[0].relation = WIRE_FILTER_EQUAL; more[0].op = WIRE_FILTER_64);
	UNSOUND(more[0].change = WIRE_FILTER_CHANGES);
	UNSOUND(more[0].change = WIRE_FILTER_REMAINDER; more[0].by = 0);
	UNSOUND(more[0].op = WIRE_FILTER_32);
	UNSOUND(more[0].arg = 1);
	UNSOUND(more[0].has_sign = 2);
	UNSOUND(more[2].op = WIRE_FILTER_32);
	UNSOUND(more[2].op |= WIRE_FILTER_MORE);
	UNSOUND(more[2].op = WIRE_FILTER_WALK | WIRE_FILTER_TEXT);
	UNSOUND(more[2].op = WIRE_FILTER_PLACES);
	UNSOUND(more[2].op = 255);
	UNSOUND(more[2].arg = 3);
	UNSOUND(more[2].offset = 1);
	UNSOUND(more[2].other_has_sign = 2);
	UNSOUND(more[4].relation = WIRE_FILTER_LESS);
	UNSOUND(more[4].relation = WIRE_FILTER_IN_RANGE);
	UNSOUND(more[4].change = WIRE_FILTER_AND);
	UNSOUND(more[4].op = WIRE_FILTER_WALK | WIRE_FILTER_GLOB);
	UNSOUND(filter->test[4].op = WIRE_FILTER_FIXED | WIRE_FILTER_GLOB | WIRE_FILTER_MORE);
#undef UNSOUND
	event_close(&event);

	/* An argument behind the end of the types does not exist. */
	compile("f0 == 1", "f0=%d", WIRE_U32);
	filter->types = WIRE_U32 | WIRE_U32 << 8;
	filter->test[0].arg = 2;
	filter->test[0].offset = 4;
	filter->checksum = filter_checksum(filter, filter->bytes);
	assert_int_equal(filter_verify(filter, sizeof(program), filter->types), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(language), cmocka_unit_test(numbers), cmocka_unit_test(strings),
		cmocka_unit_test(shadows),  cmocka_unit_test(faults),  cmocka_unit_test(limits),
		cmocka_unit_test(marks),    cmocka_unit_test(unsound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
