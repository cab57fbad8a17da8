/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin_emit: append a tracepoint's record to the ring, after checking the event's condition, if it has one. */
#include "source/tracepoint/commit.h"
#include "source/tracepoint/event_filter.h"

void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes)
{
	if (__builtin_expect(state != WIRE_ON, 0)) {
		event_filter_emit(site, state, buffer, payload_bytes);
		return;
	}
	commit_fast(site, buffer, payload_bytes);
}
