/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changing what events do: switches, checks, standing rules.
 *
 * Whoever changes anything holds events_lock, as those do who register events: so no event falls between the
 * rules and the switches. A change is written down first, as an intent, while `changes` is even. That `changes`
 * becomes odd is its commit; then it is carried out, in a way that may be repeated, and `changes` becomes even
 * again. Who gets the lock and finds it odd carries out what a dead predecessor began. `wants` is what counts;
 * `switches`, which tracepoints look at, follow from it and come last.
 *
 * tests/model/switch.pml has shown that each of these is needed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/plain.h"
#include "ring/lock.h"
#include "session/changes.h"
#include "wire/filter.h"

enum {
	CHANGES_WAIT_MS = 1000,
};

static bool take_lock(struct session *session)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	const uint32_t tid = plain_tid();

	for (int waited = 0; waited < CHANGES_WAIT_MS; waited++) {
		if (lock_take(&session->shared->events_lock, tid))
			return true;
		lock_bury(&session->shared->events_lock);
		nanosleep(&pause, NULL);
	}
	return false;
}

uint32_t session_event_count(const struct session *session)
{
	/* Acquire: entry, text and switch are there. Pairs with the release in add_event(). */
	uint32_t count = __atomic_load_n(&session->events->count, __ATOMIC_ACQUIRE);

	return count < session->geometry.events_max ? count : session->geometry.events_max;
}

const char *session_event_text(const struct session *session, uint32_t offset)
{
	const uint64_t room = session->geometry.text_bytes;

	if (offset >= room || strnlen(session->text + offset, room - offset) == room - offset)
		return "?";
	return session->text + offset;
}

static void take_effect(struct session *session, uint32_t index)
{
	bool stopped = __atomic_load_n(&session->shared->stopped, __ATOMIC_RELAXED);
	uint8_t want = session->wants[index];

	if (stopped || want > WIRE_CHECKED)
		want = WIRE_OFF;
	/* The straight way knows no context. */
	if (want == WIRE_ON && session->geometry.context)
		want = WIRE_CHECKED;
	/* Release: the check is there. Pairs with the acquire in passes(). */
	__atomic_store_n(&session->switches[index], want, __ATOMIC_RELEASE);
}

static void carry_out(struct session *session)
{
	const uint32_t count = session_event_count(session);
	struct wire_session *shared = session->shared;
	uint32_t intents = shared->intents < count ? shared->intents : count;

	memcpy(shared->rules, shared->intent_rules, WIRE_RULES_MAX);
	__atomic_store_n(&shared->stopped, shared->intent_stopped, __ATOMIC_RELAXED);
	for (uint32_t n = 0; n < intents; n++) {
		const struct wire_intent intent = session->intents[n];
		struct wire_check *check = &session->checks[intent.id - 1];

		if (intent.id == 0 || intent.id > count)
			continue;
		if (intent.checked) {
			__atomic_store_n(&check->sample, intent.sample, __ATOMIC_RELAXED);
			__atomic_store_n(&check->limit, intent.limit, __ATOMIC_RELAXED);
			/* Release: the program is there. Pairs with the acquire in passes() (source/user/check.c). */
			__atomic_store_n(&check->filter, intent.filter, __ATOMIC_RELEASE);
		}
		/* Release: so is the check to who looks here. Pairs with the acquire in passes(). */
		__atomic_store_n(&session->wants[intent.id - 1], intent.want, __ATOMIC_RELEASE);
	}
	for (uint32_t n = 0; n < count; n++)
		take_effect(session, n);
	/* Even again, after all of it. */
	__atomic_store_n(&shared->changes, (shared->changes | 1) + 1, __ATOMIC_RELEASE);
}

int changes_begin_table(struct session *session)
{
	if (!take_lock(session))
		return -ETIMEDOUT;
	if (__atomic_load_n(&session->shared->changes, __ATOMIC_RELAXED) & 1)
		carry_out(session);
	return 0;
}

void changes_end_table(struct session *session)
{
	lock_drop(&session->shared->events_lock);
}

int session_change_begin(struct session *session)
{
	struct wire_session *shared = session->shared;
	int error = changes_begin_table(session);

	if (error)
		return error;
	shared->intents = 0;
	shared->intent_stopped = shared->stopped;
	memcpy(shared->intent_rules, shared->rules, WIRE_RULES_MAX);
	return 0;
}

void session_change_cancel(struct session *session)
{
	changes_end_table(session);
}

