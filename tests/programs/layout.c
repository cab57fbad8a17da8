/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Print where each field of a session lies, as the compiler has it: a line with name, offset and size in bytes. For
 * tests that read a session or damage it (tests/harness/layout.py).
 */
#include <stdio.h>

#include "wire/wire_call.h"
#include "wire/wire_ring.h"
#include "wire/wire_session.h"

#define FIELD(prefix, type, field) \
	printf("%s%s %zu %zu\n", prefix, #field, offsetof(type, field), sizeof(((type *)0)->field))
#define HEADER(field)  FIELD("", struct wire_geometry, field)
#define SESSION(field) FIELD("", struct wire_session, field)
#define EVENT(field)   FIELD("event.", struct wire_event, field)
#define RING(field)    FIELD("ring.", struct wire_ring, field)

int main(void)
{
	HEADER(magic), HEADER(version), HEADER(header_bytes), HEADER(file_bytes), HEADER(uuid),
		HEADER(boot_id);
	HEADER(mode), HEADER(clock), HEADER(clock_hz), HEADER(packet_bytes), HEADER(ring_packets),
		HEADER(cpus);
	HEADER(locked), HEADER(names_packet_bytes), HEADER(names_packets), HEADER(string_max),
		HEADER(events_max);
	HEADER(switches_offset), HEADER(desired_offset), HEADER(conditions_offset), HEADER(filters_offset);
	HEADER(filters_bytes), HEADER(journal_offset), HEADER(events_offset), HEADER(text_offset),
		HEADER(text_bytes);
	HEADER(controls_offset), HEADER(rings_offset), HEADER(names_offset), HEADER(calls_offset);
	HEADER(owner_kind), HEADER(owner), HEADER(owner_start), HEADER(created_ns), HEADER(pid_namespace);
	HEADER(program), HEADER(context), HEADER(functions_max), HEADER(call_segments);
	SESSION(over), SESSION(joined), SESSION(ended), SESSION(paused), SESSION(events_lock),
		SESSION(changes);
	SESSION(filters_used), SESSION(processes), SESSION(journal_count), SESSION(journal_paused),
		SESSION(rules);
	SESSION(journal_rules), SESSION(resize_lock), SESSION(history), SESSION(journal_history);
	SESSION(history_lost), SESSION(journal_size), SESSION(refusals), SESSION(refused);
	EVENT(types), EVENT(name), EVENT(format), EVENT(file), EVENT(enums);
	FIELD("events.", struct wire_events, count);
	RING(tail), RING(lost), RING(clock_steps), RING(lock), RING(state), RING(compaction), RING(size),
		RING(consumed);
	FIELD("calls.", struct wire_calls, functions);
	FIELD("calls.", struct wire_calls, segments);
	printf("header 0 %zu\n", sizeof(struct wire_session));
	printf("events 0 %zu\n", sizeof(struct wire_events));
	printf("event 0 %zu\n", sizeof(struct wire_event));
	printf("condition 0 %zu\n", sizeof(struct wire_condition));
	printf("ring 0 %zu\n", sizeof(struct wire_ring));
	return 0;
}
