/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of traces in SQLite. A query only reads: an authorizer refuses all other statements. */
#ifndef BURIN_SQL_SQL_ENGINE_H
#define BURIN_SQL_SQL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "sql/sql_format.h"

struct query;
struct sql;

enum {
	SQL_MESSAGE = 512,
	SQL_TRACES_MAX = 11, /* SQLite opens no more databases */
	SQL_NOTHING = 2,     /* no statement, only blanks and comments */
};

/* Whether this program was built with SQLite. */
bool sql_available(void);

/*
 * sql_open - a database whose tables are those of traces. Tables of the first are found without a schema.
 * @schemas: names of their databases; that of the first is "main"
 * @queries, @schemas: valid until sql_close()
 * Return: 0; 1: and @message says why. Call sql_close() in any case.
 */
int sql_open(struct sql **sql, struct query *queries, const char *const *schemas, unsigned count,
	     char message[SQL_MESSAGE]);
void sql_close(struct sql *sql);

/*
 * sql_run - run statements, separated by `;`, one after the other, up to the first that fails; and print their rows to a file.
 * Return: 0; 1: one is wrong or could not be finished, and @message says why; SQL_NOTHING, also with a message; -errno of writing.
 */
int sql_run(struct sql *sql, const char *text, enum sql_format format, int file, char message[SQL_MESSAGE]);

/* sql_run_with - the same for statements whose ?1 is a text. */
int sql_run_with(struct sql *sql, const char *text, const char *argument, enum sql_format format, int file,
		 char message[SQL_MESSAGE]);

/* sql_interrupt - end the statement that runs. Context: any thread, signal handlers. */
void sql_interrupt(struct sql *sql);

/* sql_complete - whether a text ends with a whole statement. */
bool sql_complete(const char *text);

/* sql_word - the n-th word, from 0, that could stand where a prefix of it is: a table, a column, a function or a keyword; free() it. NULL: no more. */
char *sql_word(struct sql *sql, const char *prefix, unsigned n);

#endif
