/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What registering and switching share within the session (changes.c); the rest is in session.h. */
#ifndef BURIN_SESSION_CHANGES_H
#define BURIN_SESSION_CHANGES_H

#include "session/session.h"

/* changes_begin_table, changes_end_table - register events: nobody changes anything meanwhile. */
int changes_begin_table(struct session *session);
void changes_end_table(struct session *session);

/* changes_new_event - what an event that is about to exist does, by the standing rules. */
void changes_new_event(struct session *session, uint32_t index, const char *name, unsigned level);

#endif
