/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A record's way into a session's rings: that of the CPU, by a restartable sequence, or where there is
 * none, one that is locked.
 */
#include <errno.h>
#include <sched.h>

#include "ring/section_rseq.h"
#include "session/session.h"

enum {
	PUT_TRIES = 1000, /* each failure means that the thread was interrupted or moved */
};

/* Without rseq: from the ring of this CPU on, the first that nobody else is writing. */
static void put_locked(struct session *session, struct ring_record record, uint32_t tid)
{
	const unsigned count = session->geometry.locked, first = session->geometry.cpus;
	int cpu = sched_getcpu();
	unsigned start = (unsigned)(cpu < 0 ? 0 : cpu) % count;

	/* The second time round, owners that only seem to live are told from others. */
	for (unsigned n = 0; n < 2 * count; n++) {
		unsigned index = first + (start + n) % count;
		struct ring *ring = session_ring_use(session, index);
		enum ring_result result = RING_BUSY;

		if (n < count || ring_bury(ring))
			result = ring_append_locked(ring, record, tid);
		if (result == RING_DONE)
			return;
		if (result == RING_FULL) {
			ring_lose(ring, WIRE_LOST_FULL);
			return;
		}
	}
	ring_lose(&session->rings[first + start], WIRE_LOST_BUSY);
}

#if RING_HAVE_RSEQ
/*
 * Whether this thread's sequences are restarted by the kernel: not before glibc has registered it, nor
 * without rseq.
 */
static bool have_rseq(const struct session *session)
{
	return __rseq_size != 0 && session->geometry.cpus != 0 &&
	       (int32_t)__atomic_load_n(&section_rseq()->cpu_id, __ATOMIC_RELAXED) >= 0;
}

/* Return: false if the record should go to a locked ring. */
static bool put_on_cpu(struct session *session, struct ring_record record)
{
	unsigned cpu = 0;

	for (int tries = 0; tries < PUT_TRIES; tries++) {
		enum ring_result result;
		struct ring *ring;

		cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
		if (cpu >= session->geometry.cpus)
			return false; /* a CPU that was not there when the session was made */
		ring = session_ring_use(session, cpu);
		result = ring_append(ring, record);
		if (result == RING_DONE)
			return true;
		if (result == RING_FULL) {
			ring_lose(ring, WIRE_LOST_FULL);
			return true;
		}
	}
	ring_lose(&session->rings[cpu], WIRE_LOST_BUSY);
	return true;
}
#endif

void session_put(struct session *session, struct ring_record record, uint32_t tid, bool locked)
{
	int saved = errno;

#if RING_HAVE_RSEQ
	if (locked || !have_rseq(session) || !put_on_cpu(session, record))
		put_locked(session, record, tid);
#else
	(void)locked;
	put_locked(session, record, tid);
#endif
	errno = saved;
}
