/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks; see check.h.
 *
 * A filter is a program in the session, which anybody who may write there may spoil. So it is copied into
 * private memory, verified there, and only the copy is run. Programs never change and never move, hence a copy
 * is made once, at the same offset, and serves every event that has the same filter.
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/plain.h"
#include "ring/section_rseq.h"
#include "session/filter.h"
#include "source/user/callback.h"
#include "source/user/check.h"
#include "source/user/context.h"
#include "source/user/thread.h"

enum {
	COPY_ABSENT,
	COPY_BEGUN,
	COPY_SOUND,
	COPY_ASKS_WHO /* sound, and it looks at the subject */
};

/*
 * What the session wants of each event. The switches say so, but where the records have a context, which is put
 * in here: all that are on are "checked" there.
 */
static const uint8_t *decisions;

static uint8_t *states; /* of each granule in which a copy begins */
static uint32_t copies_bytes;

/* What the short way needs, in one line of the cache. */
static struct {
	const struct wire_check *checks;
	/*
	 * Of each event the offset of its filter, once its copy is known to be sound, for this event's types, and one
	 * that need not be told who passes; 0: not yet. In a session whose records have a context, never.
	 */
	uint32_t *ready;
	char *copies; /* of the session's filters */
} quick;

/* ---- Samples and limits ---- */

