/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Switching events on for a while; see enable_lease.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"
#include "base/containers/hash.h"
#include "control/enable_lease.h"
#include "session/clock.h"
#include "session/events/event_condition.h"

/*
 * Locks are on bytes of the session's file: an event's on its desired state, that of the functions on the calls area, a rule's far
 * behind the file's end.
 */
static const off_t rule_locks = (off_t)1 << 60;

static const uint64_t CODE_WAIT_NS = UINT64_C(10000000000);

enum {
	CODE_POLL_NS = 2000000,
};

struct leased_rule {
	bool held;
	bool had_former; /* there was a rule with this glob: */
	struct session_rule former;
	char where[WIRE_RULES_MAX]; /* its expression */
};

static struct flock lock_of(short type, off_t at)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
}

static bool others_hold(const struct enable_lease *lease, off_t at)
{
	struct flock lock = lock_of(F_WRLCK, at);

	return fcntl(lease->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void enable_lease_hold(const struct enable_lease *lease, off_t at)
{
	struct flock lock = lock_of(F_RDLCK, at);

	fcntl(lease->file, F_OFD_SETLK, &lock);
}

/* Return: whether no other lease holds the lock. */
static bool enable_lease_drop(const struct enable_lease *lease, off_t at)
{
	struct flock lock = lock_of(F_UNLCK, at);

	fcntl(lease->file, F_OFD_SETLK, &lock);
	return !others_hold(lease, at);
}

static off_t event_lock(const struct enable_lease *lease, uint32_t index)
{
	return (off_t)(lease->session->geometry.desired_offset + index);
}

static off_t rule_lock(const char *glob)
{
	return rule_locks + hash_stable(glob, strlen(glob));
}

unsigned enable_lease_lasting(struct session *session, int file)
{
	const struct enable_lease lease = { .session = session, .file = file };
	unsigned on = 0;

	for (uint32_t n = 0; n < session_event_count(session); n++)
		on += wire_is_on(session->desired[n]) && !others_hold(&lease, event_lock(&lease, n));
	return on;
}

static bool enable_lease_matches(const struct enable_lease *lease, uint32_t index)
{
	const struct session *session = lease->session;
	char name[WIRE_NAME_MAX + 1];

	session_event_copy(session, session->entries[index].name, name, sizeof(name));
	for (unsigned n = 0; n < lease->count; n++)
		if (glob_match(lease->globs[n], name))
			return true;
	return false;
}

static const struct session_rule lease_rule = { .state = WIRE_ON, .level = WIRE_LEVEL_MAX, .where = "" };

static bool is_lease_rule(const struct session_rule *rule)
{
	return rule->state == lease_rule.state && rule->level == lease_rule.level;
}

/* The rules of the transaction, copied: other processes can write them. */
static void enable_lease_copy_rules(const struct session *session, char rules[WIRE_RULES_MAX])
{
	memcpy(rules, session->shared->journal_rules, WIRE_RULES_MAX);
	rules[WIRE_RULES_MAX - 1] = 0;
}

static int enable_lease_rule(struct enable_lease *lease, unsigned n)
{
	const char *glob = lease->globs[n];
	struct leased_rule *leased = &lease->rules[n];
	struct session_rule rule;
	char rules[WIRE_RULES_MAX];

	enable_lease_copy_rules(lease->session, rules);
	leased->had_former = session_rule_find(rules, glob, &rule);
	if (leased->had_former && is_lease_rule(&rule)) {
		leased->had_former = false;
		leased->held = others_hold(lease, rule_lock(glob));
		if (leased->held)
			enable_lease_hold(lease, rule_lock(glob));
		return 0;
	}
	if (leased->had_former) {
		leased->former = rule;
		leased->former.where = strcpy(leased->where, rule.where);
	}
	leased->held = true;
	enable_lease_hold(lease, rule_lock(glob));
	return session_change_rule(lease->session, glob, &lease_rule);
}

static int enable_lease_event(struct enable_lease *lease, uint32_t index)
{
	const off_t lock = event_lock(lease, index);
	const uint8_t want = lease->session->desired[index];

	lease->held[index] = !wire_is_on(want) || (want == WIRE_ON && others_hold(lease, lock));
	if (!lease->held[index])
		return 0;
	enable_lease_hold(lease, lock);
	return !wire_is_on(want) ? session_change(lease->session, (uint16_t)(index + 1), WIRE_ON, NULL) : 0;
}

/* Commands that begin at the same time may both give way. */
bool enable_lease_calls(const struct session *session, int file)
{
	const struct enable_lease lease = { .file = file };
	const off_t at = (off_t)session->geometry.calls_offset;

	enable_lease_hold(&lease, at);
	if (!others_hold(&lease, at))
		return true;
	enable_lease_drop(&lease, at);
	return false;
}

/* Its byte is behind that of the functions. */
bool enable_lease_code(const struct session *session, int file)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + CODE_WAIT_NS;
	struct flock lock = lock_of(F_WRLCK, (off_t)session->geometry.calls_offset + 1);

	while (fcntl(file, F_OFD_SETLK, &lock) != 0) {
		if (clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = CODE_POLL_NS }, NULL);
	}
	return true;
}

