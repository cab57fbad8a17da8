/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin_emit: the way of a record from a tracepoint into the ring.
 *
 * The straight way is a few compares and the restartable sequence (ring/section_rseq.h). A thread's first
 * record, a CPU's first, one that is too large, and those of a thread without rseq go through emit_slow(); a
 * switch that says "checked" leads to check_emit() first.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "burin/burin.h"
#include "ring/section_rseq.h"
#include "source/user/check.h"
#include "source/user/thread.h"

enum {
	EMIT_TRIES = 1000, /* each failure means that the thread was interrupted or moved */
	COMPACT_HEADER = sizeof(struct wire_compact),
};

static void lose(unsigned index, enum wire_loss cause)
{
	ring_lose(&user_session.rings[index], cause);
}

/* Without rseq: from the ring of this CPU on, the first that nobody else is writing. */
static void emit_locked(struct ring_record record, uint32_t tid)
{
	const unsigned count = user_session.geometry.locked, first = user_session.geometry.cpus;
	int cpu = sched_getcpu();
	unsigned start = (unsigned)(cpu < 0 ? 0 : cpu) % count;

	/* The second time round, owners that only seem to live are told from others. */
	for (unsigned n = 0; n < 2 * count; n++) {
		unsigned index = first + (start + n) % count;
		struct ring *ring = session_ring_use(&user_session, index);
		enum ring_result result = RING_BUSY;

		if (n < count || ring_bury(ring))
			result = ring_append_locked(ring, record, tid);
		if (result == RING_DONE)
			return;
		if (result == RING_FULL) {
			lose(index, WIRE_LOST_FULL);
			return;
		}
	}
	lose(first + start, WIRE_LOST_BUSY);
}

#if RING_HAVE_RSEQ
/* Whether this thread's sequences are restarted by the kernel: not before glibc has registered it, nor
 * without rseq. */
static bool have_rseq(void)
{
	return __rseq_size != 0 && user_session.geometry.cpus != 0 && !user_thread.in_vfork &&
	       (int32_t)__atomic_load_n(&section_rseq()->cpu_id, __ATOMIC_RELAXED) >= 0;
}

/* Return: false if the record should go to a locked ring. */
static bool emit_on_cpu(struct ring_record record)
{
	unsigned cpu = 0;

	for (int tries = 0; tries < EMIT_TRIES; tries++) {
		enum ring_result result;
		struct ring *ring;

		cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
		if (cpu >= user_session.geometry.cpus)
			return false; /* a CPU that was not there when the session was made */
		ring = session_ring_use(&user_session, cpu);
		result = ring_append(ring, record);
		if (result == RING_DONE)
			return true;
		if (result == RING_FULL) {
			lose(cpu, WIRE_LOST_FULL);
			return true;
		}
	}
	lose(cpu, WIRE_LOST_BUSY);
	return true;
}
#endif

/* A record whose headers are ready: onto the ring of this CPU, or one that is locked. */
static void emit_record(struct ring_record record, uint32_t tid)
{
	int saved = errno;

#if RING_HAVE_RSEQ
	if (!have_rseq() || !emit_on_cpu(record))
		emit_locked(record, tid);
#else
	emit_locked(record, tid);
#endif
	errno = saved;
}

static __attribute__((noinline, cold)) void emit_slow(struct burin_site *site, void *buffer,
						      size_t payload_bytes)
{
	struct ring_record record = { buffer, (uint32_t)(payload_bytes + COMPACT_HEADER) };
	uint32_t tid;

	if (!user_session.base || site->id == 0)
		return;
	if (!buffer || payload_bytes + COMPACT_HEADER > user_session.rings[0].record_max) {
		lose(0, WIRE_LOST_SIZE);
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
