/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SQLite: a database in memory whose only tables are virtual. A query only reads: an authorizer refuses all other statements. */
#include "sql/sql_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "sql/sql_functions.h"
#include "sql/sql_print.h"
#include "sql/sql_table.h"

struct sql {
	sqlite3 *base;
	struct sql_trace list[SQL_TRACES_MAX];
	struct sql_traces traces;
};

/* Pragmas that list tables and columns. */
static const char *const reading_pragmas[] = { "table_info", "table_xinfo", "table_list", "function_list",
					       "database_list" };

static bool pragma_reads(const char *name)
{
	for (size_t n = 0; name && n < sizeof(reading_pragmas) / sizeof(*reading_pragmas); n++)
		if (!sqlite3_stricmp(name, reading_pragmas[n]))
			return true;
	return false;
}

/* Names a table of SQLite's own. It is made when it is named first, which the authorizer would refuse later. */
static int sql_table_touch(sqlite3 *base, const char *prefix, const char *name)
{
	char *text = sqlite3_mprintf("SELECT 1 FROM %s%s LIMIT 0", prefix, name);
	int result = text ? sqlite3_exec(base, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	return result;
}

static int sql_own_tables_make(sqlite3 *base)
{
	int result = sql_table_touch(base, "", "json_each");

	if (!result)
		result = sql_table_touch(base, "", "json_tree");
	for (size_t n = 0; !result && n < sizeof(reading_pragmas) / sizeof(*reading_pragmas); n++)
		result = sql_table_touch(base, "pragma_", reading_pragmas[n]);
	return result;
}

/* Queries read. They neither write, nor open other files, nor change settings. */
static int sql_authorize(void *data, int action, const char *one, const char *two, const char *three,
			 const char *four)
{
	(void)data, (void)two, (void)three, (void)four;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_PRAGMA:
		return pragma_reads(one) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static int sql_attach(struct sql *sql, unsigned number)
{
	const struct sql_trace *trace = &sql->list[number];
	char *text = number ? sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", trace->schema) : NULL;
	int result = text     ? sqlite3_exec(sql->base, text, NULL, NULL, NULL)
		     : number ? SQLITE_NOMEM
			      : SQLITE_OK;

	sqlite3_free(text);
	return result ? result : sql_trace_attach(sql->base, trace, NULL);
}

static int sql_attach_all(struct sql *sql, unsigned count)
{
	int result = sql_functions_add(sql->base, &sql->traces);

	for (unsigned n = 0; n < count && !result; n++)
		result = sql_attach(sql, n);
	if (!result)
		result = sql_own_tables_make(sql->base);
	if (!result)
		result = sqlite3_db_config(sql->base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (!result)
		result = sqlite3_set_authorizer(sql->base, sql_authorize, NULL);
	return result;
}

static int sql_open(struct sql **made, struct query *queries, const char *const *schemas, unsigned count,
		    char message[SQL_MESSAGE])
{
	struct sql *sql = calloc(1, sizeof(*sql));
	int result;

	*made = sql;
	if (!sql) {
		snprintf(message, SQL_MESSAGE, "out of memory");
		return 1;
	}
	for (unsigned n = 0; n < count; n++)
		sql->list[n] = (struct sql_trace){ schemas[n], &queries[n],
						   n + 1 < count ? &sql->list[n + 1] : NULL };
	sql->traces = (struct sql_traces){ .first = sql->list };
	result = sqlite3_open(":memory:", &sql->base);
	if (!result)
		result = sql_attach_all(sql, count);
	snprintf(message, SQL_MESSAGE, "%s", sqlite3_errmsg(sql->base));
	return !!result;
}

static void sql_close(struct sql *sql)
{
	if (!sql)
		return;
	sqlite3_close(sql->base);
	free(sql);
}

/* ---- The rows of a statement */

static const char *statement_name(void *data, unsigned column)
{
	return sqlite3_column_name(data, (int)column);
}

static int statement_step(void *data)
{
	const int result = sqlite3_step(data);

	return result == SQLITE_ROW ? 1 : result == SQLITE_DONE ? 0 : -1;
}

static const char *statement_text(void *data, unsigned column)
{
	return (const char *)sqlite3_column_text(data, (int)column);
}

static void statement_value(void *data, unsigned column, struct query_value *value)
{
	const int n = (int)column;

	*value = (struct query_value){ .type = QUERY_NULL };
	switch (sqlite3_column_type(data, n)) {
	case SQLITE_INTEGER:
		*value = (struct query_value){ .type = QUERY_INTEGER,
					       .integer = sqlite3_column_int64(data, n) };
		break;
	case SQLITE_FLOAT:
		*value = (struct query_value){ .type = QUERY_REAL, .real = sqlite3_column_double(data, n) };
		break;
	case SQLITE_TEXT:
		*value = (struct query_value){ .type = QUERY_TEXT, .bytes = sqlite3_column_text(data, n) };
		break;
	case SQLITE_BLOB:
		*value = (struct query_value){ .type = QUERY_BLOB, .bytes = sqlite3_column_blob(data, n) };
	}
	if (value->bytes)
		value->size = (size_t)sqlite3_column_bytes(data, n);
}

static int statement_print(sqlite3_stmt *statement, enum sql_format format, int file, int *written)
{
	const struct sql_source source = { .data = statement,
					   .count = (unsigned)sqlite3_column_count(statement),
					   .name = statement_name,
					   .step = statement_step,
					   .value = statement_value,
					   .text = statement_text };

	return sql_print_rows(&source, format, file, written);
}

static int sql_run(struct sql *sql, const char *text, const char *argument, enum sql_format format, int file,
		   char message[SQL_MESSAGE])
{
	int result = SQLITE_OK, written = 0;
	const char *rest = text;
	bool any = false;

	*message = '\0';
	while (!result && !written && *rest) {
		sqlite3_stmt *statement = NULL;

		result = sqlite3_prepare_v2(sql->base, rest, -1, &statement, &rest);
		if (!result && statement && argument)
			result = sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC);
		if (!result && statement) {
			any = true;
			result = statement_print(statement, format, file, &written);
		}
		if (result)
			snprintf(message, SQL_MESSAGE, "%s", sqlite3_errmsg(sql->base));
		sqlite3_finalize(statement);
	}
	if (!result && !any)
		snprintf(message, SQL_MESSAGE, "give a statement, such as: SELECT * FROM events LIMIT 10");
	return written ? written : result ? 1 : any ? 0 : SQL_NOTHING;
}

static void sql_interrupt(struct sql *sql)
{
	sqlite3_interrupt(sql->base);
}

static bool sql_complete(const char *text)
{
	return sqlite3_complete(text);
}

static char *sql_word(struct sql *sql, const char *prefix, unsigned n)
{
	static const char query[] =
		"SELECT name FROM (SELECT name FROM pragma_table_list UNION SELECT info.name FROM "
		"pragma_table_list AS list, pragma_table_info(list.name, list.schema) AS info UNION SELECT "
		"name || '(' FROM pragma_function_list UNION VALUES ('SELECT'), ('FROM'), ('WHERE'), "
		"('GROUP BY'), ('ORDER BY'), ('LIMIT'), ('JOIN'), ('BETWEEN'), ('DISTINCT'), ('HAVING')) "
		"WHERE substr(name, 1, length(?1)) = ?1 COLLATE NOCASE AND name NOT LIKE 'sqlite%' "
		"ORDER BY 1 LIMIT 1 OFFSET ?2";
	sqlite3_stmt *statement = NULL;
	char *word = NULL;

	if (!sqlite3_prepare_v2(sql->base, query, -1, &statement, NULL) &&
	    !sqlite3_bind_text(statement, 1, prefix, -1, SQLITE_STATIC) &&
	    !sqlite3_bind_int64(statement, 2, n) && sqlite3_step(statement) == SQLITE_ROW)
		word = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return word;
}

const struct sql_engine sql_sqlite = {
	.open = sql_open,
	.close = sql_close,
	.run = sql_run,
	.interrupt = sql_interrupt,
	.complete = sql_complete,
	.word = sql_word,
	.tables = "SELECT schema, name, ncol AS columns FROM pragma_table_list WHERE name NOT LIKE "
		  "'sqlite!_%' ESCAPE '!' ORDER BY schema, name",
	.columns = "SELECT name AS column, type FROM pragma_table_info(?1)",
	.losses = "SELECT time(time) AS time, time(end) AS end, cause, count, ring FROM losses",
};
