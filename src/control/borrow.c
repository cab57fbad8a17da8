/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Switching on for a while; see borrow.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/borrow.h"

/* Locks are on bytes of the session's file: an event's on that in `wants`, a rule's behind all of them. */
static const off_t rule_locks = (off_t)1 << 60;

struct borrowed_rule {
	bool held;
	char sign; /* what the rule about this glob said before; 0: there was none */
	unsigned level;
};

static struct flock lock_of(short type, off_t at)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };
}

static bool others_hold(const struct borrow *borrow, off_t at)
{
	struct flock lock = lock_of(F_WRLCK, at);

	return fcntl(borrow->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void hold(const struct borrow *borrow, off_t at)
{
	struct flock lock = lock_of(F_RDLCK, at);

	fcntl(borrow->file, F_OFD_SETLK, &lock);
}

/* Return: whether nobody else holds it. */
static bool let_go(const struct borrow *borrow, off_t at)
{
	struct flock lock = lock_of(F_UNLCK, at);

	fcntl(borrow->file, F_OFD_SETLK, &lock);
	return !others_hold(borrow, at);
}

static off_t event_lock(const struct borrow *borrow, uint32_t index)
{
	return (off_t)(borrow->session->geometry.wants_offset + index);
}

static off_t rule_lock(const char *glob)
{
	uint32_t hash = 2166136261u;

	for (; *glob; glob++)
		hash = (hash ^ (unsigned char)*glob) * 16777619u;
	return rule_locks + hash;
}

unsigned borrow_lasting(struct session *session, int file)
{
	const struct borrow borrow = { .session = session, .file = file };
	unsigned on = 0;

	for (uint32_t n = 0; n < session_event_count(session); n++)
		on += session->wants[n] != WIRE_OFF && !others_hold(&borrow, event_lock(&borrow, n));
	return on;
}

static bool is_meant(const struct borrow *borrow, uint32_t index)
{
	const struct session *session = borrow->session;
	const char *name = session_event_text(session, session->entries[index].name);

	for (unsigned n = 0; n < borrow->count; n++)
		if (glob_match(borrow->globs[n], name))
			return true;
	return false;
}

static bool is_ours(const char *rule)
{
	return rule && rule[0] == '+' && rule[1] == '0' + WIRE_LEVEL_MAX;
}

static int borrow_rule(struct borrow *borrow, unsigned n)
{
	const char *glob = borrow->globs[n];
	const char *rule = session_rule_find(borrow->session->shared->intent_rules, glob);
	struct borrowed_rule *before = &borrow->rules[n];

	if (is_ours(rule)) {
		before->held = others_hold(borrow, rule_lock(glob));
	} else {
		*before = (struct borrowed_rule){ .held = true };
		if (rule) {
			before->sign = rule[0] == '+' ? '+' : '-';
			before->level = (unsigned)(rule[1] - '0') % 10;
		}
	}
	if (!before->held)
		return 0;
	hold(borrow, rule_lock(glob));
	return is_ours(rule) ? 0 : session_change_rule(borrow->session, '+', WIRE_LEVEL_MAX, glob);
}

static int borrow_event(struct borrow *borrow, uint32_t index)
{
	const off_t lock = event_lock(borrow, index);
	const uint8_t want = borrow->session->wants[index];

	borrow->held[index] = want == WIRE_OFF || (want == WIRE_ON && others_hold(borrow, lock));
	if (!borrow->held[index])
		return 0;
	hold(borrow, lock);
	return want == WIRE_OFF ? session_change(borrow->session, (uint16_t)(index + 1), WIRE_ON, NULL) : 0;
}

static void forget(struct borrow *borrow)
{
	free(borrow->rules);
	free(borrow->held);
	*borrow = (struct borrow){ .file = -1 };
}

int borrow_begin(struct borrow *borrow, struct session *session, int file, const char *const *globs,
		 unsigned *matched)
{
	int error = -ENOMEM;

	*borrow = (struct borrow){ .session = session, .file = file, .globs = globs };
	*matched = 0;
	while (globs[borrow->count])
		borrow->count++;
	borrow->rules = calloc(borrow->count + 1, sizeof(*borrow->rules));
	borrow->held = calloc(session->geometry.events_max, sizeof(*borrow->held));
	if (borrow->rules && borrow->held)
		error = session_change_begin(session);
	if (error) {
		forget(borrow);
		return error;
	}
	borrow->known = borrow->before = session_event_count(session);
	for (unsigned n = 0; !error && n < borrow->count; n++)
		error = borrow_rule(borrow, n);
	for (uint32_t n = 0; !error && n < borrow->known; n++) {
		if (!is_meant(borrow, n))
			continue;
		error = borrow_event(borrow, n);
		++*matched;
	}
	if (error) {
		session_change_cancel(session);
		forget(borrow);
	} else {
		session_change_commit(session);
	}
	return error;
}

void borrow_refresh(struct borrow *borrow)
{
	const uint32_t count = borrow->held ? session_event_count(borrow->session) : 0;

	for (; borrow->known < count; borrow->known++) {
		if (!is_meant(borrow, borrow->known) || borrow->session->wants[borrow->known] != WIRE_ON)
			continue;
		borrow->held[borrow->known] = true;
		hold(borrow, event_lock(borrow, borrow->known));
	}
}

static void return_rule(struct borrow *borrow, unsigned n)
{
	const char *glob = borrow->globs[n];
	const struct borrowed_rule *before = &borrow->rules[n];

	if (before->held && let_go(borrow, rule_lock(glob)) &&
	    is_ours(session_rule_find(borrow->session->shared->intent_rules, glob)))
		session_change_rule(borrow->session, before->sign, before->level, glob);
}

/* An event that came later stays on if the rules that are left say so. */
static int return_event(struct borrow *borrow, uint32_t index)
{
	struct session *session = borrow->session;
	const struct wire_event *event = &session->entries[index];

	if (!borrow->held[index] || !let_go(borrow, event_lock(borrow, index)) ||
	    session->wants[index] != WIRE_ON)
		return 0;
	if (index >= borrow->before &&
	    session_rules_want(session->shared->intent_rules, session_event_text(session, event->name),
			       event->level) == WIRE_ON)
		return 0;
	return session_change(session, (uint16_t)(index + 1), WIRE_OFF, NULL);
}

int borrow_end(struct borrow *borrow)
{
	struct session *session = borrow->session;
	int error;

	if (!borrow->held)
		return 0;
	borrow_refresh(borrow);
	error = session_change_begin(session);
	if (!error) {
		for (unsigned n = 0; n < borrow->count; n++)
			return_rule(borrow, n);
		for (uint32_t n = 0; !error && n < borrow->known; n++)
			error = return_event(borrow, n);
		if (error)
			session_change_cancel(session);
		else
			session_change_commit(session);
	}
	forget(borrow);
	return error;
}
