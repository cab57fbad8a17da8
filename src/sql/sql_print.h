/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The rows of a query: as a table, as CSV, as JSON, a line for each, and as a table in Markdown. */
#ifndef BURIN_SQL_SQL_PRINT_H
#define BURIN_SQL_SQL_PRINT_H

#include "query/query.h"
#include "sql/sql_format.h"

/* The rows of an engine. Values and texts are valid until the next call of the same function. */
struct sql_source {
	void *data;
	unsigned count; /* columns */
	const char *(*name)(void *data, unsigned column);
	int (*step)(
		void *data); /* to the next row. Return: 1; 0: there are no more; -1: an error, of which the engine knows */
	void (*value)(void *data, unsigned column, struct query_value *value);
	const char *(*text)(void *data, unsigned column); /* of a number or a text. NULL: no memory */
};

/*
 * sql_print_rows - step through rows, and print them.
 * @written: -errno of writing, which ends it
 * Return: 0; -1: as the source's step().
 */
int sql_print_rows(const struct sql_source *source, enum sql_format format, int file, int *written);

#endif
