/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Filters: expressions compiled and run, compared with a reference that walks a tree; errors; invalid programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"
#include "filter/filter_compile.h"
#include "filter/filter.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

__extension__ typedef __int128 wide;

enum {
	ARGS = 6,
	TEXT_MAX = 2000,
	PAYLOAD_MAX = 1024,
};

struct value {
	unsigned type;
	wide integer;
	double real;
	char text[24]; /* of bytes: the count is `integer` */
};

/* An event with its arguments, packed. */
struct event {
	unsigned count;
	uint64_t types;
	char format[200];
	struct value values[ARGS];
	char *payload; /* memory that ends with it */
	uint32_t bytes;
};

static const struct filter_subject subject = { 4242, 4243, 3, 2, UINT64_C(0xfedcba9876543210) };
static _Alignas(64) char program[WIRE_FILTER_MAX];
static struct wire_filter *const filter = (struct wire_filter *)program;
static struct filter_error fault;
static uint64_t seed, random_state;

static uint64_t random_next(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static unsigned below(unsigned limit)
{
	return (unsigned)(random_next() % limit);
}

static const char *conversion(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64	? "%g"
	       : type == WIRE_STR			? "%s"
	       : type == WIRE_PTR || type == WIRE_BYTES ? "%p"
							: "%d";
}

/* ---- Payloads ---- */

static bool is_signed(unsigned type)
{
	return (type >= WIRE_I8 && type <= WIRE_I64) || type == WIRE_CHAR;
}

static bool is_float(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64;
}

static char *put(char *at, const struct value *value)
{
	uint16_t count = (uint16_t)value->integer;
	uint64_t integer = (uint64_t)value->integer;
	float single = (float)value->real;

	switch (value->type) {
	case WIRE_STR:
		return stpcpy(at, value->text) + 1;
	case WIRE_BYTES:
		memcpy(at, &count, 2);
		memset(at + 2, 7, count);
		return at + 2 + count;
	case WIRE_F32:
		memcpy(at, &single, 4);
		return at + 4;
	case WIRE_F64:
		memcpy(at, &value->real, 8);
		return at + 8;
	default:
		memcpy(at, &integer, format_type_bytes(value->type));
		return at + format_type_bytes(value->type);
	}
}

static void event_close(struct event *event)
{
	free(event->payload);
	event->payload = NULL;
}

static void event_pack(struct event *event)
{
	char buffer[PAYLOAD_MAX], *at = buffer;

	event->types = 0;
	event->format[0] = '\0';
	for (unsigned n = 0; n < event->count; n++) {
		event->types |= (uint64_t)event->values[n].type << 4 * n;
		sprintf(event->format + strlen(event->format), "f%u=%s ", n,
			conversion(event->values[n].type));
		at = put(at, &event->values[n]);
	}
	event->bytes = (uint32_t)(at - buffer);
	event->payload = malloc(event->bytes + !event->bytes);
	assert_non_null(event->payload);
	memcpy(event->payload, buffer, event->bytes);
}

/* ---- Running ---- */

static void compile(const char *text, const char *format, uint64_t types)
{
	memset(program, 0xee, sizeof(program));
	if (filter_compile(text, format, "", types, filter, sizeof(program), &fault) != 0)
		fail_msg("%s: %s (at %zu)", text, fault.message, fault.offset);
	assert_int_equal(filter_verify(program, sizeof(program), types), 0);
}

static bool run(const char *text, const struct event *event)
{
	compile(text, event->format, event->types);
	return filter_passes(filter, event->payload, event->bytes, &subject);
}

static void expect(const struct event *event, const char *text, bool wanted)
{
	if (run(text, event) != wanted)
		fail_msg("%s is not %s", text, wanted ? "true" : "false");
}

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
		{ "len > 5 & len < 7", 8, 1, "&&" },
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
		{ "len == delta", 0, 12, "two fields" },
		{ "1 == 2", 0, 6, "two constants" },
		{ "len == 5 || 6", 12, 1, "a constant alone" },
		{ "true", 0, 4, "a constant alone" },
		{ "1 < len < 5", 8, 1, "cannot be chained" },
		{ "!len == 5", 5, 2, "put the comparison in parentheses" },
		{ "(len) == 5", 6, 2, "in parentheses" },
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

/* ---- Comparison with a reference ---- */

static void random_value(struct value *value)
{
	static const char *const texts[] = { "", "tcp", "udp", "a", "ab", "*", "a[b", WIRE_NULL, "t\"c\\p" };
	static const double reals[] = { 0.0,   -0.0,   1,	 -1,	    1.5, 0.1,
					1e300, -1e300, INFINITY, -INFINITY, NAN, 5e-324 };
	unsigned bits;

	memset(value, 0, sizeof(*value));
	value->type = 1 + below(15);
	bits = value->type == WIRE_BOOL ? 1 : 8 * format_type_bytes(value->type);
	if (value->type == WIRE_STR) {
		strcpy(value->text, texts[below(sizeof(texts) / sizeof(texts[0]))]);
	} else if (value->type == WIRE_BYTES) {
		value->integer = below(9);
	} else if (is_float(value->type)) {
		value->real = below(3) ? reals[below(sizeof(reals) / sizeof(reals[0]))]
				       : (double)(int64_t)random_next() / (double)(1 << below(31));
		if (value->type == WIRE_F32)
			value->real = (float)value->real;
	} else {
		uint64_t raw = below(2) ? random_next() : below(4) - (uint64_t)2;

		raw = raw << (64 - bits) >> (64 - bits);
		value->integer = raw;
		if (is_signed(value->type) && raw >> (bits - 1))
			value->integer -= (wide)1 << bits;
	}
}

/* Compare a value with a constant by C's operators. */
static bool holds(int comparison, long double a, long double b)
{
	switch (comparison) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 2:
		return a < b;
	case 3:
		return a <= b;
	case 4:
		return a > b;
	default:
		return a >= b;
	}
}

