/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The drain's own copy of a session's event table.
 *
 * The table in the session was written by other processes and may be scribbled upon: what is copied is
 * checked, entry by entry, and an entry that does not hold becomes one named "damaged.N" that no record can
 * match.
 */
#ifndef BURIN_DRAIN_TABLE_H
#define BURIN_DRAIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "wire/event.h"

enum {
	TABLE_VARIABLE = UINT32_MAX, /* a payload whose length depends on its strings */
};

struct table {
	uint32_t count;
	uint32_t room;
	struct wire_event *entries; /* their text offsets point into ->text */
	uint32_t *payload_bytes;    /* of each entry, or TABLE_VARIABLE */
	uint32_t context_bytes;	    /* of the session's records, in front of their payload */
	char *text;
	uint32_t text_bytes;
	uint32_t text_room;
};

/* table_init_names - the fixed table of the names stream. Return: 0 or -ENOMEM. */
int table_init_names(struct table *table);

void table_free(struct table *table);

/* table_has_grown - whether the session has more events than the copy. */
bool table_has_grown(const struct table *table, const struct session *session);

/*
 * table_update - copy what is new, and the refusals of what is known.
 * All else in a known entry stays, whatever has become of the session: there are records by it in the trace.
 * Return: 0 or -ENOMEM.
 */
int table_update(struct table *table, const struct session *session);

/*
 * table_payload_fits - whether a payload of that length has the form of event `id`.
 * Context: reads at most `bytes` of payload.
 */
bool table_payload_fits(const struct table *table, uint32_t id, const char *payload, uint32_t bytes);

static inline const char *table_text(const struct table *table, uint32_t offset)
{
	return table->text + offset;
}

#endif
