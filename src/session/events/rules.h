/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rules: the states of events that register later, as text in the session (wire/wire_session.h). Other processes may write
 * them: any bytes are read as rules, and each ends with the area at the latest.
 */
#ifndef BURIN_SESSION_EVENTS_RULES_H
#define BURIN_SESSION_EVENTS_RULES_H

#include "session/session.h"

/* rules_add - append a rule. Return: false: there is no room. */
bool rules_add(char *rules, const char *glob, const struct session_rule *rule);

#endif
