/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin_emit: the way of a record from a tracepoint into the ring.
 *
 * The straight way is a few compares and the restartable sequence (ring/section_rseq.h). A thread's first
 * record, a CPU's first, one that is too large, and those of a thread without rseq go through emit_slow(); a
 * switch that says "checked" leads to check_emit() first.
 */
#include "burin/burin.h"
#include "ring/section_rseq.h"
#include "source/user/check.h"
#include "source/user/thread.h"

enum {
	COMPACT_HEADER = sizeof(struct wire_compact),
};

/* A record whose headers are ready: onto the ring of this CPU, or one that is locked. */
static void emit_record(struct ring_record record, uint32_t tid)
{
	session_put(&user_session, record, tid, user_thread.in_vfork);
}

static __attribute__((noinline, cold)) void emit_slow(struct burin_site *site, void *buffer,
						      size_t payload_bytes)
{
	struct ring_record record = { buffer, (uint32_t)(payload_bytes + COMPACT_HEADER) };
	uint32_t tid;

	if (!user_session.base || site->id == 0)
		return;
	if (!buffer || payload_bytes + COMPACT_HEADER > user_session.rings[0].record_max) {
		ring_lose(&user_session.rings[0], WIRE_LOST_SIZE);
		return;
	}
	tid = user_thread_enter();
	ring_prepare(buffer, site->id, record.length, tid);
	emit_record(record, tid);
}

#if RING_HAVE_RSEQ
/*
 * The straight way was left in the middle. All that is needed is in the buffer, so that the straight way need
 * not keep anything else.
 */
static __attribute__((noinline, cold)) void emit_again(void *buffer)
{
	const struct wire_compact *header = (const struct wire_compact *)((char *)buffer + WIRE_ALIGN);

	emit_record((struct ring_record){ buffer, header->length }, header->tid);
}

#endif

void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes)
{
	if (__builtin_expect(state != WIRE_ON, 0)) {
		check_emit(site, state, buffer, payload_bytes);
		return;
	}
#if RING_HAVE_RSEQ
	struct ring_record record = { buffer, (uint32_t)(payload_bytes + COMPACT_HEADER) };
	const uint32_t tid = user_thread.tid;
	const uint32_t cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	const struct ring *ring = &user_session.rings[cpu];

	/* tid != 0: there is a session, and this thread has been here before */
	if (__builtin_expect(tid != 0 && cpu < user_session.geometry.cpus && ring->slots &&
				     payload_bytes <= ring->record_max - COMPACT_HEADER,
			     1)) {
		ring_prepare(buffer, site->id, record.length, tid);
		if (__builtin_expect(section_rseq_put(ring, record) != RING_DONE, 0))
			emit_again(buffer);
		return;
	}
#endif
	emit_slow(site, buffer, payload_bytes);
}
