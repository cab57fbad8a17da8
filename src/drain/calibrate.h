/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rate of a trace's clock, and its calendar. */
#ifndef BURIN_DRAIN_CALIBRATE_H
#define BURIN_DRAIN_CALIBRATE_H

#include "session/clock.h"
#include "writer/metadata.h"

/* calibrate_offset - the calendar's time at tick 0, ns. */
int64_t calibrate_offset(const struct clock_pair *pair, uint64_t hz);

/*
 * calibrate - measure the clock's rate, if the recording was long enough to be more exact than the kernel's value.
 * @source: enum wire_clock; @begin: of the recording, which ends now
 */
void calibrate(struct trace_clock *clock, uint32_t source, const struct clock_pair *begin);

#endif
