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
 * Locks are on bytes of the session's file, far behind its end, but for that of the functions, which is on the calls area. The lock of an event
 * or of a rule is one of its content, too: if another command changes it, the lock of a lease is no longer on what there is.
 */
static const off_t rule_locks = (off_t)1 << 60, event_locks = (off_t)1 << 61;

static const uint64_t CODE_WAIT_NS = UINT64_C(10000000000);

enum {
	CODE_POLL_NS = 2000000,
};

struct leased_rule {
	bool held;
	bool had_former; /* there was a rule with this glob: */
	struct session_rule former;
	struct session_rule own;    /* of the leases: this one's, or that of a lease that came first */
	char where[WIRE_RULES_MAX]; /* the expression of the one that was found */
};

struct leased_event {
	bool held;
	uint8_t state; /* enum wire_switch: as the leases made it */
	uint32_t filter, sample, limit;
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

/* An event's state, and its condition as far as that is one. */
static struct leased_event enable_lease_state(uint8_t state, const struct wire_condition *condition)
{
	struct leased_event event = { .state = state };

	if (state == WIRE_CONDITIONAL) {
		event.filter = condition->filter;
		event.sample = condition->sample;
		event.limit = condition->limit;
	}
	return event;
}

static struct leased_event enable_lease_present(const struct enable_lease *lease, uint32_t index)
{
	return enable_lease_state(lease->session->desired[index], &lease->session->conditions[index]);
}

static bool is_same_state(const struct leased_event *one, const struct leased_event *other)
{
	return one->state == other->state && one->filter == other->filter && one->sample == other->sample &&
	       one->limit == other->limit;
}

static off_t event_lock(uint32_t index, const struct leased_event *event)
{
	const uint32_t content[] = { event->state, event->filter, event->sample, event->limit };

	return event_locks + ((off_t)index << 32) + hash_stable(content, sizeof(content));
}

static off_t rule_lock(const char *glob, const struct session_rule *rule)
{
	const uint32_t content[] = { hash_stable(glob, strlen(glob)),
				     hash_stable(rule->where, strlen(rule->where)), rule->state,
				     rule->level };

	return rule_locks + hash_stable(content, sizeof(content));
}

unsigned enable_lease_lasting(struct session *session, int file)
{
	const struct enable_lease lease = { .session = session, .file = file };
	unsigned on = 0;

	for (uint32_t n = 0; n < session_event_count(session); n++) {
		const struct leased_event present = enable_lease_present(&lease, n);

		on += wire_is_on(present.state) && !others_hold(&lease, event_lock(n, &present));
	}
	return on;
}

/* The last glob that matches. Return: the number of globs if none does. */
static unsigned enable_lease_glob(const struct enable_lease *lease, uint32_t index)
{
	const struct session *session = lease->session;
	char name[WIRE_NAME_MAX + 1];

	session_event_copy(session, session->entries[index].name, name, sizeof(name));
	for (unsigned n = lease->count; n-- > 0;)
		if (glob_match(lease->globs[n], name))
			return n;
	return lease->count;
}

static struct session_rule enable_lease_rule_of(const struct enable_lease *lease, unsigned n)
{
	const char *where = lease->wheres ? lease->wheres[n] : "";

