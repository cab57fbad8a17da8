/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions of a command's events, burin record --where: rules of its session, as burin enable makes them. */
#ifndef BURIN_CMD_RECORD_RECORD_WHERE_H
#define BURIN_CMD_RECORD_RECORD_WHERE_H

#include "session/session.h"
#include "view/records/selection.h"

struct record_where {
	struct view_globs conditions; /* "EXPR", or "GLOB: EXPR" */
	size_t events;		      /* globs of --event that the user gave: those of an EXPR alone */
};

/* record_where_check - before anything is recorded. Return: 0; CMD_USAGE after a message. */
int record_where_check(const struct record_where *where);

/*
 * record_where_begin - set the rules, before the command runs.
 * @events: globs; the first ones are the user's
 * Return: 0; CMD_FAULTS after a message.
 */
int record_where_begin(const struct record_where *where, struct session *session, const char *const *events);

/* record_where_end - report the events that were not recorded, since their condition does not fit. Return: how many. */
unsigned record_where_end(const struct record_where *where, struct session *session);

#endif