static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=" };
static const int mirrors[] = { 0, 1, 4, 5, 2, 3 };

static bool random_string(char *out, const char *name, const char *text)
{
	static const char *const rules[] = { "tcp", "t*", "", "?", "[ab]*", "[*]", "a[b", "*p" };
	const char *rule = rules[below(sizeof(rules) / sizeof(rules[0]))];
	bool differs = below(2), null = below(8) == 0;

	if (null)
		sprintf(out, "%s %s NULL", name, signs[differs]);
	else
		sprintf(out, "%s %s \"%s\"", name, signs[differs], rule);
	return (null ? strcmp(text, WIRE_NULL) == 0 : glob_match(rule, text)) != differs;
}

static bool random_number(char *out, const char *name, long double value)
{
	static const long double edges[] = { 0,
					     1,
					     -1,
					     127,
					     128,
					     255,
					     256,
					     -129,
					     4294967295,
					     1.5L,
					     9223372036854775807.0L,
					     18446744073709551615.0L };
	int comparison = (int)below(6);
	long double constant = edges[below(sizeof(edges) / sizeof(edges[0]))];
	char number[64];

	if (below(2) && value == value && value < 0x1p63L && value > -0x1p63L)
		constant = value + (long double)below(3) - 1;
	if (constant == (long double)(wide)constant) {
		unsigned long long size = (unsigned long long)(constant < 0 ? -constant : constant);

		sprintf(number, below(2) ? "%s%llu" : "%s0x%llx", constant < 0 ? "-" : "", size);
	} else {
		constant = (double)constant;
		sprintf(number, "%.17g", (double)constant);
	}
	if (below(3) == 0)
		sprintf(out, "%s %s %s", number, signs[mirrors[comparison]], name);
	else
		sprintf(out, "%s%s%s", name, signs[comparison], number);
	return holds(comparison, value, constant);
}

static bool random_leaf(char *out, const struct event *event)
{
	unsigned n = below(event->count + 1);
	const struct value *value = &event->values[n];
	char name[16];
	long double number;

	sprintf(name, below(2) ? "f%u" : "arg%u", n);
	if (name[0] == 'a')
		sprintf(name, "arg%u", n + 1);
	if (n == event->count || value->type == WIRE_BYTES)
		return random_number(out, "tid", subject.tid);
	if (value->type == WIRE_STR)
		return random_string(out, name, value->text);
	number = is_float(value->type) ? (long double)value->real : (long double)value->integer;
	if (below(5) == 0) {
		strcpy(out, name);
		return number != 0;
	}
	return random_number(out, name, number);
}

static bool random_condition(char *out, const struct event *event, unsigned depth)
{
	bool left, right, is_and;

	if (depth == 0 || below(4) == 0)
		return random_leaf(out, event);
	if (below(4) == 0) {
		strcpy(out, "!(");
		left = random_condition(out + 2, event, depth - 1);
		strcat(out, ")");
		return !left;
	}
	is_and = below(2);
	strcpy(out, "(");
	left = random_condition(out + 1, event, depth - 1);
	strcat(out, is_and ? ")&&(" : ") || (");
	right = random_condition(out + strlen(out), event, depth - 1);
	strcat(out, ")");
	return is_and ? left && right : left || right;
}

