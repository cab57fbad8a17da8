/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The part of transactions that event_register.c uses; the rest is in session.h. */
#ifndef BURIN_SESSION_EVENTS_TRANSACTION_H
#define BURIN_SESSION_EVENTS_TRANSACTION_H

#include "session/session.h"

/* transaction_begin_table, transaction_end_table - hold events_lock while events are registered. */
int transaction_begin_table(struct session *session);
void transaction_end_table(struct session *session);

/* transaction_new_event - set the state and condition of an event that is being registered, by the rules. */
void transaction_new_event(struct session *session, uint32_t index, const struct session_event *event);

#endif
