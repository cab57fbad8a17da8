/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Conditions; see event_filter.h.
 *
 * A filter is a program in the session, and any process that may write the session may corrupt it. So it is copied to
 * private memory and verified there, and only the copy is run. Programs never change and never move, so each is copied
 * once, to the same offset, for all events with the same filter.
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/nolibc.h"
#include "ring/section_rseq.h"
#include "filter/filter.h"
#include "session/events/condition_counts.h"
#include "wire/wire_names.h"
#include "source/tracepoint/callback.h"
#include "source/tracepoint/commit.h"
#include "source/tracepoint/event_filter.h"
#include "source/tracepoint/record_context.h"
#include "source/tracepoint/fields/site_types.h"
#include "source/tracepoint/thread.h"

enum {
	COPY_ABSENT,
	COPY_BEGUN,
	COPY_VALID,
	COPY_TESTS_SUBJECT, /* valid, and it tests the subject ... */
	COPY_TESTS_NAMES    /* ... also its names */
};

/* Room for names that are not kept, of one filter's run. */
struct subject_names {
	char thread[SESSION_THREAD_NAME], program[WIRE_NAME_TEXT_MAX + 1];
};

/*
 * The state of each event: the session's switches. If records have a context it is `desired` instead, because there the
 * switches of all events that are on are WIRE_CONDITIONAL, so that the context is added here.
 */
static const uint8_t *decisions;

static uint8_t *states; /* of each granule in which a copy begins */
static uint32_t copies_bytes;

/* The data of the fast path, in one cache line. */
static struct {
	const struct wire_condition *conditions;
	/*
	 * The offset of each event's filter, if its copy is valid for this event's types and does not test the subject;
	 * 0: not yet. Always 0 in a session with a context.
	 */
	uint32_t *ready;
	char *copies; /* of the session's filters */
} quick;

/* ---- Samples and limits ---- */

static uint32_t present_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)now.tv_sec;
}

/* Not inlined: so the caller saves fewer registers when a filter rejects the event. */
static __attribute__((noinline)) bool passes_counts(const struct burin_site *site)
{
	return !commit_is_forbidden() &&
	       condition_counts_pass(&tracepoint_session.conditions[site->id - 1], present_second);
}

/* ---- Filters ---- */

static void fill_subject(struct filter_subject *subject)
{
	tracepoint_notice_fork();
	if (__builtin_expect(tracepoint_thread.self_tid == 0, 0)) {
		tracepoint_thread.self_pid = tracepoint_thread.in_vfork ? nolibc_pid() : session_self();
		tracepoint_thread.self_tid = tracepoint_thread_self();
	}
	subject->pid = tracepoint_thread.self_pid;
	subject->tid = tracepoint_thread.self_tid;
	subject->depth = tracepoint_thread.context.depth;
	subject->correlation = tracepoint_thread.context.correlation;
#if RING_HAVE_RSEQ
	if (__rseq_size != 0) {
		subject->cpu = __atomic_load_n(&section_rseq()->cpu_id_start, __ATOMIC_RELAXED);
		return;
	}
#endif
	subject->cpu = (uint32_t)sched_getcpu();
}

/*
 * The calling thread's name: the one that its records have in the trace, so a write to /proc/self/comm is not noticed, either. A system
 * call may take a microsecond, so the name is kept until a thread of the process is renamed. A child of vfork has its parent's memory,
 * and a name of its own.
 */
static const char *own_name(struct subject_names *names)
{
	struct tracepoint_thread *self = &tracepoint_thread;
	/* Acquire: the kernel has the new name. Pairs with the releases in thread.c. */
	const uint32_t renames = __atomic_load_n(&tracepoint_renames, __ATOMIC_ACQUIRE);

	if (ring_silent && *self->name)
		return self->name;
	if (self->in_vfork) {
		session_thread_name(names->thread);
		return names->thread;
	}
	if (self->own_renames != renames) {
		session_thread_name(self->own_name);
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* for a signal handler that comes in between */
		self->own_renames = renames;
	}
	return self->own_name;
}