static void random_event(struct event *event)
{
	memset(event, 0, sizeof(*event));
	event->count = below(ARGS + 1);
	for (unsigned n = 0; n < event->count; n++)
		random_value(&event->values[n]);
	event_pack(event);
}

static void differential(void **state)
{
	unsigned truths = 0;

	(void)state;
	random_state = seed;
	for (int round = 0; round < 20000; round++) {
		struct event event;
		char text[TEXT_MAX];
		bool wanted;

		random_event(&event);
		wanted = random_condition(text, &event, below(4));
		truths += wanted;
		if (run(text, &event) != wanted)
			fail_msg("round %d: %s of \"%s\" is not %d", round, text, event.format, wanted);
		event_close(&event);
	}
	assert_in_range(truths, 5000, 15000);
}

/* ---- Invalid programs ---- */

/* Run a program on random bytes of exactly the stated length. */
static void run_on_garbage(const struct wire_filter *copy)
{
	uint32_t bytes = below(64);
	char *payload = malloc(bytes + !bytes);

	assert_non_null(payload);
	for (uint32_t n = 0; n < bytes; n++)
		payload[n] = (char)(below(2) ? 0 : below(256));
	filter_passes(copy, payload, bytes, &subject);
	free(payload);
}

/* Flip bits or set bytes to significant values. */
static void mutate(char *bytes, size_t count)
{
	static const unsigned char values[] = { 0, 1, 2, 7, 8, 16, 18, 24, 253, 254, 255 };

	for (unsigned n = 1 + below(3); n; n--) {
		size_t at = below((unsigned)count);

		if (below(2))
			bytes[at] = (char)(bytes[at] ^ 1 << below(8));
		else
			bytes[at] = (char)values[below(sizeof(values))];
	}
}

static void mutations(void **state)
{
	unsigned sound = 0, unsound = 0;

	(void)state;
	random_state = seed + 1;
	for (int round = 0; round < 40000; round++) {
		struct event event;
		char text[TEXT_MAX];
		struct wire_filter *copy;
		size_t room;

		random_event(&event);
		random_condition(text, &event, below(3));
		compile(text, event.format, event.types);
		room = filter->bytes;
		copy = malloc(room);
		assert_non_null(copy);
		memcpy(copy, program, room);
		mutate((char *)copy, room);
		if (memcmp(copy, program, room) != 0)
			assert_int_not_equal(filter_verify(copy, room, event.types), 0);
		if (copy->bytes <= room)
			copy->checksum = filter_checksum(copy, copy->bytes);
		if (filter_verify(copy, room, below(4) ? event.types : copy->types) == 0) {
			sound++;
			run_on_garbage(copy);
			filter_passes(copy, event.payload, event.bytes, &subject);
		} else {
			unsound++;
		}
		free(copy);
		event_close(&event);
	}
	assert_true(sound > 1000 && unsound > 1000);
}

static void garbage(void **state)
{
	(void)state;
	random_state = seed + 2;
	for (int round = 0; round < 40000; round++) {
		size_t room = below(WIRE_FILTER_MAX + 65) / 8 * 8;
		char *bytes = malloc(room + !room);

		assert_non_null(bytes);
		for (size_t n = 0; n < room; n++)
			bytes[n] = (char)random_next();
		assert_int_not_equal(filter_verify(bytes, room, random_next()), 0);
		free(bytes);
	}
}

/* Break each condition that the evaluator relies on, one at a time, with a valid checksum. */
static void unsound(void **state)
{
	struct event event = sample();
	const char *text = "len > 5 && delta > 5 && proto == \"x\" && pid == 5";
	const struct wire_filter_test *test = filter->test;

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
	UNSOUND(filter->test[3].offset = sizeof(struct filter_subject));
	UNSOUND(filter->test[3].offset = offsetof(struct filter_subject, correlation));
	UNSOUND(filter->test[3].offset = 2);
	UNSOUND(filter->test[3].op = WIRE_FILTER_SUBJECT | WIRE_FILTER_64);
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
		cmocka_unit_test(language), cmocka_unit_test(numbers),	    cmocka_unit_test(strings),
		cmocka_unit_test(shadows),  cmocka_unit_test(faults),	    cmocka_unit_test(limits),
		cmocka_unit_test(marks),    cmocka_unit_test(differential), cmocka_unit_test(mutations),
		cmocka_unit_test(garbage),  cmocka_unit_test(unsound),
	};
	const char *given = getenv("TEST_SEED");

	seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	printf("# TEST_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
