/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The module of SQLite whose virtual tables are those of traces. */
#ifndef BURIN_SQL_SQL_TABLE_H
#define BURIN_SQL_SQL_TABLE_H

#include "sql/sql_library.h"

struct query;

/* A trace whose tables are in a database. */
struct sql_trace {
	const char *schema; /* the database's name: "main" */
	struct query *query;
	struct sql_trace *next; /* of the same connection */
};

/*
 * sql_trace_attach - make the tables of a trace in a database.
 * @trace: valid as long as the connection
 * @release: called with @trace when the connection ends, and if this fails; may be NULL
 * Return: a code of SQLite.
 */
int sql_trace_attach(sqlite3 *base, const struct sql_trace *trace, void (*release)(void *trace));

/* sql_trace_detach - release a trace whose database has been detached. */
void sql_trace_detach(sqlite3 *base, const struct sql_trace *trace);

#endif
