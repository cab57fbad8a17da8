/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Write a record to the ring of this CPU, by a restartable sequence; or, without one, to a locked ring.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "ring/section_rseq.h"
#include "session/session.h"
#include "session/events/wait_for_reader.h"

enum {
	WRITE_TRIES = 1000, /* each failure means that the thread was interrupted or moved */
	WAIT_MS = 10000,    /* for a reader, which may have been killed */
	WAIT_PAUSE_NS = 1000000,
};

bool session_waits;

/* @waited: milliseconds for this record. Return: whether to try again. */
static bool wait_for_reader(const struct session *session, unsigned *waited)
{
	if (!session_waits || __atomic_load_n(&session->shared->over, __ATOMIC_RELAXED))
		return false;
	if (++*waited > WAIT_MS)
		session_waits = false;
	else
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_PAUSE_NS }, NULL);
	return session_waits;
}

/* Without rseq: write to the first free locked ring, beginning with that of this CPU. */
static void write_locked(struct session *session, struct ring_record record, uint32_t tid)
{
	const unsigned count = session->geometry.locked, first = session->geometry.cpus;
	int cpu = sched_getcpu();
	unsigned start = (unsigned)(cpu < 0 ? 0 : cpu) % count, waited = 0;

	/* The second pass breaks the locks of owners that are dead but not reaped. */
	for (unsigned n = 0; n < 2 * count; n++) {
		unsigned index = first + (start + n) % count;
		struct ring *ring = session_ring_use(session, index);
		enum ring_result result = ring ? RING_BUSY : RING_FULL;

		if (ring && (n < count || ring_break_stale_lock(ring)))
			result = ring_append_locked(ring, record, tid);
		while (result == RING_FULL && ring && wait_for_reader(session, &waited))
			result = ring_append_locked(ring, record, tid);
		if (result == RING_DONE)
			return;
		if (result == RING_FULL) {
			ring_lose(&session->rings[index], WIRE_LOST_FULL);
			return;
		}
	}
	ring_lose(&session->rings[first + start], WIRE_LOST_BUSY);
}

#if RING_HAVE_RSEQ
/*
 * Whether the kernel restarts this thread's sequences: glibc has registered the thread, and the session has rings for it.
 */
static bool have_rseq(const struct session *session)
{
	return __rseq_size != 0 && session->geometry.cpus != 0 &&
	       (int32_t)__atomic_load_n(&section_rseq()->cpu_id, __ATOMIC_RELAXED) >= 0;
}

/* Return: false: write the record to a locked ring. */
static bool write_on_cpu(struct session *session, struct ring_record record)
{
	unsigned cpu = 0, waited = 0;

	for (int tries = 0; tries < WRITE_TRIES; tries++) {
		enum ring_result result;
		struct ring *ring;

		cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
		if (cpu >= session->geometry.cpus)
			return false; /* a CPU that was not there when the session was made */
		ring = session_ring_use(session, cpu);
		result = ring ? ring_append(ring, record) : RING_FULL;
		if (result == RING_DONE)
			return true;
		if (result == RING_FULL && ring && wait_for_reader(session, &waited)) {
			tries = 0;
		} else if (result == RING_FULL) {
			ring_lose(&session->rings[cpu], WIRE_LOST_FULL);
			return true;
		}
	}
	ring_lose(&session->rings[cpu], WIRE_LOST_BUSY);
	return true;
}
#endif

void session_write_record(struct session *session, struct ring_record record, uint32_t tid, bool locked)
{
	int saved = errno;

#if RING_HAVE_RSEQ
	if (locked || !have_rseq(session) || !write_on_cpu(session, record))
		write_locked(session, record, tid);
#else
	(void)locked;
	write_locked(session, record, tid);
#endif
	errno = saved;
}
