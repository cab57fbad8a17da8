/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What registering and switching share within the session (changes.c); the rest is in session.h. */
#ifndef BURIN_SESSION_CHANGES_H
#define BURIN_SESSION_CHANGES_H

#include "session/session.h"

/* changes_rule_for - what the standing rules say of an event. The change has begun. */
enum wire_switch changes_rule_for(const struct session *session, const char *name, unsigned level);

#endif
