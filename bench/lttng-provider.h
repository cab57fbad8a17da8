/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The peer's tracepoint provider: the same two integers. As its manual recommends. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng-provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, two,
	LTTNG_UST_TP_ARGS(unsigned, a, unsigned, b),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned, a, a)
		lttng_ust_field_integer(unsigned, b, b)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, string,
	LTTNG_UST_TP_ARGS(const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(bench, none,
	LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS(

	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, int,
	LTTNG_UST_TP_ARGS(int, a),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, ints4,
	LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
		lttng_ust_field_integer(int, c, c)
		lttng_ust_field_integer(int, d, d)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, ints8,
	LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d, int, e, int, f, int, g, int, h),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(int, b, b)
		lttng_ust_field_integer(int, c, c)
		lttng_ust_field_integer(int, d, d)
		lttng_ust_field_integer(int, e, e)
		lttng_ust_field_integer(int, f, f)
		lttng_ust_field_integer(int, g, g)
		lttng_ust_field_integer(int, h, h)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, double,
	LTTNG_UST_TP_ARGS(double, a),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(double, a, a)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, string12,
	LTTNG_UST_TP_ARGS(const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, string40,
	LTTNG_UST_TP_ARGS(const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, string200,
	LTTNG_UST_TP_ARGS(const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, int_string12,
	LTTNG_UST_TP_ARGS(int, a, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_string(text, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, int_string40,
	LTTNG_UST_TP_ARGS(int, a, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_string(text, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, strings_int,
	LTTNG_UST_TP_ARGS(const char *, one, const char *, two, int, a),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(one, one)
		lttng_ust_field_string(two, two)
		lttng_ust_field_integer(int, a, a)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(bench, bytes64,
	LTTNG_UST_TP_ARGS(const char *, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(char, bytes, bytes, 64)
	)
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
