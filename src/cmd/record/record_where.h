/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions of a program's events, burin record --where: rules of its session, as burin enable makes them. */
#ifndef BURIN_CMD_RECORD_RECORD_WHERE_H
#define BURIN_CMD_RECORD_RECORD_WHERE_H

#include "control/enable_lease.h"
#include "session/session.h"
#include "view/records/selection.h"

struct record_where {
	struct view_globs conditions; /* "EXPR", or "GLOB: EXPR" */
	size_t events;		      /* globs of --event that the user gave: those of an EXPR alone */
};

/* record_where_check - before anything is recorded. Return: 0; CMD_USAGE after a message. */
int record_where_check(const struct record_where *where);

/* record_where_has_glob - whether a condition is for the events of a glob only. */
bool record_where_has_glob(const char *condition);

/* record_where_glob - the glob of a condition, which the caller frees. Return: NULL: it has none. */
char *record_where_glob(const char *condition);

/* Globs of events, and the expression of each one. */
struct record_rules {
	const char **globs, **wheres; /* up to NULL; "": no condition */
};

/*
 * record_where_rules - the rules of the conditions.
 * @first: NULL, or a glob of the lowest rank
 * @events: globs; the first ones are the user's, whose conditions are also those without a glob
 * @rest: also the others of them, which other options need
 * Return: 0; -E2BIG: the conditions of a glob are too long. In any case record_rules_free() frees them.
 */
int record_where_rules(const struct record_where *where, const char *first, const char *const *events,
		       bool rest, struct record_rules *out);
void record_rules_free(struct record_rules *rules);

/* record_where_failed - print a line that explains an error of the rules. Return: CMD_FAULTS. */
int record_where_failed(int error);

/*
 * record_where_begin - set the rules, before the command runs.
 * @events: globs; the first ones are the user's
 * Return: 0; CMD_FAULTS after a message.
 */
int record_where_begin(const struct record_where *where, struct session *session, const char *const *events);

/*
 * record_where_end - report the events that were not recorded, since their condition does not fit.
 * @lease: NULL, or only events that it has
 * Return: how many.
 */
unsigned record_where_end(const struct record_where *where, struct session *session,
			  const struct enable_lease *lease);

#endif
