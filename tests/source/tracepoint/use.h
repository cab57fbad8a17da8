/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of the tracepoints' test that is the same in C and in C++: included by use.c and use.cc, and built
 * with every compiler, standard, optimisation and kind of object by matrix.sh.
 */
#include <burin/burin.h>

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "capture.h"

enum colour {
	RED,
	GREEN = 7
};
enum sign {
	MINUS = -5,
	PLUS
};

struct bits {
	unsigned three : 3;
	int minus : 4;
	unsigned long long wide : 40;
	long long negative : 41;
	bool flag : 1;
};

static int evaluated;

static inline int once(int value)
{
	evaluated++;
	return value;
}

static void test_integers(void)
{
	const bool yes = true;
	char c = 'x';
	signed char sc = SCHAR_MIN;
	unsigned char uc = UCHAR_MAX;
	short s = SHRT_MIN;
	unsigned short us = USHRT_MAX;
	int i = INT_MIN;
	unsigned u = UINT_MAX;
	long l = LONG_MIN;
	unsigned long ul = ULONG_MAX;
	long long ll = LLONG_MIN;
	unsigned long long ull = ULLONG_MAX;
	const volatile int cv = 3;
	enum colour colour = GREEN;
	enum sign sign = MINUS;

	BURIN_TRACE("t.small", "b=%d c=%c sc=%hhd uc=%hhu s=%hd us=%hu", yes, c, sc, uc, s, us);
	want_int(1, 1), want_int('x', 1), want_int(0x80, 1), want_int(0xff, 1), want_int(0x8000, 2),
		want_int(0xffff, 2);
	check("t.small", 0x7362f1, "b=%d c=%c sc=%hhd uc=%hhu s=%hd us=%hu");

	BURIN_TRACE("t.large", "i=%d u=%u l=%ld ul=%lu ll=%lld ull=%llu", i, u, l, ul, ll, ull);
	want_int(0x80000000, 4), want_int(UINT_MAX, 4), want_int((uint64_t)LONG_MIN, 8),
		want_int(ULONG_MAX, 8);
	want_int((uint64_t)LLONG_MIN, 8), want_int(ULLONG_MAX, 8);
	check("t.large", 0x959584, "i=%d u=%u l=%ld ul=%lu ll=%lld ull=%llu");

	BURIN_TRACE("t.fixed", "a=%" PRIu64 " b=%" PRId8 " %zu %td %jd", (uint64_t)7, (int8_t)-1, sizeof(int),
		    (ptrdiff_t)-2, (intmax_t)-3);
	want_int(7, 8), want_int(0xff, 1), want_int(4, 8), want_int((uint64_t)-2, 8),
		want_int((uint64_t)-3, 8);
	check("t.fixed", 0x55929, "a=%" PRIu64 " b=%" PRId8 " %zu %td %jd");

	BURIN_TRACE("t.odd", "cv=%d e=%u s=%d %#-8x|%+05d|% d|%.3d", cv, (unsigned)colour, sign, 1u, 2, 3, 5);
	want_int(3, 4), want_int(7, 4), want_int((uint64_t)-5, 4);
	want_int(1, 4), want_int(2, 4), want_int(3, 4), want_int(5, 4);
	check("t.odd", 0x4448484, "cv=%d e=%u s=%d %#-8x|%+05d|% d|%.3d");

	BURIN_TRACE("t.enum", "%u", colour);
	want_int(7, 4);
	check("t.enum", 8, "%u");

	BURIN_TRACE("t.char", "a\tb\\\"%c\"%%", 'y' + 0 * c);
	want_int('y', 4);
	check("t.char", 4, "a\tb\\\"%c\"%%");
}

static void test_floats(void)
{
	float f = 1.5f;
	double d = -DBL_MAX;
	long double ld = 3.25L;

	BURIN_TRACE("t.float", "f=%f d=%e ld=%Lg %a", f, d, ld, 0.0);
	want_float(f), want_double(d), want_double(3.25), want_double(0.0);
	check("t.float", 0xbbba, "f=%f d=%e ld=%Lg %a");
}

