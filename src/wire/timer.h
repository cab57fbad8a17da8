/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples that a program takes of itself (source/timer), for the recorder (source/sample/timer.h).
 *
 * They lie in a session of their own, which no trace is made of: samples in its rings of records, what
 * tells of tasks and mappings in its ring of names, so that many samples cannot displace a mapping. Each
 * record has one field, bytes: a record in the form that perf_event_open(2) describes, such as the kernel
 * would have made it. Its time is that of the record around it, and its own is 0.
 */
#ifndef BURIN_WIRE_TIMER_H
#define BURIN_WIRE_TIMER_H

#include <stdint.h>

/* In the environment of the program: "HZ GRAPH PATH", the last being the session's. */
#define WIRE_TIMER_ENVIRONMENT "BURIN_TIMER"

/* What each sample consists of, in PERF_SAMPLE_*; registers and stack may be empty. */
#define WIRE_TIMER_SAMPLE                                                                                   \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

enum {
	WIRE_TIMER_ID = 1,	     /* of the only event */
	WIRE_TIMER_CHAIN = 127,	     /* frames of a chain of frame pointers, at most */
	WIRE_TIMER_STACK = 32 << 10, /* bytes of a copy of a stack, at most */

	/* GRAPH */
	WIRE_TIMER_GRAPH_CHAIN = 1,
	WIRE_TIMER_GRAPH_STACK = 2,
};

/* The registers of a sample, as in sample_regs_user. */
#if defined(__aarch64__)
#define WIRE_TIMER_REGISTERS UINT64_C(0x1ffffffff) /* x0 to x30, sp, pc */
#else
#define WIRE_TIMER_REGISTERS UINT64_C(0xff01ff) /* ax to ip, r8 to r15 */
#endif

#endif
