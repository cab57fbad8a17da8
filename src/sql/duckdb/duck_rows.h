/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of a statement of DuckDB. */
#ifndef BURIN_SQL_DUCKDB_DUCK_ROWS_H
#define BURIN_SQL_DUCKDB_DUCK_ROWS_H

#include "sql/duckdb/duck_library.h"
#include "sql/sql_engine.h"

/* Whether values of a type are printed: others are cast before (duck_text_casts()). */
bool duck_rows_prints(int type);

/* Runs a statement, and prints its rows. Return: 0; 1: and @message says why; -errno of writing. */
int duck_rows_print(duck_handle statement, enum sql_format format, int file, char message[SQL_MESSAGE]);

/* The text in the first column of the n-th row, from 0; free() it. @argument: of ?1. NULL: there is none. */
char *duck_rows_text(duck_handle connection, const char *query, const char *argument, unsigned n);

#endif
