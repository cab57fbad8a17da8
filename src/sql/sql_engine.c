/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A database in memory whose only tables are virtual, and the printing of rows. */
#include "sql/sql_engine.h"

#include <stdio.h>
#include <string.h>

#include "query/query_table.h"
#include "sql/sql_table.h"

enum {
	FLUSH_BYTES = 1 << 16,
};

bool sql_available(void)
{
	return true;
}

/* Queries read. They neither write, nor open other files, nor change settings. */
static int sql_authorize(void *data, int action, const char *one, const char *two, const char *three,
			 const char *four)
{
	(void)data, (void)one, (void)two, (void)three, (void)four;
	return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
			       action == SQLITE_RECURSIVE
		       ? SQLITE_OK
		       : SQLITE_DENY;
}

static int sql_tables_make(sqlite3 *base, const struct query *query)
{
	int result = sqlite3_create_module(base, "burin", &sql_table_module, (void *)query);

	for (unsigned n = 0; !result && n < query->count; n++) {
		char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING burin(%u)",
					     query->tables[n].name, n);

		result = text ? sqlite3_exec(base, text, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
	}
	if (!result)
		result = sqlite3_db_config(base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (!result)
		result = sqlite3_set_authorizer(base, sql_authorize, NULL);
	return result;
}

static void sql_cell(struct view_buffer *out, const char *text, bool csv)
{
	if (csv)
		view_buffer_csv(out, text);
	else
		view_buffer_escape(out, text);
}

static void sql_blob(struct view_buffer *out, const unsigned char *bytes, int count)
{
	for (int n = 0; n < count; n++)
		view_buffer_print(out, "%02x", bytes[n]);
}

static void sql_end_row(struct view_buffer *out, bool csv)
{
	view_buffer_print(out, csv ? "\r\n" : "\n");
}

/* A number is printed as it is: the apostrophe of CSV is for texts. */
static void sql_row(sqlite3_stmt *statement, struct view_buffer *out, bool csv)
{
	int count = sqlite3_column_count(statement);

	for (int n = 0; n < count; n++) {
		int type = sqlite3_column_type(statement, n);
		const char *text;

		if (n)
			view_buffer_print(out, csv ? "," : "\t");
		if (type == SQLITE_NULL)
			continue;
		if (type == SQLITE_BLOB) {
			sql_blob(out, sqlite3_column_blob(statement, n), sqlite3_column_bytes(statement, n));
			continue;
		}
		text = (const char *)sqlite3_column_text(statement, n);
		if (!text)
			out->failed = true;
		else if (type == SQLITE_TEXT)
			sql_cell(out, text, csv);
		else
			view_buffer_print(out, "%s", text);
	}
	sql_end_row(out, csv);
}

static int sql_print(sqlite3_stmt *statement, bool csv, int file, int *written)
{
	struct view_buffer out = { 0 };
	int result;

	for (int n = 0; n < sqlite3_column_count(statement); n++) {
		if (n)
			view_buffer_print(&out, csv ? "," : "\t");
		sql_cell(&out, sqlite3_column_name(statement, n), csv);
	}
	sql_end_row(&out, csv);
	while (!*written && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		sql_row(statement, &out, csv);
		if (out.used >= FLUSH_BYTES)
			*written = view_buffer_write(&out, file);
	}
	if (!*written)
		*written = view_buffer_write(&out, file);
	view_buffer_free(&out);
	return *written || result == SQLITE_DONE ? 0 : result;
}

int sql_run(const struct query *query, const char *text, bool csv, int file, char message[SQL_MESSAGE])
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	sqlite3 *base = NULL;
	int written = 0, result = sqlite3_open(":memory:", &base);

	if (!result)
		result = sql_tables_make(base, query);
	if (!result)
		result = sqlite3_prepare_v2(base, text, -1, &statement, &rest);
	if (!result && statement)
		result = sql_print(statement, csv, file, &written);
	snprintf(message, SQL_MESSAGE, "%s", sqlite3_errmsg(base));
	if (!result && (!statement || rest[strspn(rest, " \t\n;")])) {
		snprintf(message, SQL_MESSAGE, "give one statement");
		result = SQLITE_ERROR;
	}
	sqlite3_finalize(statement);
	sqlite3_close(base);
	return written ? written : !!result;
}
