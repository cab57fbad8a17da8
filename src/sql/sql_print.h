/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of a query: as a table, as CSV, as JSON, a line for each, and as a table in Markdown. */
#ifndef BURIN_SQL_SQL_PRINT_H
#define BURIN_SQL_SQL_PRINT_H

#include "sql/sql_format.h"
#include "sql/sql_library.h"

/*
 * sql_print_rows - step through a statement, and print its rows.
 * @written: -errno of writing, which ends it
 * Return: a code of SQLite; 0: all rows.
 */
int sql_print_rows(sqlite3_stmt *statement, enum sql_format format, int file, int *written);

#endif
