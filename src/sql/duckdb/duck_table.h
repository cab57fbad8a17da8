/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Table functions of DuckDB whose rows are those of tables of traces. Its C API hands down the columns that a query reads, but no conditions. So bounds
 * of the first column are named parameters: events(since := ..., until := ...), both included. Several threads of DuckDB scan a table of records, each
 * parts of its time.
 */
#ifndef BURIN_SQL_DUCKDB_DUCK_TABLE_H
#define BURIN_SQL_DUCKDB_DUCK_TABLE_H

#include <pthread.h>
#include <stdbool.h>

#include "query/query.h"
#include "sql/duckdb/duck_library.h"

/* Tables that were made of many records share a profile, which one thread may read. */
struct duck_tables {
	pthread_mutex_t lock;
	bool ready; /* tables are made when a query names them, not when their views are made */
};

struct duck_table {
	struct duck_tables *all;
	struct query *query;
	struct query_table *table;
};

/* @table: valid as long as the connection. Return: whether the function was made. */
bool duck_table_register(duck_handle connection, const char *name, struct duck_table *table);

#endif