static void enable_lease_forget(struct enable_lease *lease)
{
	free(lease->rules);
	free(lease->held);
	*lease = (struct enable_lease){ .file = -1 };
}

int enable_lease_begin(struct enable_lease *lease, struct session *session, int file,
		       const char *const *globs, unsigned *matched)
{
	int error = -ENOMEM;

	*lease = (struct enable_lease){ .session = session, .file = file, .globs = globs };
	*matched = 0;
	while (globs[lease->count])
		lease->count++;
	lease->rules = calloc(lease->count + 1, sizeof(*lease->rules));
	lease->held = calloc(session->geometry.events_max, sizeof(*lease->held));
	if (lease->rules && lease->held)
		error = session_change_begin(session);
	if (error) {
		enable_lease_forget(lease);
		return error;
	}
	lease->seen = lease->before = session_event_count(session);
	for (unsigned n = 0; !error && n < lease->count; n++)
		error = enable_lease_rule(lease, n);
	for (uint32_t n = 0; !error && n < lease->seen; n++) {
		if (!enable_lease_matches(lease, n))
			continue;
		error = enable_lease_event(lease, n);
		++*matched;
	}
	if (error)
		session_change_cancel(session);
	else
		error = session_change_commit(session);
	if (error)
		enable_lease_forget(lease);
	return error;
}

void enable_lease_refresh(struct enable_lease *lease)
{
	const uint32_t count = lease->held ? session_event_count(lease->session) : 0;

	for (; lease->seen < count; lease->seen++) {
		if (!enable_lease_matches(lease, lease->seen) ||
		    lease->session->desired[lease->seen] != WIRE_ON)
			continue;
		lease->held[lease->seen] = true;
		enable_lease_hold(lease, event_lock(lease, lease->seen));
	}
}

static void return_rule(struct enable_lease *lease, unsigned n)
{
	const char *glob = lease->globs[n];
	const struct leased_rule *leased = &lease->rules[n];
	struct session_rule rule;
	char rules[WIRE_RULES_MAX];

	if (!leased->held || !enable_lease_drop(lease, rule_lock(glob)))
		return;
	enable_lease_copy_rules(lease->session, rules);
	if (session_rule_find(rules, glob, &rule) && is_lease_rule(&rule))
		session_change_rule(lease->session, glob, leased->had_former ? &leased->former : NULL);
}

/* The state that the remaining rules give to an event. */
static enum wire_switch remaining_state(struct session *session, uint32_t index,
					struct wire_condition *condition)
{
	char rules[WIRE_RULES_MAX];
	struct session_rule rule;
	struct event_copy copy;

	enable_lease_copy_rules(session, rules);
	event_copy(session, index, &copy);
	session_rules_match(rules, copy.name, copy.event.level, &rule);
	return event_condition(session, &rule, &copy.event, condition);
}

/* Switch an event off again. One that was registered during the lease becomes what the remaining rules want. */
static int return_event(struct enable_lease *lease, uint32_t index)
{
	struct session *session = lease->session;
	struct wire_condition condition;
	enum wire_switch state;

	if (!lease->held[index] || !enable_lease_drop(lease, event_lock(lease, index)) ||
	    session->desired[index] != WIRE_ON)
		return 0;
	state = remaining_state(session, index, &condition);
	if (index < lease->before && state != WIRE_UNFIT)
		state = WIRE_OFF;
	if (state == WIRE_ON)
		return 0;
	return session_change(session, (uint16_t)(index + 1), state,
			      state == WIRE_CONDITIONAL ? &condition : NULL);
}

int enable_lease_end(struct enable_lease *lease)
{
	struct session *session = lease->session;
	int error;

	if (!lease->held)
		return 0;
	enable_lease_refresh(lease);
	error = session_change_begin(session);
	if (!error) {
		for (unsigned n = 0; n < lease->count; n++)
			return_rule(lease, n);
		for (uint32_t n = 0; !error && n < lease->seen; n++)
			error = return_event(lease, n);
		if (error)
			session_change_cancel(session);
		else
			error = session_change_commit(session);
	}
	enable_lease_forget(lease);
	return error;
}