static void test_pointers(void)
{
	int target = 0;
	void *pointer = &target;
	const volatile void *cv = &target;
	struct unknown *unknown = (struct unknown *)pointer;
	char text[] = "text";
	char *under_p = text;

	BURIN_TRACE("t.pointer", "%p %p %p", pointer, (const void *)(uintptr_t)cv, (void *)unknown);
	want_int((uintptr_t)pointer, 8), want_int((uintptr_t)pointer, 8), want_int((uintptr_t)pointer, 8);
	check("t.pointer", 0xccc, "%p %p %p");

	/* A pointer to characters under %p is an address, whatever it points to. */
	BURIN_TRACE("t.char_pointer", "p=%p n=%d s=%s", (void *)under_p, 1, under_p);
	want_int((uintptr_t)text, 8), want_int(1, 4), want_text("text");
	check("t.char_pointer", 0xd4c, "p=%p n=%d s=%s");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wformat-pedantic"
#endif
	BURIN_TRACE("t.char_under_p", "s=%s p=%p n=%d", under_p, under_p, 1);
	want_text("text"), want_int((uintptr_t)text, 8), want_int(1, 4);
	check("t.char_under_p", 0x4cd, "s=%s p=%p n=%d");
#pragma GCC diagnostic pop
}

static void test_strings(void)
{
	const char *text = "twelve chars", *null = NULL;
	char array[32] = "array";
	const char long_text[] =
		"a string of more than sixteen bytes, in fact of so many that it takes several chunks";
	int n = 3;

	BURIN_TRACE("t.str", "n=%d s=%s", n, text);
	want_int(3, 4), want_text(text);
	check("t.str", 0xd4, "n=%d s=%s");

	BURIN_TRACE("t.strs", "%s %-16s %.3s %hhd %s %s", "", array, "literal", (signed char)1, null,
		    long_text);
	want_text(""), want_text("array"), want_text("literal"), want_int(1, 1), want_text("\xe2\x90\x80");
	want_text(long_text);
	check("t.strs", 0xdd2ddd, "%s %-16s %.3s %hhd %s %s");

	BURIN_TRACE("t.tail", "%s %hd", array, (short)-2);
	want_text("array"), want_int(0xfffe, 2);
	check("t.tail", 0x3d, "%s %hd");
}

static void test_bytes(void)
{
	static unsigned char bytes[8192];
	int minus = -1;

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	BURIN_TRACE("t.bytes", "%p n=%d %p", BURIN_BYTES(bytes, 5), once(5), BURIN_BYTES(bytes + 1, 16));
	want_bytes(bytes, 5), want_int(5, 4), want_bytes(bytes + 1, 16);
	check("t.bytes", 0xe04e0, "%p n=%d %p");
	BURIN_TRACE("t.nobytes", "%p %p %p", BURIN_BYTES(NULL, 9), BURIN_BYTES(bytes, 0),
		    BURIN_BYTES(bytes, minus));
	want_bytes(bytes, 0), want_bytes(bytes, 0), want_bytes(bytes, 0);
	check("t.nobytes", 0xe0e0e0, "%p %p %p");
	BURIN_TRACE("t.8k", "%p %p", BURIN_BYTES(bytes, 4096), BURIN_BYTES(bytes + 4096, 5000));
	want_bytes(bytes, 4096), want_bytes(bytes + 4096, 4096);
	check("t.8k", 0xe0e0, "%p %p");
}

/* 1 to n, each an int */
static void want_numbers(unsigned n)
{
	for (unsigned k = 1; k <= n; k++)
		want_int(k, 4);
}