/* The program's name, kept by the first thread that needs it: it stays until an exec, which loads the library again. */
static const char *program_name(struct subject_names *names)
{
	static char kept[WIRE_NAME_TEXT_MAX + 1];
	static uint8_t state;
	uint8_t absent = COPY_ABSENT;

	/* Acquire pairs with the release below: the name is whole. */
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == COPY_VALID)
		return kept;
	session_program_name(names->program, sizeof(names->program));
	if (!tracepoint_thread.in_vfork && __atomic_compare_exchange_n(&state, &absent, COPY_BEGUN, false,
								       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		memcpy(kept, names->program, sizeof(kept));
		__atomic_store_n(&state, COPY_VALID, __ATOMIC_RELEASE);
	}
	return names->program;
}

static __attribute__((noinline)) void fill_names(const struct wire_filter *filter,
						 struct filter_subject *subject, struct subject_names *names)
{
	const unsigned facts = filter_facts(filter);

	if (facts & FILTER_THREAD)
		subject->thread = own_name(names);
	if (facts & FILTER_PROGRAM)
		subject->program = program_name(names);
}

static uint8_t copy_state(const struct wire_filter *filter)
{
	const unsigned facts = filter_facts(filter);

	return facts & FILTER_NAMES ? COPY_TESTS_NAMES : facts ? COPY_TESTS_SUBJECT : COPY_VALID;
}

/*
 * The first use of a filter: copy it to this thread's stack, verify the copy, and run it. One thread keeps its copy for
 * all threads; others do not wait for it.
 */
static __attribute__((noinline, cold)) bool passes_first(uint32_t offset, uint64_t types, const void *payload,
							 size_t payload_bytes, struct filter_subject *subject)
{
	_Alignas(struct wire_filter) char program[WIRE_FILTER_MAX];
	struct subject_names names;
	uint8_t *state = &states[offset / WIRE_FILTER_ALIGN], absent = COPY_ABSENT;
	uint16_t bytes;

	memcpy(&bytes, tracepoint_session.filters + offset + offsetof(struct wire_filter, bytes),
	       sizeof(bytes));
	if (bytes > sizeof(program))
		return false;
	memcpy(program, tracepoint_session.filters + offset, bytes);
	if (filter_verify(program, bytes, types) != 0)
		return false;
	if (__atomic_compare_exchange_n(state, &absent, COPY_BEGUN, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED)) {
		memcpy(quick.copies + offset, program, bytes);
		/* Release: the copy is whole. Pairs with the acquire in passes_filter(). */
		__atomic_store_n(state, copy_state((const struct wire_filter *)program), __ATOMIC_RELEASE);
	}
	if (copy_state((const struct wire_filter *)program) == COPY_TESTS_NAMES)
		fill_names((const struct wire_filter *)program, subject, &names);
	return filter_passes((const struct wire_filter *)program, payload, (uint32_t)payload_bytes, subject);
}

static __attribute__((noinline)) bool passes_names(const struct wire_filter *filter, const void *payload,
						   size_t payload_bytes, struct filter_subject *subject)
{
	struct subject_names names;

	fill_names(filter, subject, &names);
	return filter_passes(filter, payload, (uint32_t)payload_bytes, subject);
}

