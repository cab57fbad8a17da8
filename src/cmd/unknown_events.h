/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of events, without a wildcard, that a program does not have: a slip, most often. */
#ifndef BURIN_CMD_UNKNOWN_EVENTS_H
#define BURIN_CMD_UNKNOWN_EVENTS_H

#include "control/listing.h"

/*
 * unknown_events - report each name that no event has, and the nearest one that there is.
 * @names: a list that ends with NULL; those with a wildcard, and of events that a recorder makes itself, are left out
 * @who: the program, for the message; @later: what to do for an event that comes later, or what is done; NULL: none will come
 * Return: how many were reported.
 */
unsigned unknown_events(const struct listing *listing, const char *const *names, const char *who,
			const char *later);

/* unknown_events_of - the same, of a session. */
unsigned unknown_events_of(struct session *session, const char *const *names, const char *who,
			   const char *later);

#endif
