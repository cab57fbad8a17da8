/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changing what events do: switches, checks, standing rules.
 *
 * Whoever changes anything holds events_lock, as those do who register events: so no event falls between the
 * rules and the switches. `changes` is odd meanwhile; a listing that finds it odd, or other than before, looks
 * again. A change that was cut short by its author's death is repaired by the next: `wants` is what counts, and
 * `switches` follow from it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/glob.h"
#include "ring/lock.h"
#include "session/changes.h"
#include "wire/filter.h"

enum {
	CHANGES_WAIT_MS = 1000,
};

static bool take_lock(struct session *session)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	const uint32_t tid = (uint32_t)gettid();

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

	/* Release: the check is there. Pairs with the acquire of the filter in the tracepoint's check. */
	__atomic_store_n(&session->switches[index], stopped || want > WIRE_CHECKED ? WIRE_OFF : want,
			 __ATOMIC_RELEASE);
}

static void everything_takes_effect(struct session *session)
{
	const uint32_t count = session_event_count(session);

	for (uint32_t n = 0; n < count; n++)
		take_effect(session, n);
}

int session_change_begin(struct session *session)
{
	uint32_t changes;

	if (!take_lock(session))
		return -ETIMEDOUT;
	changes = __atomic_load_n(&session->shared->changes, __ATOMIC_RELAXED);
	__atomic_store_n(&session->shared->changes, changes | 1, __ATOMIC_RELAXED);
	/* The mark comes before the changes. Pairs with the acquire fence of a listing's second look. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (changes & 1)
		everything_takes_effect(session);
	return 0;
}

void session_change_end(struct session *session)
{
	uint32_t changes = __atomic_load_n(&session->shared->changes, __ATOMIC_RELAXED);

	__atomic_store_n(&session->shared->changes, (changes | 1) + 1, __ATOMIC_RELEASE);
	lock_drop(&session->shared->events_lock);
}

void session_change(struct session *session, uint16_t id, enum wire_switch want,
		    const struct wire_check *check)
{
	struct wire_check *own = &session->checks[id - 1];

	if (check && session_have_memory(session, (uint64_t)((char *)own - session->base), sizeof(*own))) {
		__atomic_store_n(&own->sample, check->sample, __ATOMIC_RELAXED);
		__atomic_store_n(&own->limit, check->limit, __ATOMIC_RELAXED);
		/* Release: the program is there. Pairs with the acquire in the tracepoint's check. */
		__atomic_store_n(&own->filter, check->filter, __ATOMIC_RELEASE);
	} else if (want == WIRE_CHECKED) {
		want = WIRE_OFF; /* no memory for the check: rather nothing than everything */
	}
	session->wants[id - 1] = (uint8_t)want;
	take_effect(session, id - 1u);
}

void session_change_stopped(struct session *session, bool stopped)
{
	__atomic_store_n(&session->shared->stopped, stopped, __ATOMIC_RELAXED);
	everything_takes_effect(session);
}

/* The rule after this one; `end` behind the last. The rules are memory that others may write. */
static char *next_rule(char *rule, char *end)
{
	return rule + strnlen(rule, (size_t)(end - rule - 1)) + 1;
}

static const char *rule_glob(const char *rule)
{
	return strnlen(rule, 3) == 3 ? rule + 3 : "";
}

int session_change_rule(struct session *session, char sign, unsigned level, const char *glob)
{
	char *rule = session->shared->rules, *end = rule + WIRE_RULES_MAX;
	size_t bytes = strlen(glob) + 4;

	/* A rule about the same glob has nothing more to say. */
	while (rule < end - 1 && *rule) {
		char *next = next_rule(rule, end);

		if (strncmp(rule_glob(rule), glob, (size_t)(end - rule)) == 0)
			memmove(rule, next, (size_t)(end - next));
		else
			rule = next;
	}
	if ((size_t)(end - rule) < bytes + 1)
		return -ENOSPC;
	snprintf(rule, bytes, "%c%u:%s", sign, level % 10, glob);
	rule[bytes] = 0;
	return 0;
}

enum wire_switch changes_rule_for(const struct session *session, const char *name, unsigned level)
{
	char *rule = session->shared->rules, *end = rule + WIRE_RULES_MAX;
	enum wire_switch want = WIRE_OFF;

	end[-1] = 0;
	for (; rule < end - 1 && *rule; rule = next_rule(rule, end)) {
		if (!glob_match(rule_glob(rule), name))
			continue;
		want = rule[0] == '+' && level <= (unsigned)(rule[1] - '0') ? WIRE_ON : WIRE_OFF;
	}
	return want;
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
	memcpy(session->filters + used, program, bytes);
	__atomic_store_n(&session->shared->filters_used,
			 used + ((bytes + WIRE_FILTER_ALIGN - 1) & ~(uint32_t)(WIRE_FILTER_ALIGN - 1)),
			 __ATOMIC_RELAXED);
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
		session_change(session, (uint16_t)(n + 1), want, NULL);
		++*matched;
	}
	session_change_end(session);
	return error;
}

void session_end(struct session *session)
{
	int error = session_change_begin(session);

	__atomic_store_n(&session->shared->over, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&session->shared->rules[0], 0, __ATOMIC_RELAXED);
	memset(session->wants, WIRE_OFF, session_event_count(session));
	everything_takes_effect(session);
	if (!error)
		session_change_end(session);
}
