/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A private copy of a session's event table.
 *
 * Other processes write the table in the session, and they may damage it. Every copied entry is checked. An invalid entry
 * becomes one named "damaged.N", which no record can match.
 */
#ifndef BURIN_WRITER_EVENT_TABLE_H
#define BURIN_WRITER_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_table.h"
#include "session/session.h"
#include "wire/wire_event.h"

enum {
	TABLE_VARIABLE = UINT32_MAX,	   /* a payload whose length depends on its strings */
	TABLE_NO_PAYLOAD = UINT32_MAX - 1, /* no record can have it */
};

struct event_table {
	uint32_t count;
	struct wire_event *entries; /* their text offsets point into ->text */
	uint32_t *payload_bytes;    /* of each entry, or one of the above */
	bool *calls;		    /* of each entry: its records are calls (wire/wire_call.h) */
	size_t room, payload_room, calls_room;
	const uint32_t *functions; /* how many there are by now; NULL: calls may be of any */
	uint32_t context_bytes;	   /* between header and payload of the session's records */
	char *text;
	uint32_t text_bytes;
	size_t text_room;
	struct hash_table names, enums; /* numbers of the entries, by these texts */
	char *refused;			/* a line for each refused event; NULL: there is none */
};

/* event_table_init_names - the fixed table of the names ring. @with_changes: add burin.change. Return: 0 or -ENOMEM. */
int event_table_init_names(struct event_table *table, bool with_changes);

/* event_table_init_calls - the table of a trace that has only calls, as event 1. Return: 0 or -ENOMEM. */
int event_table_init_calls(struct event_table *table);

void event_table_free(struct event_table *table);

/* event_table_has_grown - whether the session has more events than the copy. */
bool event_table_has_grown(const struct event_table *table, const struct session *session);

/*
 * event_table_update - copy new entries, and new refusals of the entries copied before.
 * All else in a copied entry stays, even if the session was damaged since: the trace has records that depend on it.
 * Return: 0 or -ENOMEM.
 */
int event_table_update(struct event_table *table, const struct session *session);

/*
 * event_table_payload_fits - whether a payload of @bytes has the form of event @id.
 * Context: reads at most @bytes of @payload.
 */
bool event_table_payload_fits(const struct event_table *table, uint32_t id, const char *payload,
			      uint32_t bytes);

/* event_table_has_function - whether a record, if it is a call, is one of a function that exists. @payload: it fits */
bool event_table_has_function(const struct event_table *table, uint32_t id, const char *payload);

static inline const char *table_text(const struct event_table *table, uint32_t offset)
{
	return table->text + offset;
}

#endif