/* The slow path of filters: the first uses, and filters that test the subject. */
static __attribute__((noinline)) bool passes_filter(uint32_t offset, const struct burin_site *site,
						    const void *payload, size_t payload_bytes)
{
	const struct wire_filter *filter = (const struct wire_filter *)(quick.copies + offset);
	const uint64_t types = site_types_of_records(site->types);
	struct filter_subject subject;
	uint8_t state;

	/* The offset may be corrupt: there must be room for a whole program behind it. */
	if (offset % WIRE_FILTER_ALIGN || offset > copies_bytes - WIRE_FILTER_MAX)
		return false;
	subject = (struct filter_subject){ .thread = NULL };
	fill_subject(&subject);
	/* Acquire pairs with the release in passes_first(). */
	state = __atomic_load_n(&states[offset / WIRE_FILTER_ALIGN], __ATOMIC_ACQUIRE);
	if (state < COPY_VALID || filter->types != types)
		return passes_first(offset, types, payload, payload_bytes, &subject);
	if (state == COPY_TESTS_NAMES)
		return passes_names(filter, payload, payload_bytes, &subject);
	if (state == COPY_VALID && !tracepoint_session.geometry.context)
		/* Release: the copy is whole. Pairs with the acquire in event_filter_emit(). */
		__atomic_store_n(&quick.ready[site->id - 1], offset, __ATOMIC_RELEASE);
	return filter_passes(filter, payload, (uint32_t)payload_bytes, &subject);
}

bool event_filter_begin(const struct session *session)
{
	const uint64_t bytes = session->geometry.filters_bytes, granules = bytes / WIRE_FILTER_ALIGN;
	/* Not malloc: the program's own allocator may have tracepoints. Pages are allocated when they are used. */
	char *memory = mmap(NULL, bytes + granules + session->geometry.events_max * sizeof(*quick.ready),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	decisions = session->geometry.context ? session->desired : session->switches;
	quick.conditions = session->conditions;
	quick.copies = memory;
	copies_bytes = (uint32_t)bytes;
	quick.ready = (uint32_t *)(memory + bytes);
	states = (uint8_t *)(quick.ready + session->geometry.events_max);
	return true;
}

/* Whether the event is recorded: its state, then its condition. */
static inline bool passes(const struct burin_site *site, const void *payload, size_t payload_bytes)
{
	uint32_t filter;

	/* Acquire: a thread that sees the state sees the condition. Pairs with the releases in carry_out() and
	 * take_effect(). */
	switch (__atomic_load_n(&decisions[site->id - 1], __ATOMIC_ACQUIRE)) {
	case WIRE_ON:
		return true;
	case WIRE_CONDITIONAL:
		filter = __atomic_load_n(&tracepoint_session.conditions[site->id - 1].filter,
					 __ATOMIC_ACQUIRE);
		return (!filter || passes_filter(filter, site, payload, payload_bytes)) &&
		       passes_counts(site);
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

/* The slow path: a callback, with a session or without; a record that is too large; a context; other filters. */
static __attribute__((noinline)) void emit_conditional(struct burin_site *site, void *buffer,
						       size_t payload_bytes)
{
	const char *payload = (const char *)buffer + WIRE_HEADROOM;

	if (buffer)
		callback_call(site, payload, payload_bytes);
	if (!tracepoint_session.base || site->id == 0 ||
	    __atomic_load_n(&tracepoint_session.switches[site->id - 1], __ATOMIC_RELAXED) == WIRE_OFF ||
	    commit_is_forbidden())
		return;
	if (tracepoint_session.geometry.context)
		emit_in_context(site, buffer, payload_bytes);
	else if (!buffer || passes(site, payload, payload_bytes))
		commit_record(site, buffer, payload_bytes);
}

static __attribute__((noinline)) void emit_counted(struct burin_site *site, void *buffer,
						   size_t payload_bytes)
{
	if (passes_counts(site))
		commit_record(site, buffer, payload_bytes);
}

/* It calls functions only at its end, so that no register has to be saved if a filter rejects the event. */
void event_filter_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes)
{
	const char *payload = (const char *)buffer + WIRE_HEADROOM;
	unsigned verdict;
	uint32_t filter;

	if (__builtin_expect(state == WIRE_CONDITIONAL && buffer != NULL, 1)) {
		/* Acquire: a thread that sees the switch sees the condition. Pairs with the release in take_effect(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		filter = __atomic_load_n(&quick.conditions[site->id - 1].filter, __ATOMIC_RELAXED);
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
	emit_conditional(site, buffer, payload_bytes);
}
