/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Entries of the history; see history.h. */
#include <string.h>
#include <sys/prctl.h>

#include "base/nolibc.h"
#include "ring/ring_deps.h"
#include "session/events/history.h"

static struct wire_change *history_slot_of(const struct session *session, uint64_t number)
{
	return (struct wire_change *)(session->history +
				      number % WIRE_CHANGES *
					      wire_change_bytes(session->geometry.events_max));
}

void history_begin(struct session *session)
{
	session->shared->journal_history = session->shared->history;
	session->draft = (struct session_draft){ .used = 0 };
}

static struct wire_change *history_make(struct session *session, uint64_t number, enum wire_change_kind kind)
{
	const uint64_t bytes = wire_change_bytes(session->geometry.events_max);
	struct wire_change *change = history_slot_of(session, number);

	if (!session_have_memory(session, (uint64_t)((char *)change - session->base), bytes))
		return NULL;
	/* Release: a reader that sees any later store also sees that the number has changed. Pairs with its fence. */
	__atomic_store_n(&change->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memset((char *)change + sizeof(change->number), 0, bytes - sizeof(change->number));
	change->pid = nolibc_pid();
	change->tid = nolibc_tid();
	change->uid = nolibc_user();
	change->kind = kind;
	prctl(PR_GET_NAME, change->program, 0, 0, 0);
	if (session->command)
		nolibc_text(&(struct nolibc_string){ change->command, sizeof(change->command), 0, false },
			    session->command);
	/* Release: the entry is complete, but for text and events, which no reader uses before history_publish(). */
	__atomic_store_n(&change->number, number, __ATOMIC_RELEASE);
	return change;
}

struct wire_change *history_draft(struct session *session, enum wire_change_kind kind)
{
	struct session_draft *draft = &session->draft;
	struct wire_change *change = NULL;

	/* session_end() switches everything off when no reader is left; that is not a change. */
	if (session->shared->over)
		return NULL;
	if (draft->entry[kind])
		return history_slot_of(session, session->shared->history + draft->entry[kind]);
	if (draft->count < WIRE_CHANGES_AT_ONCE)
		change = history_make(session, session->shared->history + draft->count + 1, kind);
	if (change)
		draft->entry[kind] = ++draft->count;
	else
		__atomic_fetch_add(&session->shared->history_lost, 1, __ATOMIC_RELAXED);
	return change;
}

static bool history_is_same(const struct wire_condition *one, const struct wire_condition *other)
{
	return one->filter == other->filter && one->sample == other->sample && one->limit == other->limit;
}

void history_event(struct session *session, uint16_t id, enum wire_switch desired,
		   const struct wire_condition *condition)
{
	const uint8_t before = session->desired[id - 1];
	enum wire_change_kind kinds[2];
	unsigned count = 0;

	if (!wire_is_on((uint8_t)desired) && wire_is_on(before))
		kinds[count++] = WIRE_CHANGE_OFF;
	if (wire_is_on((uint8_t)desired) && !wire_is_on(before))
		kinds[count++] = WIRE_CHANGE_ON;
	if (desired == WIRE_CONDITIONAL &&
	    (before != WIRE_CONDITIONAL ||
	     (condition && !history_is_same(condition, &session->conditions[id - 1]))))
		kinds[count++] = WIRE_CHANGE_FILTER;
	if (desired == WIRE_ON && before == WIRE_CONDITIONAL)
		kinds[count++] = WIRE_CHANGE_PLAIN;
	for (unsigned n = 0; n < count; n++) {
		struct wire_change *change = history_draft(session, kinds[n]);
		char *bits = (char *)(change + 1);

		if (!change || bits[(id - 1) / 8] & 1 << (id - 1) % 8)
			continue;
		bits[(id - 1) / 8] |= (char)(1 << (id - 1) % 8);
		change->events++;
	}
}

void history_text(struct session *session, const char *text)
{
	struct session_draft *draft = &session->draft;
	struct nolibc_string out = { draft->text, sizeof(draft->text), draft->used, false };

	if (draft->used)
		nolibc_text(&out, " ");
	nolibc_text(&out, text);
	draft->used = out.used;
}

void history_end(struct session *session)
{
	struct wire_session *shared = session->shared;
	struct session_draft *draft = &session->draft;

	if (draft->rules && !draft->count &&
	    memcmp(shared->rules, shared->journal_rules, WIRE_RULES_MAX) != 0)
		history_draft(session, WIRE_CHANGE_RULE);
	for (unsigned n = 1; n <= draft->count; n++)
		memcpy(history_slot_of(session, shared->history + n)->text, draft->text, sizeof(draft->text));
	shared->journal_history = shared->history + draft->count;
}

/* The number of the last change of the transaction; the present one if the journal's is not possible. */
static uint64_t next_history(const struct session *session)
{
	const uint64_t last = session->shared->history, next = session->shared->journal_history;

	return next - last <= WIRE_CHANGES_AT_ONCE ? next : last;
}

void history_stamp(struct session *session)
{
	const uint64_t next = next_history(session);

	for (uint64_t number = session->shared->history + 1; number <= next; number++) {
		struct wire_change *change = history_slot_of(session, number);

		if (!session_have_memory(session, (uint64_t)((char *)change - session->base),
					 sizeof(*change)))
			continue;
		if (!change->time)
			change->time = ring_clock();
	}
}

void history_publish(struct session *session)
{
	/* Release: the entries are complete. Pairs with the acquire in history_last() (drain/changelog.c). */
	__atomic_store_n(&session->shared->history, next_history(session), __ATOMIC_RELEASE);
}
