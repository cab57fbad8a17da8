/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Transactions: change states, conditions, rules and sizes.
 *
 * A process that changes anything, or registers events, holds events_lock; so no event misses both the rules and the
 * switches. A transaction has three states, which `changes` distinguishes:
 *
 *	none		even
 *	prepared	even: the lock's owner writes the journal. If it dies, the next one begins again
 *	committed	odd: the owner carries it out. If it dies, the next one does that first
 *
 * The commit is one store. The steps of carry_out() may be repeated: they store values of the journal, and none
 * depends on what it changes. A ring's count of changes would, so carry_out_size() leaves a ring alone that has its
 * size. Entries of the history (history.h) are part of the transaction.
 *
 * `desired` has the states that count. `switches`, which tracepoints load, follow from them and come last. So a
 * tracepoint that is on finds its condition complete: the releases in carry_out() and take_effect() pair with the
 * acquire in passes() (event_filter.c).
 *
 * A listing reads without the lock (control/listing.c): it loads `changes` before and after, and reads again if they
 * differ or are odd. The release of the last store pairs with its first load, the fence behind the commit with the
 * one before its second.
 *
 * Any process of the user may have written the journal. So carry_out() checks the number of entries, each id and the
 * size, and a state that does not exist is off. The kernel checks the same of what a command sends to its session
 * (kernel/control.c).
 *
 * tests/model/switch.pml has shown that each of these rules is needed; decision 0011 has what failed without them.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/nolibc.h"
#include "ring/lock.h"
#include "session/events/event_condition.h"
#include "session/events/history.h"
#include "session/events/transaction.h"

enum {
	CHANGES_WAIT_MS = 1000,
};

static bool transaction_take_lock(struct session *session)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	const uint32_t tid = nolibc_tid();

	for (int waited = 0; waited < CHANGES_WAIT_MS; waited++) {
		if (lock_take(&session->shared->events_lock, tid))
			return true;
		lock_break_stale(&session->shared->events_lock);
		nanosleep(&pause, NULL);
	}
	return false;
}

static void take_effect(struct session *session, uint32_t index)
{
	const struct wire_session *shared = session->shared;
	uint8_t state = session->desired[index];

	if (__atomic_load_n(&shared->over, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&shared->paused, __ATOMIC_RELAXED) || state > WIRE_CONDITIONAL)
		state = WIRE_OFF;
	if (state == WIRE_ON && session->geometry.context) /* the fast path adds none */
		state = WIRE_CONDITIONAL;
	/* Release: the condition is complete. Pairs with the acquire in passes(). */
	__atomic_store_n(&session->switches[index], state, __ATOMIC_RELEASE);
}

/* A ring that already has the size is left alone: its count of changes must not grow when this is repeated. */
static void carry_out_size(struct session *session)
{
	const uint64_t packets = session->shared->journal_size;

	if (packets < WIRE_RING_PACKETS_MIN || packets > session->geometry.ring_packets)
		return;
	for (unsigned n = 0; n < session_names_index(session); n++) {
		uint64_t *size = &session->rings[n].control->size;
		const uint64_t before = __atomic_load_n(size, __ATOMIC_RELAXED);

		/* Release: memory that the last resize freed is gone before a writer may use it again. */
		if ((uint32_t)before != packets)
			__atomic_store_n(size,
					 ((before >> WIRE_RING_CHANGES_SHIFT) + 1)
							 << WIRE_RING_CHANGES_SHIFT |
						 packets,
					 __ATOMIC_RELEASE);
	}
}

static void carry_out(struct session *session)
{
	const uint32_t count = session_event_count(session);
	struct wire_session *shared = session->shared;
	uint32_t entries = shared->journal_count < count ? shared->journal_count : count;

	history_stamp(session);
	memcpy(shared->rules, shared->journal_rules, WIRE_RULES_MAX);
	carry_out_size(session);
	__atomic_store_n(&shared->paused, shared->journal_paused, __ATOMIC_RELAXED);
	for (uint32_t n = 0; n < entries; n++) {
		const struct wire_journal_entry entry = session->journal[n];
		struct wire_condition *condition = &session->conditions[entry.id - 1];

		if (entry.id == 0 || entry.id > count)
			continue;
		if (entry.conditional) {
			__atomic_store_n(&condition->sample, entry.sample, __ATOMIC_RELAXED);
			__atomic_store_n(&condition->limit, entry.limit, __ATOMIC_RELAXED);
			/* Release: the program is complete. Pairs with the acquire in passes()
			 * (source/tracepoint/event_filter.c). */
			__atomic_store_n(&condition->filter, entry.filter, __ATOMIC_RELEASE);
		}
		/* Release: the condition is complete. Pairs with the acquire in passes(). */
		__atomic_store_n(&session->desired[entry.id - 1], entry.desired, __ATOMIC_RELEASE);
	}
	for (uint32_t n = 0; n < count; n++)
		take_effect(session, n);
	history_publish(session);
	/* Release: even again, after all stores of the transaction. */
	__atomic_store_n(&shared->changes, (shared->changes | 1) + 1, __ATOMIC_RELEASE);
}

