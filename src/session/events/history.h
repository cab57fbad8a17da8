/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The history of a session: each change adds an entry (wire/wire_change.h).
 *
 * Entries are part of the transaction (transaction.c). They are drafted behind the last entry while the transaction is
 * prepared. The process that carries it out advances the number of the last entry over them. So each change that
 * happened has one entry, and a change that was cancelled or never committed has none.
 */
#ifndef BURIN_SESSION_EVENTS_HISTORY_H
#define BURIN_SESSION_EVENTS_HISTORY_H

#include "session/session.h"
#include "wire/wire_change.h"

/* history_begin - discard all drafts. The caller holds events_lock, here and below. */
void history_begin(struct session *session);

/*
 * history_draft - the transaction's entry of this kind, made if it is missing.
 * Return: NULL: the session is over; or there is no memory, and the entry is counted as lost.
 */
struct wire_change *history_draft(struct session *session, enum wire_change_kind kind);

/* history_event - add an event's new desired state and condition to the entries. */
void history_event(struct session *session, uint16_t id, enum wire_switch desired,
		   const struct wire_condition *condition);

/* history_text - append to the text of the entries: the globs and filters that the user gave. */
void history_text(struct session *session, const char *text);

/* history_end - complete the drafts. */
void history_end(struct session *session);

/* history_stamp, history_publish - carry out: before the switches change, and after that. Both may be repeated. */
void history_stamp(struct session *session);
void history_publish(struct session *session);

#endif
