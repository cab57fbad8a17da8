/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of a trace in SQLite. A query only reads: an authorizer refuses all other statements. */
#ifndef BURIN_SQL_SQL_ENGINE_H
#define BURIN_SQL_SQL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

struct query;
struct view_buffer;

enum {
	SQL_MESSAGE = 512,
};

/* Whether this program was built with SQLite. */
bool sql_available(void);

/*
 * Runs one query, and prints its rows to a file: as CSV, or with a tab between columns; first their names.
 * Return: 0; 1: the query is wrong or could not be finished, and @message says why; -errno of writing.
 */
int sql_run(const struct query *query, const char *text, bool csv, int file, char message[SQL_MESSAGE]);

#endif
