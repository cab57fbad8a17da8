/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of queries:
 *
 *	percentile(X, P)		an aggregate: the least X that at least P percent of all do not exceed (the nearest rank)
 *	histogram(X)			an aggregate: its bars, as JSON: [{"from":1,"to":2,"count":3},...]
 *	stack(NUMBER[, SCHEMA])		the functions of a stack, from the outermost one on, with `;` between
 *	symbol(LOCATION[, SCHEMA])	the function at a location
 *	time(NS)			a time as a date and time; of other values, what SQLite's own function gives
 *
 * In the extension time() keeps SQLite's meaning of all values that have one there: a program's own statements go on as before.
 */
#ifndef BURIN_SQL_SQL_FUNCTIONS_H
#define BURIN_SQL_SQL_FUNCTIONS_H

#include <stdbool.h>

#include "sql/sql_table.h"

/* The traces of a connection, for stack() and symbol(). */
struct sql_traces {
	struct sql_trace *first;
	bool exact; /* of several traces none is chosen by itself */
};

/* sql_traces_find - the trace of a schema. @schema: NULL: the first, or the only one. Return: NULL: there is none. */
const struct sql_trace *sql_traces_find(const struct sql_traces *traces, const char *schema);

/* @traces: valid as long as the connection. Return: a code of SQLite. */
int sql_functions_add(sqlite3 *base, const struct sql_traces *traces);

#endif
