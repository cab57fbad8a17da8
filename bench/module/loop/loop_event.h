/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The peer of a BURIN_TRACE with two arguments: an event of the kernel's own tracer. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM burin_loop

#if !defined(BENCH_LOOP_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define BENCH_LOOP_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(burin_loop_two, TP_PROTO(unsigned int n, unsigned int twice), TP_ARGS(n, twice),
	    TP_STRUCT__entry(__field(unsigned int, n) __field(unsigned int, twice)),
	    TP_fast_assign(__entry->n = n; __entry->twice = twice;),
	    TP_printk("n=%u twice=%u", __entry->n, __entry->twice));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE loop_event
#include <trace/define_trace.h>
