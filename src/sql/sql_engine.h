/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Engines that answer queries over the tables of traces. */
#ifndef BURIN_SQL_SQL_ENGINE_H
#define BURIN_SQL_SQL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sql/sql_format.h"

struct query;
struct sql;

enum {
	SQL_MESSAGE = 512,
	SQL_TRACES_MAX = 11, /* SQLite opens no more databases */
	SQL_NOTHING = 2,     /* no statement, only blanks and comments */
};

/* Functions of an engine of queries. */
struct sql_engine {
	/*
	 * A database whose tables are those of traces. Tables of the first are found without a schema.
	 * @schemas: names of their databases; that of the first is "main"
	 * @queries, @schemas: valid until close()
	 * Return: 0; 1: and @message says why. Call close() in any case.
	 */
	int (*open)(struct sql **sql, struct query *queries, const char *const *schemas, unsigned count,
		    char message[SQL_MESSAGE]);
	void (*close)(struct sql *sql);
	/*
	 * Runs statements, separated by `;`, one after the other, up to the first that fails; and prints their rows to a file.
	 * @argument: of ?1; NULL: there is none
	 * Return: 0; 1: one is wrong or could not be finished, and @message says why; SQL_NOTHING, also with a message; -errno of writing.
	 */
	int (*run)(struct sql *sql, const char *text, const char *argument, enum sql_format format, int file,
		   char message[SQL_MESSAGE]);
	/* Ends the statement that runs. Context: any thread, signal handlers. */
	void (*interrupt)(struct sql *sql);
	/* Whether a text ends with a whole statement. */
	bool (*complete)(const char *text);
	/*
	 * The n-th word, from 0, that could stand where a prefix of it is: a table, a column, a function or a keyword; free() it.
	 * NULL: no more.
	 */
	char *(*word)(struct sql *sql, const char *prefix, unsigned n);
	/* Statements that list tables, the columns of the table ?1, and losses. */
	const char *tables, *columns, *losses;
};

/* open() is NULL: this program was built without SQLite. */
extern const struct sql_engine sql_sqlite, sql_duckdb;

/* The path of libduckdb.so; NULL: where the loader finds it. */
extern const char *sql_duckdb_path;
/* Bytes that DuckDB may use; 0: four fifths of the machine's memory. */
extern uint64_t sql_duckdb_memory;

#endif