void session_change_commit(struct session *session)
{
	/* Release: the intent is complete. Who finds it odd after the death of its author has acquired the lock. */
	__atomic_store_n(&session->shared->changes, session->shared->changes | 1, __ATOMIC_RELEASE);
	/* And odd comes before the changes. Pairs with the acquire fence of a listing's second look. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	carry_out(session);
	changes_end_table(session);
}

int session_change(struct session *session, uint16_t id, enum wire_switch want,
		   const struct wire_check *check)
{
	const uint32_t place = session->shared->intents;
	struct wire_intent *intent = &session->intents[place];
	struct wire_check *own = &session->checks[id - 1];

	if (place >= session->geometry.events_max ||
	    !session_have_memory(session, (uint64_t)((char *)intent - session->base), sizeof(*intent)) ||
	    (check && !session_have_memory(session, (uint64_t)((char *)own - session->base), sizeof(*own))))
		return -ENOSPC;
	*intent = (struct wire_intent){ .id = id, .want = (uint8_t)want, .checked = check != NULL };
	if (check) {
		intent->filter = check->filter;
		intent->sample = check->sample;
		intent->limit = check->limit;
	}
	session->shared->intents = place + 1;
	return 0;
}

void session_change_stopped(struct session *session, bool stopped)
{
	session->shared->intent_stopped = stopped;
}

/*
 * The rules are memory that others may write: each ends where the area does, if not before.
 *
 * Of the rule at @at: its bytes with the NUL; 0: the list ends here.
 */
static size_t rule_bytes(const char *rules, size_t at)
{
	return at + 1 < WIRE_RULES_MAX && rules[at] ? strnlen(rules + at, WIRE_RULES_MAX - 1 - at) + 1 : 0;
}

static const char *rule_glob(const char *rule)
{
	return strnlen(rule, 3) == 3 ? rule + 3 : "";
}

const char *session_rule_find(const char *rules, const char *glob)
{
	for (size_t at = 0, bytes; (bytes = rule_bytes(rules, at)) != 0; at += bytes)
		if (bytes > 4 && bytes - 4 == strlen(glob) && memcmp(rules + at + 3, glob, bytes - 4) == 0)
			return rules + at;
	return NULL;
}

int session_change_rule(struct session *session, char sign, unsigned level, const char *glob)
{
	char *rules = session->shared->intent_rules, *end = rules + WIRE_RULES_MAX, *rule;
	const size_t need = strlen(glob) + 4;
	size_t at = 0, bytes;

	end[-1] = 0;
	/* A rule about the same glob has nothing more to say. */
	while ((rule = (char *)(uintptr_t)session_rule_find(rules, glob)) != NULL)
		memmove(rule, rule + need, (size_t)(end - rule) - need);
	if (!sign)
		return 0;
	while ((bytes = rule_bytes(rules, at)) != 0)
		at += bytes;
	if (WIRE_RULES_MAX - at < need + 1)
		return -ENOSPC;
	snprintf(rules + at, need, "%c%u:%s", sign, level % 10, glob);
	rules[at + need] = 0;
	return 0;
}

enum wire_switch session_rules_want(const char *rules, const char *name, unsigned level)
{
	enum wire_switch want = WIRE_OFF;

	for (size_t at = 0, bytes; (bytes = rule_bytes(rules, at)) != 0; at += bytes) {
		const char *rule = rules + at;

		if (glob_match(rule_glob(rule), name))
			want = rule[0] == '+' && level <= (unsigned)(rule[1] - '0') ? WIRE_ON : WIRE_OFF;
	}
	return want;
}

void changes_new_event(struct session *session, uint32_t index, const char *name, unsigned level)
{
	session->shared->rules[WIRE_RULES_MAX - 1] = 0;
	session->wants[index] = (uint8_t)session_rules_want(session->shared->rules, name, level);
	take_effect(session, index);
}

uint32_t session_filter_add(struct session *session, const void *program, uint32_t bytes)
{
	const uint64_t room = session->geometry.filters_bytes - WIRE_FILTER_MAX; /* any may be copied whole */
	uint32_t used = __atomic_load_n(&session->shared->filters_used, __ATOMIC_RELAXED);

	if (used < WIRE_FILTERS_FIRST || used % WIRE_FILTER_ALIGN || used > room || bytes == 0 ||
	    bytes > room - used)
		return 0;
	for (uint32_t at = WIRE_FILTERS_FIRST; at + bytes <= used; at += WIRE_FILTER_ALIGN)
		if (memcmp(session->filters + at, program, bytes) == 0)
			return at;
	if (!session_have_memory(session, session->geometry.filters_offset + used, bytes))
		return 0;
	/* The place is taken first: who dies here costs a place, and gives nobody the same. */
	__atomic_store_n(&session->shared->filters_used,
			 used + ((bytes + WIRE_FILTER_ALIGN - 1) & ~(uint32_t)(WIRE_FILTER_ALIGN - 1)),
			 __ATOMIC_RELEASE);
	memcpy(session->filters + used, program, bytes);
	return used;
}

int session_switch_glob(struct session *session, const char *glob, enum wire_switch want, unsigned level,
			unsigned *matched)
{
	int error = session_change_begin(session);

	*matched = 0;
	if (error)
		return error;
	error = session_change_rule(session, want == WIRE_OFF ? '-' : '+', level, glob);
	for (uint32_t n = 0; !error && n < session_event_count(session); n++) {
		const struct wire_event *event = &session->entries[n];

		if (!glob_match(glob, session_event_text(session, event->name)) ||
		    (want != WIRE_OFF && event->level > level))
			continue;
		error = session_change(session, (uint16_t)(n + 1), want, NULL);
		++*matched;
	}
	if (error)
		session_change_cancel(session);
	else
		session_change_commit(session);
	return error;
}

void session_end(struct session *session)
{
	__atomic_store_n(&session->shared->over, 1, __ATOMIC_RELAXED);
	if (session_change_begin(session) == 0) {
		session->shared->intent_rules[0] = 0;
		for (uint32_t n = 0; n < session_event_count(session); n++)
			if (session_change(session, (uint16_t)(n + 1), WIRE_OFF, NULL) != 0)
				session->wants[n] = WIRE_OFF;
		session_change_commit(session);
	}
	/* Whoever has the lock, or has spoiled it: nothing is recorded any more. */
	memset(session->switches, WIRE_OFF, session_event_count(session));
}
