/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The last step of every record; see commit.h. */
#include "source/tracepoint/commit.h"

/* Write a record with prepared headers to the ring of this CPU, or to a locked one. */
static void write_record(struct ring_record record, uint32_t tid)
{
	session_write_record(&tracepoint_session, record, tid, tracepoint_thread.in_vfork);
}

__attribute__((cold)) void commit_slow(struct burin_site *site, void *buffer, size_t payload_bytes)
{
	struct ring_record record = { buffer, (uint32_t)(payload_bytes + COMMIT_HEADER) };
	uint32_t tid;

	if (!tracepoint_session.base || site->id == 0)
		return;
	if (!buffer || payload_bytes + COMMIT_HEADER > tracepoint_session.rings[0].record_max) {
		ring_lose(&tracepoint_session.rings[0], WIRE_LOST_SIZE);
		return;
	}
	tid = tracepoint_thread_enter();
	if (commit_is_forbidden())
		return;
	ring_prepare(buffer, site->id, record.length, tid);
	write_record(record, tid);
}

__attribute__((cold)) void commit_again(void *buffer)
{
	const struct wire_compact *header = (const struct wire_compact *)((char *)buffer + WIRE_ALIGN);

	if (header->length > tracepoint_session.rings[0].record_max) {
		ring_lose(&tracepoint_session.rings[0], WIRE_LOST_SIZE);
		return;
	}
	if (commit_is_forbidden()) /* since the fast path has begun */
		return;
	if (__builtin_expect(session_is_forked(), 0))
		ring_prepare(buffer, header->id, header->length, tracepoint_thread_enter());
	write_record((struct ring_record){ buffer, header->length }, header->tid);
}

void commit_record(struct burin_site *site, void *buffer, size_t payload_bytes)
{
	commit_fast(site, buffer, payload_bytes);
}