static bool within_limit(struct wire_check *check, uint32_t limit)
{
	struct timespec now;
	uint64_t seen = __atomic_load_n(&check->window, __ATOMIC_RELAXED), next;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	do {
		bool same = (uint32_t)(seen >> 32) == (uint32_t)now.tv_sec;

		if (same && (uint32_t)seen >= limit)
			return false;
		next = same ? seen + 1 : (uint64_t)(uint32_t)now.tv_sec << 32 | 1;
	} while (!__atomic_compare_exchange_n(&check->window, &seen, next, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

static bool sampled(struct wire_check *check, uint32_t sample)
{
	return __atomic_fetch_add(&check->passed, 1, __ATOMIC_RELAXED) % sample == 0;
}

/* Out of the way of a filter that lets nothing pass: its caller has fewer registers to save. */
static __attribute__((noinline)) bool passes_counts(const struct burin_site *site)
{
	struct wire_check *check = &user_session.checks[site->id - 1];
	const uint32_t sample = __atomic_load_n(&check->sample, __ATOMIC_RELAXED);
	const uint32_t limit = __atomic_load_n(&check->limit, __ATOMIC_RELAXED);

	if (sample > 1 && !sampled(check, sample)) {
		__atomic_fetch_add(&check->sampled_out, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (limit && !within_limit(check, limit)) {
		__atomic_fetch_add(&check->limited, 1, __ATOMIC_RELAXED);
		return false;
	}
	return true;
}

/* ---- Filters ---- */

static void who_passes(struct filter_subject *subject)
{
	if (__builtin_expect(user_thread.self_tid == 0, 0)) {
		user_thread.self_pid = plain_pid();
		user_thread.self_tid = plain_tid();
	}
	subject->pid = user_thread.self_pid;
	subject->tid = user_thread.self_tid;
	subject->depth = user_context.depth;
	subject->correlation = user_context.correlation;
#if RING_HAVE_RSEQ
	if (__rseq_size != 0) {
		subject->cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
		return;
	}
#endif
	subject->cpu = (uint32_t)sched_getcpu();
}

static bool asks_who(const struct wire_filter *filter)
{
	for (unsigned n = 0; n < filter->tests; n++)
		if (filter->test[n].op >= WIRE_FILTER_SUBJECT)
			return true;
	return false;
}

/*
 * The first time: copy, verify, and run what was verified, which lies on this thread's stack. One thread keeps it
 * for all; others that come meanwhile do without.
 */
static __attribute__((noinline, cold)) bool passes_anew(uint32_t offset, uint64_t types, const void *payload,
							size_t payload_bytes,
							const struct filter_subject *subject)
{
	_Alignas(struct wire_filter) char program[WIRE_FILTER_MAX];
	uint8_t *state = &states[offset / WIRE_FILTER_ALIGN], absent = COPY_ABSENT;
	uint16_t bytes;

	memcpy(&bytes, user_session.filters + offset + offsetof(struct wire_filter, bytes), sizeof(bytes));
	if (bytes > sizeof(program))
		return false;
	memcpy(program, user_session.filters + offset, bytes);
	if (filter_verify(program, bytes, types) != 0)
		return false;
	if (__atomic_compare_exchange_n(state, &absent, COPY_BEGUN, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED)) {
		memcpy(quick.copies + offset, program, bytes);
		/* Release: the copy is whole. Pairs with the acquire in passes_who(). */
		__atomic_store_n(state,
				 asks_who((const struct wire_filter *)program) ? COPY_ASKS_WHO : COPY_SOUND,
				 __ATOMIC_RELEASE);
	}
	return filter_passes((const struct wire_filter *)program, payload, (uint32_t)payload_bytes, subject);
}

/* The first times, and those that ask who passes. */
static __attribute__((noinline)) bool passes_who(uint32_t offset, const struct burin_site *site,
						 const void *payload, size_t payload_bytes)
{
	const struct wire_filter *filter = (const struct wire_filter *)(quick.copies + offset);
	struct filter_subject subject;
	uint8_t state;

	/* Whatever has become of the offset: the copies end with room for a whole program. */
	if (offset % WIRE_FILTER_ALIGN || offset > copies_bytes - WIRE_FILTER_MAX)
		return false;
	who_passes(&subject);
	/* Acquire pairs with the release in passes_anew(). */
	state = __atomic_load_n(&states[offset / WIRE_FILTER_ALIGN], __ATOMIC_ACQUIRE);
	if (state < COPY_SOUND || filter->types != site->types)
		return passes_anew(offset, site->types, payload, payload_bytes, &subject);
	if (state == COPY_SOUND && !user_session.geometry.context)
		/* Release: the copy is whole. Pairs with the acquire in check_emit(). */
		__atomic_store_n(&quick.ready[site->id - 1], offset, __ATOMIC_RELEASE);
	return filter_passes(filter, payload, (uint32_t)payload_bytes, &subject);
}

bool check_begin(const struct session *session)
{
	const uint64_t bytes = session->geometry.filters_bytes, granules = bytes / WIRE_FILTER_ALIGN;
	/* Not malloc: the program may have an allocator of its own that traces. Memory comes with use. */
	char *memory = mmap(NULL, bytes + granules + session->geometry.events_max * sizeof(*quick.ready),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	decisions = session->geometry.context ? session->wants : session->switches;
	quick.checks = session->checks;
	quick.copies = memory;
	copies_bytes = (uint32_t)bytes;
	quick.ready = (uint32_t *)(memory + bytes);
	states = (uint8_t *)(quick.ready + session->geometry.events_max);
	return true;
}

/* Whether the session wants it recorded. */
static inline bool passes(const struct burin_site *site, const void *payload, size_t payload_bytes)
{
	uint32_t filter;

	/* Acquire: who sees the byte sees the check. Pairs with the releases in carry_out() and take_effect(). */
	switch (__atomic_load_n(&decisions[site->id - 1], __ATOMIC_ACQUIRE)) {
	case WIRE_ON:
		return true;
	case WIRE_CHECKED:
		filter = __atomic_load_n(&user_session.checks[site->id - 1].filter, __ATOMIC_ACQUIRE);
		return (!filter || passes_who(filter, site, payload, payload_bytes)) && passes_counts(site);
	default:
		return false;
	}
}

static __attribute__((noinline)) void emit_in_context(struct burin_site *site, const void *buffer,
						      size_t payload_bytes)
{
	context_before(site);
	if (!buffer || passes(site, (const char *)buffer + WIRE_HEADROOM, payload_bytes))
		context_emit(site, buffer, payload_bytes);
	context_after(site);
}

/* All other ways: a callback, with a session or without; a record too large to look at; a context; other filters. */
static __attribute__((noinline)) void emit_oddly(struct burin_site *site, void *buffer, size_t payload_bytes)
{
	const char *payload = (const char *)buffer + WIRE_HEADROOM;

	if (buffer)
		callback_call(site, payload, payload_bytes);
	if (!user_session.base || site->id == 0 ||
	    __atomic_load_n(&user_session.switches[site->id - 1], __ATOMIC_RELAXED) == WIRE_OFF)
		return;
	if (user_session.geometry.context)
		emit_in_context(site, buffer, payload_bytes);
	else if (!buffer || passes(site, payload, payload_bytes))
		burin_emit(site, WIRE_ON, buffer, payload_bytes);
}

static __attribute__((noinline)) void emit_counted(struct burin_site *site, void *buffer,
						   size_t payload_bytes)
{
	if (passes_counts(site))
		burin_emit(site, WIRE_ON, buffer, payload_bytes);
}

/* No function is called but at the end, so that nothing has to be saved for a filter that says no. */
void check_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes)
{
	const char *payload = (const char *)buffer + WIRE_HEADROOM;
	unsigned verdict;
	uint32_t filter;

	if (__builtin_expect(state == WIRE_CHECKED && buffer != NULL, 1)) {
		/* Who sees the switch sees the check. Pairs with the release in take_effect(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		filter = __atomic_load_n(&quick.checks[site->id - 1].filter, __ATOMIC_RELAXED);
		if (__builtin_expect(
			    filter && filter == __atomic_load_n(&quick.ready[site->id - 1], __ATOMIC_ACQUIRE),
			    1)) {
			verdict = filter_quick((const struct wire_filter *)(quick.copies + filter), payload,
					       (uint32_t)payload_bytes);
			if (__builtin_expect(verdict == WIRE_FILTER_NO, 1))
				return;
			if (verdict == WIRE_FILTER_YES) {
				emit_counted(site, buffer, payload_bytes);
				return;
			}
		}
	}
	emit_oddly(site, buffer, payload_bytes);
}