	return (struct session_rule){ .state = *where ? WIRE_CONDITIONAL : WIRE_ON,
				      .level = WIRE_LEVEL_MAX,
				      .where = where };
}

static bool is_lease_rule(const struct session_rule *own, const struct session_rule *rule)
{
	return rule->state == own->state && rule->level == own->level && rule->sample == own->sample &&
	       rule->limit == own->limit && strcmp(rule->where, own->where) == 0;
}

/* The rules of the transaction, copied: other processes can write them. */
static void enable_lease_copy_rules(const struct session *session, char rules[WIRE_RULES_MAX])
{
	memcpy(rules, session->shared->journal_rules, WIRE_RULES_MAX);
	rules[WIRE_RULES_MAX - 1] = 0;
}

/* Whether a rule is as leases make them. */
static bool is_leased(const struct session_rule *rule)
{
	return rule->state != WIRE_OFF && rule->level == WIRE_LEVEL_MAX && !rule->sample && !rule->limit;
}

/* A rule of another lease stays, as its events do. */
static int enable_lease_rule(struct enable_lease *lease, unsigned n)
{
	const char *glob = lease->globs[n];
	struct leased_rule *leased = &lease->rules[n];
	struct session_rule rule = { .state = WIRE_OFF };
	char rules[WIRE_RULES_MAX];
	bool found;

	enable_lease_copy_rules(lease->session, rules);
	found = session_rule_find(rules, glob, &rule);
	if (found)
		rule.where = strcpy(leased->where, rule.where);
	leased->own = enable_lease_rule_of(lease, n);
	leased->held = true;
	if (found && is_leased(&rule) && others_hold(lease, rule_lock(glob, &rule))) {
		leased->own = rule;
	} else if (found && is_lease_rule(&leased->own, &rule)) {
		leased->held = false;
	} else {
		leased->had_former = found;
		leased->former = rule;
	}
	if (leased->held)
		enable_lease_hold(lease, rule_lock(glob, &leased->own));
	if (!leased->held || leased->own.where == leased->where)
		return 0;
	if (session_change_rule(lease->session, glob, &leased->own) != 0)
		return -ENOSPC;
	session_change_conditions_text(lease->session, &leased->own);
	return 0;
}

/* Whether a glob comes again: its last place counts. */
static bool comes_again(const struct enable_lease *lease, unsigned n)
{
	for (unsigned later = n + 1; later < lease->count; later++)
		if (strcmp(lease->globs[later], lease->globs[n]) == 0)
			return true;
	return false;
}

/* Have an event as it is, or will be. One that is not on needs no lock: nothing of it would stay. */
static void enable_lease_take(struct enable_lease *lease, uint32_t index, const struct leased_event *event)
{
	lease->events[index] = *event;
	lease->events[index].held = true;
	if (wire_is_on(event->state))
		enable_lease_hold(lease, event_lock(index, event));
}

/* @n: its glob */
static int enable_lease_event(struct enable_lease *lease, uint32_t index, unsigned n)
{
	struct session *session = lease->session;
	const struct session_rule rule = enable_lease_rule_of(lease, n);
	const struct leased_event present = enable_lease_present(lease, index);
	struct leased_event own;
	struct wire_condition condition;
	struct event_copy copy;
	enum wire_switch state;

	if (wire_is_on(present.state)) {
		if (others_hold(lease, event_lock(index, &present)))
			enable_lease_take(lease, index, &present);
		lease->kept += *rule.where != 0;
		return 0;
	}
	event_copy(session, index, &copy);
	state = event_condition(session, &rule, &copy.event, &condition);
	own = enable_lease_state((uint8_t)state, &condition);
	enable_lease_take(lease, index, &own);
	return session_change(session, (uint16_t)(index + 1), state,
			      state == WIRE_CONDITIONAL ? &condition : NULL);
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
	free(lease->events);
	*lease = (struct enable_lease){ .file = -1 };
}

int enable_lease_begin(struct enable_lease *lease, struct session *session, int file,
		       const char *const *globs, const char *const *wheres, unsigned *matched)
{
	int error = -ENOMEM;

	*lease = (struct enable_lease){ .session = session, .file = file, .globs = globs, .wheres = wheres };
	*matched = 0;
	while (globs[lease->count])
		lease->count++;
	lease->rules = calloc(lease->count + 1, sizeof(*lease->rules));
	lease->events = calloc(session->geometry.events_max, sizeof(*lease->events));
	if (lease->rules && lease->events)
		error = session_change_begin(session);
	if (error) {
		enable_lease_forget(lease);
		return error;
	}
	lease->seen = lease->before = session_event_count(session);
	for (unsigned n = 0; !error && n < lease->count; n++)
		if (!comes_again(lease, n))
			error = enable_lease_rule(lease, n);
	for (uint32_t n = 0; !error && n < lease->seen; n++) {
		const unsigned glob = enable_lease_glob(lease, n);

		if (glob == lease->count)
			continue;
		error = enable_lease_event(lease, n, glob);
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

/* The process that registers an event gives it the state of the rule that decides, which may be another one's. */
void enable_lease_refresh(struct enable_lease *lease)
{
	const uint32_t count = lease->events ? session_event_count(lease->session) : 0;

	for (; lease->seen < count; lease->seen++) {
		const unsigned n = enable_lease_glob(lease, lease->seen);
		const struct leased_event present = enable_lease_present(lease, lease->seen);

		if (n < lease->count &&
		    (wire_is_on(present.state) ||
		     (present.state == WIRE_UNFIT && lease->rules[n].own.state == WIRE_CONDITIONAL)))
			enable_lease_take(lease, lease->seen, &present);
	}
}

bool enable_lease_unfit(const struct enable_lease *lease, unsigned id)
{
	return lease->events && id && id <= lease->seen && lease->events[id - 1].held &&
	       lease->events[id - 1].state == WIRE_UNFIT;
}

static void return_rule(struct enable_lease *lease, unsigned n)
{
	const char *glob = lease->globs[n];
	const struct leased_rule *leased = &lease->rules[n];
	struct session_rule rule;
	char rules[WIRE_RULES_MAX];

	if (!leased->held || !enable_lease_drop(lease, rule_lock(glob, &leased->own)))
		return;
	enable_lease_copy_rules(lease->session, rules);
	if (session_rule_find(rules, glob, &rule) && is_lease_rule(&leased->own, &rule))
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
	const struct leased_event *leased = &lease->events[index],
				  present = enable_lease_present(lease, index);
	struct leased_event remaining;
	struct wire_condition condition;
	enum wire_switch state;

	if (!leased->held ||
	    (wire_is_on(leased->state) && !enable_lease_drop(lease, event_lock(index, leased))) ||
	    !is_same_state(&present, leased))
		return 0;
	state = remaining_state(session, index, &condition);
	if (index < lease->before && state != WIRE_UNFIT)
		state = WIRE_OFF;
	remaining = enable_lease_state((uint8_t)state, &condition);
	if (is_same_state(&present, &remaining))
		return 0;
	return session_change(session, (uint16_t)(index + 1), state,
			      state == WIRE_CONDITIONAL ? &condition : NULL);
}

int enable_lease_end(struct enable_lease *lease)
{
	struct session *session = lease->session;
	int error;

	if (!lease->events)
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
