/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of queries in DuckDB:
 *
 *	stack(NUMBER)		the functions of a stack, from the outermost one on, with `;` between
 *	symbol(LOCATION)	the function at a location
 *	percentile(X, P)	a macro of DuckDB's own aggregate, which has the same ranks
 *	"time"(NS)		a macro: date and time; in quotes, since `time` alone is a type
 *
 * Both first ones are those of the first trace. histogram() is DuckDB's.
 */
#ifndef BURIN_SQL_DUCKDB_DUCK_FUNCTIONS_H
#define BURIN_SQL_DUCKDB_DUCK_FUNCTIONS_H

#include "sql/duckdb/duck_table.h"

struct duck_functions {
	struct duck_tables *tables;
	const struct query *query;
};

/* A statement that makes the macros. */
extern const char duck_macros[];

/* @functions: valid as long as the connection. Return: whether they were made. */
bool duck_functions_add(duck_handle connection, struct duck_functions *functions);

#endif
