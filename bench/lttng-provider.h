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
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