int transaction_begin_table(struct session *session)
{
	if (!transaction_take_lock(session))
		return -ETIMEDOUT;
	if (__atomic_load_n(&session->shared->changes, __ATOMIC_RELAXED) & 1)
		carry_out(session);
	return 0;
}

void transaction_end_table(struct session *session)
{
	lock_drop(&session->shared->events_lock);
}

int session_change_begin(struct session *session)
{
	int error = session->device ? session->device->begin(session) : transaction_begin_table(session);
	struct wire_session *shared = session->shared;

	if (error)
		return error;
	shared->journal_count = 0;
	shared->journal_paused = shared->paused;
	shared->journal_size = 0;
	history_begin(session);
	memcpy(shared->journal_rules, shared->rules, WIRE_RULES_MAX);
	return 0;
}

void session_change_cancel(struct session *session)
{
	if (session->device)
		session->device->cancel(session);
	else
		transaction_end_table(session);
}

int session_change_commit(struct session *session)
{
	history_end(session);
	if (session->device)
		return session->device->commit(session);
	/* Release: the journal is complete. A process that finds `changes` odd after this one died has acquired the lock. */
	__atomic_store_n(&session->shared->changes, session->shared->changes | 1, __ATOMIC_RELEASE);
	/* Odd comes before the changes. Pairs with the acquire fence before a listing's second load. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	carry_out(session);
	transaction_end_table(session);
	return 0;
}

int session_change(struct session *session, uint16_t id, enum wire_switch desired,
		   const struct wire_condition *condition)
{
	const uint32_t index = session->shared->journal_count;
	struct wire_journal_entry *entry = &session->journal[index];
	struct wire_condition *own = &session->conditions[id - 1];

	if (index >= session->geometry.events_max ||
	    !session_have_memory(session, (uint64_t)((char *)entry - session->base), sizeof(*entry)) ||
	    (condition &&
	     !session_have_memory(session, (uint64_t)((char *)own - session->base), sizeof(*own))))
		return -ENOSPC;
	history_event(session, id, desired, condition);
	*entry = (struct wire_journal_entry){ .id = id,
					      .desired = (uint8_t)desired,
					      .conditional = condition != NULL };
	if (condition) {
		entry->filter = condition->filter;
		entry->sample = condition->sample;
		entry->limit = condition->limit;
	}
	session->shared->journal_count = index + 1;
	return 0;
}

void session_change_paused(struct session *session, bool paused)
{
	if (paused != (session->shared->paused != 0))
		history_draft(session, paused ? WIRE_CHANGE_PAUSE : WIRE_CHANGE_RESUME);
	session->shared->journal_paused = paused;
}

void session_change_size(struct session *session, uint32_t packets)
{
	struct wire_change *change = NULL;

	if (packets != ring_size(&session->rings[0]))
		change = history_draft(session, WIRE_CHANGE_SIZE);
	if (change)
		change->value = (uint64_t)packets * session->geometry.packet_bytes;
	session->shared->journal_size = packets;
}

void transaction_new_event(struct session *session, uint32_t index, const struct session_event *event)
{
	session->desired[index] =
		session->shared->rules[0] ? (uint8_t)event_state_by_rules(session, index, event) : WIRE_OFF;
	take_effect(session, index);
}

int session_switch_glob(struct session *session, const char *glob, enum wire_switch desired, unsigned level,
			unsigned *matched)
{
	const struct session_rule rule = { .state = desired, .level = level, .where = "" };
	int error = session_change_begin(session);

	*matched = 0;
	if (error)
		return error;
	error = session_change_rule(session, glob, &rule);
	for (uint32_t n = 0; !error && n < session_event_count(session); n++) {
		const struct wire_event *event = &session->entries[n];
		char name[WIRE_NAME_MAX + 1];

		session_event_copy(session, event->name, name, sizeof(name));
		if (!glob_match(glob, name) || (desired != WIRE_OFF && event->level > level))
			continue;
		error = session_change(session, (uint16_t)(n + 1), desired, NULL);
		++*matched;
	}
	if (error)
		session_change_cancel(session);
	return error ? error : session_change_commit(session);
}

void session_end(struct session *session)
{
	__atomic_store_n(&session->shared->over, 1, __ATOMIC_RELAXED);
	/* Desired states and rules stay: the history of the trace, which ends after this, has them. */
	if (session_change_begin(session) == 0)
		session_change_commit(session);
	/* Even if the lock could not be taken: nothing is recorded any more. */
	memset(session->switches, WIRE_OFF, session_event_count(session));
}
