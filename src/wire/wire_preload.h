/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples that the preload library takes (source/preload) for the recorder (source/perf/rings/preload_reader.h).
 *
 * They have a session of their own, which is never written as a trace. Samples go to its rings, the side band of tasks
 * and mappings to its names ring, so that many samples cannot displace a mapping. Each record has one field, bytes: a
 * record as the kernel would have written it, see perf_event_open(2). Its own time is 0; the time of the record around
 * it counts.
 */
#ifndef BURIN_WIRE_WIRE_PRELOAD_H
#define BURIN_WIRE_WIRE_PRELOAD_H

#include <stdint.h>

/* In the environment of the program: "HZ GRAPH PATH"; the path is the session's. */
#define WIRE_PRELOAD_ENVIRONMENT "BURIN_TIMER"

/* The parts of each sample, PERF_SAMPLE_*; registers and stack may be empty. */
#define WIRE_PRELOAD_SAMPLE                                                                                 \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

enum {
	WIRE_PRELOAD_ID = 1,	       /* of the only event */
	WIRE_PRELOAD_CHAIN = 127,      /* frames of a chain of frame pointers, at most */
	WIRE_PRELOAD_STACK = 32 << 10, /* bytes of a copy of a stack, at most */

	/* GRAPH */
	WIRE_PRELOAD_GRAPH_CHAIN = 1,
	WIRE_PRELOAD_GRAPH_STACK = 2,
};

/* The registers of a sample, as in sample_regs_user. */
#if defined(__aarch64__)
#define WIRE_PRELOAD_REGISTERS UINT64_C(0x1ffffffff) /* x0 to x30, sp, pc */
#else
#define WIRE_PRELOAD_REGISTERS UINT64_C(0xff01ff) /* ax to ip, r8 to r15 */
#endif

#endif
