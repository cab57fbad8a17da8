/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From the clock of the kernel's programs (CLOCK_MONOTONIC, ns) to that of the trace.
 *
 * Both are read together, as a pair, in each round of the recorder. The kernel computes its clock from the processor's
 * counter; adjustments of the time change the rate, and never set it. So times between two pairs are interpolated. Times after the
 * last pair have the rate of the last interval.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_CLOCK_H
#define BURIN_SOURCE_KERNEL_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KERNEL_CLOCK_PAIRS =
		256, /* a power of two; without `all`, older records have the oldest interval's rate */
	KERNEL_CLOCK_STEP = 1000000, /* ns between two pairs, at least: the rate must be exact */
};

struct kernel_clock_pair {
	uint64_t ns, ticks;
	uint64_t rate; /* of the interval that begins here: ticks per ns, times 2^32 */
};

struct kernel_clock {
	bool same; /* the trace's clock is CLOCK_MONOTONIC */
	bool all; /* old records will be converted, too: when the pairs are full, every second one is left out */
	unsigned count; /* pairs so far */
	struct kernel_clock_pair pairs[KERNEL_CLOCK_PAIRS];
	uint64_t error;	  /* ns: the largest that any interval may have had */
	uint64_t thinned; /* ns: how much pairs that were left out may add to it */
};

/* kernel_clock_begin - take the first pair. @clock: enum wire_clock, not a guest's; @hz: its rate */
void kernel_clock_begin(struct kernel_clock *clock, uint32_t source, uint64_t hz);

/* kernel_clock_round - take a pair, unless the last one is too recent. */
void kernel_clock_round(struct kernel_clock *clock);

/* kernel_clock_add - add a pair. @width: ticks by which it may be wrong */
void kernel_clock_add(struct kernel_clock *clock, uint64_t ns, uint64_t ticks, uint64_t width);

/* kernel_clock_ticks - convert a time. It never decreases while @ns does not. */
uint64_t kernel_clock_ticks(const struct kernel_clock *clock, uint64_t ns);

#endif