static void test_counts(void)
{
#define C1 "%d"
#define C4 C1 C1 C1 C1
	unsigned char t = 9;

	BURIN_TRACE("t.0");
	check("t.0", 0, "");
	BURIN_TRACE("t.0f", "no arguments, 100%%");
	check("t.0f", 0, "no arguments, 100%%");
	BURIN_TRACE("t.1", C1, 1);
	want_numbers(1), check("t.1", 4, C1);
	BURIN_TRACE("t.2", C1 C1, 1, 2);
	want_numbers(2), check("t.2", 0x44, C1 C1);
	BURIN_TRACE("t.3", C1 C1 C1, 1, 2, 3);
	want_numbers(3), check("t.3", 0x444, C1 C1 C1);
	BURIN_TRACE("t.4", C4, 1, 2, 3, 4);
	want_numbers(4), check("t.4", 0x4444, C4);
	BURIN_TRACE("t.5", C4 C1, 1, 2, 3, 4, 5);
	want_numbers(5), check("t.5", 0x44444, C4 C1);
	BURIN_TRACE("t.6", C4 C1 C1, 1, 2, 3, 4, 5, 6);
	want_numbers(6), check("t.6", 0x444444, C4 C1 C1);
	BURIN_TRACE("t.7", C4 C1 C1 C1, 1, 2, 3, 4, 5, 6, 7);
	want_numbers(7), check("t.7", 0x4444444, C4 C1 C1 C1);
	BURIN_TRACE("t.8", C4 C4, 1, 2, 3, 4, 5, 6, 7, 8);
	want_numbers(8), check("t.8", 0x44444444, C4 C4);
	BURIN_TRACE("t.9", C4 C4 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	want_numbers(9), check("t.9", 0x444444444, C4 C4 C1);
	BURIN_TRACE("t.10", C4 C4 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	want_numbers(10), check("t.10", 0x4444444444, C4 C4 C1 C1);
	BURIN_TRACE("t.11", C4 C4 C1 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
	want_numbers(11), check("t.11", 0x44444444444, C4 C4 C1 C1 C1);
	BURIN_TRACE("t.12", C4 C4 C4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	want_numbers(12), check("t.12", 0x444444444444, C4 C4 C4);
	BURIN_TRACE("t.13", C4 C4 C4 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
	want_numbers(13), check("t.13", 0x4444444444444, C4 C4 C4 C1);
	BURIN_TRACE("t.14", C4 C4 C4 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	want_numbers(14), check("t.14", 0x44444444444444, C4 C4 C4 C1 C1);
	BURIN_TRACE("t.15", C4 C4 C4 C1 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	want_numbers(15), check("t.15", 0x444444444444444, C4 C4 C4 C1 C1 C1);
	BURIN_TRACE("t.16", C4 C4 C4 C4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	want_numbers(16), check("t.16", 0x4444444444444444, C4 C4 C4 C4);
	/* every alignment of an 8-byte argument, and types above 2^63 */
	BURIN_TRACE("t.shift", "%d%c%llx%c%llx%c%llx%c%llx%c%llx%c%llx%c%hhu", 1, (char)1, 2ull, (char)1,
		    3ull, (char)1, 4ull, (char)1, 5ull, (char)1, 6ull, (char)1, 7ull, (char)1, t);
	want_int(1, 4);
	for (unsigned k = 2; k <= 7; k++)
		want_int(1, 1), want_int(k, 8);
	want_int(1, 1), want_int(9, 1);
	check("t.shift", 0x6f9f9f9f9f9f9f4, "%d%c%llx%c%llx%c%llx%c%llx%c%llx%c%llx%c%hhu");
	BURIN_TRACE("t.high", C4 C4 C4 C1 C1 C1 "%c", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		    (char)16);
	want_numbers(15), want_int(16, 1), check("t.high", 0xf444444444444444, C4 C4 C4 C1 C1 C1 "%c");
}

static void test_bit_fields(void)
{
	struct bits bits;

	memset(&bits, 0, sizeof(bits));
	bits.three = 5;
	bits.minus = -3;
	bits.wide = 0xffffffffffull;
	bits.negative = -2;
	bits.flag = true;
	/* How wide a bit-field is recorded depends on the compiler; as counters all are 64 bits. */
	BURIN_TRACE("t.bits", "%u %d %d", bits.three, bits.minus, bits.flag);
	check_log("t.bits");
	BURIN_COUNTER("t.wide", (unsigned long long)bits.wide);
	want_int(0xffffffffffull, 8);
	check_kind("t.wide", 3, 9, "value=%llu");
	BURIN_COUNTER("t.minus3", bits.minus);
	want_int((uint64_t)-3, 8);
	check_kind("t.minus3", 3, 5, "value=%lld");
	BURIN_COUNTER("t.negative", bits.negative);
	want_int((uint64_t)-2, 8);
	check_kind("t.negative", 3, 5, "value=%lld");
}

static void test_evaluation(void)
{
	evaluated = 0;
	BURIN_TRACE("t.once", "%d %d", once(1), once(2));
	want_int(1, 4), want_int(2, 4);
	check("t.once", 0x44, "%d %d");
	check_that(evaluated == 2);
	BURIN_TRACE("t.once_s", "%d %s", once(1), (once(2), "x"));
	want_int(1, 4), want_text("x");
	check("t.once_s", 0xd4, "%d %s");
	check_that(evaluated == 4);
	capture_switch = 0;
	BURIN_TRACE("t.never", "%d %s", once(1), (once(2), "x"));
	BURIN_COUNTER("t.never_c", once(1));
	BURIN_BEGIN("t.never_b", "%d", once(1));
	{
		BURIN_SCOPE("t.never_s", "%d", once(1));
	}
	check_none();
	check_that(evaluated == 4);
	capture_switch = 1;
}

static void test_statements(int which)
{
	if (which)
		BURIN_TRACE("t.then");
	else
		BURIN_TRACE("t.else", "%d", which);
	switch (which) {
	case 1:
		check("t.then", 0, "");
		BURIN_TRACE("t.case", "%d", which);
		break;
	default:
		want_int(0, 4);
		check("t.else", 4, "%d");
		BURIN_TRACE("t.default");
	}
	if (which)
		want_int(1, 4), check("t.case", 4, "%d");
	else
		check("t.default", 0, "");
	for (int i = 0; i < 3; i++)
		BURIN_TRACE("t.loop", "%d", i);
	check_log("t.loop t.loop t.loop");
}

static int inner(int value)
{
	BURIN_TRACE("t.inner", "%d", value);
	want_int((uint64_t)value, 4);
	check("t.inner", 4, "%d");
	return value + 1;
}

static int scope_return(int value)
{
	BURIN_SCOPE("t.return", "%d", value);
	return value * 2;
}

static void test_spans(void)
{
	BURIN_BEGIN("t.span");
	check_kind("t.span.begin", 1, 0, "");
	BURIN_END("t.span");
	check_kind("t.span.end", 2, 0, "");
	BURIN_BEGIN("t.span2", "id=%d", inner(1));
	want_int(2, 4);
	check_kind("t.span2.begin", 1, 4, "id=%d");
	BURIN_END("t.span2", "result=%s", "ok");
	want_text("ok");
	check_kind("t.span2.end", 2, 0xd, "result=%s");
	{
		BURIN_SCOPE("t.scope", "id=%d", 4);
		want_int(4, 4);
		check_kind("t.scope.begin", 1, 4, "id=%d");
		BURIN_SCOPE("t.inner_scope");
		check_kind("t.inner_scope.begin", 1, 0, "");
	}
	check_log("t.inner_scope.end t.scope.end");
	{
		BURIN_SCOPE("t.early");
		capture_switch = 0; /* switched off in between */
	}
	check_log("t.early.begin");
	{
		BURIN_SCOPE("t.late"); /* no end without a beginning */
		capture_switch = 1;
	}
	check_log("");
	for (int i = 0; i < 3; i++) {
		BURIN_SCOPE("t.left");
		if (i == 0)
			continue;
		break;
	}
	check_log("t.left.begin t.left.end t.left.begin t.left.end");
	check_that(scope_return(4) == 8);
	check_log("t.return.begin t.return.end");
	{
		BURIN_SCOPE("t.same");
		BURIN_SCOPE("t.same");
	}
	check_log("t.same.begin t.same.begin t.same.end t.same.end");
}

/* The id of a span is recorded as 64 bits, whatever its type. */
static void test_span_ids(void)
{
	struct bits bits;

	memset(&bits, 0, sizeof(bits));
	bits.minus = -3;
	evaluated = 0;
	BURIN_SPAN_BEGIN(once(7), "t.async");
	want_int(7, 8);
	check_kind("t.async.begin", 4, 9, "span_id=%#llx");
	BURIN_SPAN_END(once(-7), "t.async");
	want_int((uint64_t)-7, 8);
	check_kind("t.async.end", 5, 9, "span_id=%#llx");
	BURIN_SPAN_BEGIN(once(1), "t.async2", "s=%s n=%hhd", "text", (signed char)once(2));
	want_int(1, 8), want_text("text"), want_int(2, 1);
	check_kind("t.async2.begin", 4, 0x2d9, "span_id=%#llx s=%s n=%hhd");
	BURIN_SPAN_END(ULLONG_MAX, "t.async2", "a text, 100%%");
	want_int(ULLONG_MAX, 8);
	check_kind("t.async2.end", 5, 9, "span_id=%#llx a text, 100%%");
	check_that(evaluated == 4);
	BURIN_SPAN_BEGIN((short)-1, "t.short");
	want_int(ULLONG_MAX, 8);
	check_kind("t.short.begin", 4, 9, "span_id=%#llx");
	BURIN_SPAN_BEGIN(GREEN, "t.enum_id");
	want_int(7, 8);
	check_kind("t.enum_id.begin", 4, 9, "span_id=%#llx");
	BURIN_SPAN_BEGIN(bits.minus, "t.field_id");
	want_int((uint64_t)-3, 8);
	check_kind("t.field_id.begin", 4, 9, "span_id=%#llx");
	BURIN_SPAN128_BEGIN(once(5), (uint64_t)once(6), "t.trace");
	want_int(5, 8), want_int(6, 8);
	check_kind("t.trace.begin", 4, 0x99, "span_id_high=%#llx span_id=%#llx");
	BURIN_SPAN128_END(-5, 0, "t.trace", "%d %p", 3, BURIN_BYTES("xy", 2));
	want_int((uint64_t)-5, 8), want_int(0, 8), want_int(3, 4), want_bytes("xy", 2);
	check_kind("t.trace.end", 5, 0xe0499, "span_id_high=%#llx span_id=%#llx %d %p");
	check_that(evaluated == 6);
	BURIN_SPAN_END(1, "t.most", C4 C4 C4 C1 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	want_int(1, 8), want_numbers(15);
	check_kind("t.most.end", 5, 0x4444444444444449, "span_id=%#llx " C4 C4 C4 C1 C1 C1);
	BURIN_SPAN128_END(1, 2, "t.most128", C4 C4 C4 C1 C1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	want_int(1, 8), want_int(2, 8), want_numbers(14);
	check_kind("t.most128.end", 5, 0x4444444444444499,
		   "span_id_high=%#llx span_id=%#llx " C4 C4 C4 C1 C1);
	capture_switch = 0;
	BURIN_SPAN_BEGIN(once(1), "t.never_id", "%d", once(2));
	BURIN_SPAN128_END(once(1), once(2), "t.never_ids");
	check_none();
	check_that(evaluated == 6);
	capture_switch = 1;
	if (evaluated)
		BURIN_SPAN_BEGIN(evaluated, "t.then_id");
	else
		BURIN_SPAN_END(evaluated, "t.else_id", "%d", evaluated);
	check_log("t.then_id.begin");
}

static void test_counters(void)
{
	BURIN_COUNTER("t.depth", 7);
	want_int(7, 8);
	check_kind("t.depth", 3, 5, "value=%lld");
	BURIN_COUNTER("t.minus", (short)-7);
	want_int((uint64_t)-7, 8);
	check_kind("t.minus", 3, 5, "value=%lld");
	BURIN_COUNTER("t.size", sizeof(int));
	want_int(4, 8);
	check_kind("t.size", 3, 9, "value=%llu");
	BURIN_COUNTER("t.load", 0.5f);
	want_double(0.5);
	check_kind("t.load", 3, 0xb, "value=%g");
	BURIN_COUNTER("t.long", 0.25L);
	want_double(0.25);
	check_kind("t.long", 3, 0xb, "value=%g");
}

static void test_common(void)
{
	test_integers();
	test_floats();
	test_pointers();
	test_strings();
	test_bytes();
	test_counts();
	test_bit_fields();
	test_evaluation();
	test_spans();
	test_span_ids();
	test_statements(0);
	test_statements(1);
	test_counters();
}
