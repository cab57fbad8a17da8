/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rate of a trace's clock; see calibrate.h. */
#include "drain/calibrate.h"

#include "wire/wire_session.h"

/* Unsigned, since the rate of a damaged session may be any number. */
int64_t calibrate_offset(const struct clock_pair *pair, uint64_t hz)
{
	return (int64_t)((uint64_t)pair->realtime_ns -
			 (uint64_t)((unsigned __int128)pair->ticks * 1000000000 / hz));
}

void calibrate(struct trace_clock *clock, uint32_t source, const struct clock_pair *begin)
{
	struct clock_pair end;

	clock_read_pair(source, &end);
	if (source != WIRE_CLOCK_TSC || end.raw_ns - begin->raw_ns < 1000000000)
		return;
	clock->hz = (uint64_t)((unsigned __int128)(end.ticks - begin->ticks) * 1000000000 /
			       (end.raw_ns - begin->raw_ns));
	clock->offset_ns = calibrate_offset(begin, clock->hz);
}
