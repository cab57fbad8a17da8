/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of calls: from the calls area of a session to `.burin/calls.*` (docs/format.md, "Calls").
 *
 *	calls.images     as the images of samples
 *	calls.functions  stacks of one frame: entry n is function n
 *	calls.open       stack, tid, pid, depth, function, start, ending: calls that had not ended; if `ending` is 1, the call may
 *	                 have a record
 *	calls.values     call, event, payload: of open calls whose arguments were recorded
 *	calls.counts     function, calls: of functions whose calls are only counted
 *
 * Other processes write the area and may damage it, so every number and text is checked while it is copied.
 */
#ifndef BURIN_DRAIN_CALLS_CALL_TABLES_H
#define BURIN_DRAIN_CALLS_CALL_TABLES_H

#include <stdint.h>

#include "session/calls/session_calls.h"
#include "writer/event_table.h"
#include "writer/table_writer.h"

struct call_tables {
	const struct session *session;
	int directory; /* of the trace; owned by the caller */
	struct table_writer images, functions;
	uint32_t image_count, function_count; /* in the tables */
	uint64_t *before;		      /* counts that are not the trace's, by function; NULL: none */
	uint32_t before_count;
	uint64_t refused;	 /* open calls that cannot be as they are in the session */
	uint64_t without_values; /* open calls whose arguments are missing */
	bool begun;
	bool opened; /* the open calls are written */
};

/* call_tables_init - for a trace in a directory. Nothing is written before there is a function. */
void call_tables_init(struct call_tables *tables, const struct session *session, int directory);

/* call_tables_skip - calls that were counted so far are not the trace's. Return: 0 or -ENOMEM. */
int call_tables_skip(struct call_tables *tables);

/* call_tables_round - add new images and functions. Return: 0 or -errno. */
int call_tables_round(struct call_tables *tables);

/*
 * call_tables_open - the same, and write the open calls, before and after a moment at which all records end. A call of that
 * moment is open, or has a record, or both; but for one that takes less time than passes between both looks.
 * @moment: chooses it. Return: its time. Called again if that took long
 */
int call_tables_open(struct call_tables *tables, const struct event_table *events,
		     uint64_t (*moment)(void *data), void *data);

/* call_tables_finish - the same, write the open calls unless they are written, and the counts, and close the tables. Return: 0 or -errno. */
int call_tables_finish(struct call_tables *tables, const struct event_table *events);

/* call_tables_next - continue in another directory, which gets the functions so far. Return: 0 or -errno. */
int call_tables_next(struct call_tables *tables, int directory);

void call_tables_free(struct call_tables *tables);

#endif
