/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Converts between ticks of the trace's clock and nanoseconds since 1970: ns = offset + ticks * 10^9 / hz,
 * exact, without overflow.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"

enum {
	NS_PER_S = 1000000000,
};

/* Up to this rate, the ticks of a second times 10^9 fit 64 bits. */
static const uint64_t hz_fast_max = UINT64_MAX / NS_PER_S;

void read_clock_set(struct burin_trace *trace)
{
	static const char file[] = ".burin/recording";
	const char *text = burin_trace_recording(trace, "clock_offset_ns");
	char *end = NULL;

	if (read_recording_number(trace, "clock_hz", &trace->clock.hz) || !trace->clock.hz) {
		if (trace->recording.sound)
			read_fault(trace, BURIN_FAULT_RECORDING, file, 0,
				   "clock_hz is missing or not a number: ticks are taken as nanoseconds");
		trace->clock.hz = NS_PER_S;
	}
	trace->clock.inverse = UINT64_MAX / trace->clock.hz;
	errno = 0;
	if (text)
		trace->clock.offset_ns = strtoll(text, &end, 10);
	if ((!text || end == text || *end || errno) && trace->recording.sound) {
		trace->clock.offset_ns = 0;
		read_fault(trace, BURIN_FAULT_RECORDING, file, 0,
			   "clock_offset_ns is missing or not a number: times of day are unknown");
	}
}

/* number / hz, by two multiplications: the product with the inverse is at most 1 too small. */
static inline uint64_t divide_by_hz(const struct read_clock *clock, uint64_t number, uint64_t *rest)
{
	uint64_t quotient = (uint64_t)((unsigned __int128)number * clock->inverse >> 64);

	*rest = number - quotient * clock->hz;
	if (*rest >= clock->hz) {
		*rest -= clock->hz;
		quotient++;
	}
	return quotient;
}

int64_t burin_trace_ns(const struct burin_trace *trace, uint64_t ticks)
{
	uint64_t hz = trace->clock.hz, rest, none;
	__int128 ns = (__int128)divide_by_hz(&trace->clock, ticks, &rest) * NS_PER_S + trace->clock.offset_ns;

	if (hz <= hz_fast_max)
		ns += divide_by_hz(&trace->clock, rest * NS_PER_S, &none);
	else
		ns += (unsigned __int128)rest * NS_PER_S / hz;
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

uint64_t burin_trace_ticks(const struct burin_trace *trace, int64_t ns)
{
	__int128 since = (__int128)ns - trace->clock.offset_ns;
	unsigned __int128 ticks;

	if (since <= 0)
		return 0;
	ticks = ((unsigned __int128)since * trace->clock.hz + NS_PER_S - 1) / NS_PER_S;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}
