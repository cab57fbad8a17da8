/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* In the place of the others, if this program is built without SQLite. */
#include "sql/sql_engine.h"

#include <stdio.h>

bool sql_available(void)
{
	return false;
}

int sql_open(struct sql **sql, struct query *queries, const char *const *schemas, unsigned count,
	     char message[SQL_MESSAGE])
{
	(void)queries, (void)schemas, (void)count;
	*sql = NULL;
	snprintf(message, SQL_MESSAGE, "this burin was built without SQLite");
	return 1;
}

void sql_close(struct sql *sql)
{
	(void)sql;
}

int sql_run(struct sql *sql, const char *text, enum sql_format format, int file, char message[SQL_MESSAGE])
{
	return sql_run_with(sql, text, NULL, format, file, message);
}

int sql_run_with(struct sql *sql, const char *text, const char *argument, enum sql_format format, int file,
		 char message[SQL_MESSAGE])
{
	(void)sql, (void)text, (void)argument, (void)format, (void)file;
	snprintf(message, SQL_MESSAGE, "this burin was built without SQLite");
	return 1;
}

void sql_interrupt(struct sql *sql)
{
	(void)sql;
}

bool sql_complete(const char *text)
{
	(void)text;
	return true;
}

char *sql_word(struct sql *sql, const char *prefix, unsigned n)
{
	(void)sql, (void)prefix, (void)n;
	return NULL;
}
