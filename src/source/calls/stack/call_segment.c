/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Segments of the calls area; see call_segment.h. */
#include "source/calls/stack/call_segment.h"

enum {
	RETRY_TICKS = 1 << 22, /* about a millisecond */
};

static uint64_t retry; /* clock: after there was no memory for a segment */

struct wire_call_segment *call_segment_take(uint32_t stack, uint32_t depth, uint32_t previous)
{
	const uint32_t tid = tracepoint_thread_enter();
	struct wire_call_segment *segment;
	uint64_t now;

	if (!tid) /* it must not read the clock */
		return NULL;
	now = ring_clock();
	if (now < __atomic_load_n(&retry, __ATOMIC_RELAXED))
		return NULL;
	segment = call_segment_at(
		session_call_segment(&tracepoint_session, session_self(), tid, stack, depth, previous));
	if (!segment) /* do not search for segments of the dead at each call */
		__atomic_store_n(&retry, now + RETRY_TICKS, __ATOMIC_RELAXED);
	return segment;
}

void call_segment_free(const struct wire_call_segment *first)
{
	session_call_segment_free(&tracepoint_session, call_segment_number(first), tracepoint_thread_self());
}

void call_segment_try_again(void)
{
	__atomic_store_n(&retry, 0, __ATOMIC_RELAXED);
}
