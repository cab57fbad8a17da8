/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The last step of every record: append it to the ring of this CPU. Conditions (event_filter.h) and serialization
 * (serialize.h) come before.
 *
 * The fast path is a few compares and the restartable sequence (ring/section_rseq.h). The first record of a thread or a
 * CPU, a record that is too large, and those of a thread without rseq go through commit_slow().
 */
#ifndef BURIN_SOURCE_TRACEPOINT_COMMIT_H
#define BURIN_SOURCE_TRACEPOINT_COMMIT_H

#include "burin/burin.h"
#include "ring/section_rseq.h"
#include "source/tracepoint/thread.h"

enum {
	COMMIT_HEADER = sizeof(struct wire_compact),
};

/* commit_slow - all cases. @buffer, @payload_bytes: as for burin_emit(); NULL: the record is too large. */
void commit_slow(struct burin_site *site, void *buffer, size_t payload_bytes);

/*
 * commit_again - continue after the fast path has failed. It needs only the buffer, so that the fast path need not keep
 * anything else. A signal handler that forks may have made this process its child meanwhile.
 */
__attribute__((visibility("default"))) void commit_again(void *buffer);

/* commit_fast - the fast path, inlined where a call would cost too much. Context: any thread, signal handlers. */
static inline __attribute__((always_inline)) void commit_fast(struct burin_site *site, void *buffer,
							      size_t payload_bytes)
{
#if RING_HAVE_RSEQ
	struct ring_record record = { buffer, (uint32_t)(payload_bytes + COMMIT_HEADER) };
	const uint32_t cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
	const uint32_t tid = tracepoint_thread.tid;
	const struct ring *ring = &session_identity.rings[cpu];

	/* tid != 0: there is a session, and this thread has been here before; in a child without handlers of its fork this
	 * is the parent's, but there are no CPUs. A larger payload has no buffer. The section finds out whether the ring is in
	 * use and has room. */
	if (__builtin_expect(tid != 0 && cpu < session_identity.cpus &&
				     payload_bytes <= WIRE_LENGTH_MAX - WIRE_HEADROOM,
			     1)) {
		ring_prepare(buffer, site->id, record.length, tid);
		if (__builtin_expect(section_rseq_put(ring, record) != RING_DONE, 0))
			commit_again(buffer);
		return;
	}
#endif
	commit_slow(site, buffer, payload_bytes);
}

/* commit_is_forbidden - whether the thread must not read the clock; then a record is counted as lost. Before all that may read it. */
static inline bool commit_is_forbidden(void)
{
	if (__builtin_expect(!tracepoint_thread.no_clock, 1) &&
	    (tracepoint_thread.tid != 0 || tracepoint_thread_may_record()))
		return false;
	ring_lose(&tracepoint_session.rings[0], WIRE_LOST_BUSY);
	return true;
}

/* commit_record - the same as a function. */
void commit_record(struct burin_site *site, void *buffer, size_t payload_bytes);

#endif
