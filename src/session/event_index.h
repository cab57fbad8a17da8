/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Find an entry of the event table by a text of it. Each process has an index of its own, in private memory: others may
 * damage the table, not the index, and each find is compared with the table.
 *
 * The owner of events_lock uses it (transaction.h). A child of fork has a copy, which may lack the entry that a thread
 * was adding, or have it twice: both are harmless.
 */
#ifndef BURIN_SESSION_EVENT_INDEX_H
#define BURIN_SESSION_EVENT_INDEX_H

#include "session/session.h"

/* event_index_find - the number, from 1, of the first entry with a text; 0: none. @count: entries of the table */
uint32_t event_index_find(struct session *session, enum session_index which, const char *text,
			  uint32_t count);

void event_index_free(struct session *session);

#endif
