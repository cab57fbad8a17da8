/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The clock of a session: its source, its rate, and its offset from calendar time.
 *
 * The source is the processor's counter if the kernel uses it for its own time (clocksource tsc: invariant, synchronous
 * on all CPUs), or computes its time from it as a guest whose host promises the same; otherwise CLOCK_MONOTONIC.
 */
#ifndef BURIN_SESSION_CLOCK_H
#define BURIN_SESSION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock_info {
	bool is_tsc;
	uint8_t boot_id[16]; /* zero if unknown */
};

/* Two clocks read at the same moment. */
struct clock_pair {
	uint64_t ticks;
	int64_t realtime_ns;
	uint64_t raw_ns; /* CLOCK_MONOTONIC */
};

/* clock_ns - one of the system's clocks, ns. Context: any. */
uint64_t clock_ns(clockid_t clock);

/* clock_detect - choose the clock. Context: any thread; opens files. */
void clock_detect(struct clock_info *clock);

/*
 * clock_rate - the rate of a clock, Hz: the kernel's calibration, or else measured over 1.5 ms. It sleeps for the part of
 * that time that has not passed since clock_rate_begin().
 * Context: one thread of a command.
 */
uint64_t clock_rate(bool is_tsc);

/* clock_rate_begin - begin to measure early, so that clock_rate() sleeps less. Optional. */
void clock_rate_begin(void);

/* clock_read_pair - read clock and calendar together, within a fraction of a microsecond. @clock: enum wire_clock */
void clock_read_pair(uint32_t clock, struct clock_pair *pair);

#endif
