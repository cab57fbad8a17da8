/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* DuckDB: a database in memory whose views are those of table functions; see duck_table.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "sql/duckdb/duck_functions.h"
#include "sql/duckdb/duck_library.h"
#include "sql/duckdb/duck_rows.h"
#include "sql/duckdb/duck_table.h"
#include "sql/duckdb/duck_text.h"
#include "sql/sql_engine.h"
#include "view/buffer.h"

enum {
	SCHEMA_MAX = 64,
};

/* It is behind the struct sql of the interface. */
struct duck {
	duck_handle base, connection;
	struct duck_tables tables;
	struct duck_table *list;
	unsigned count;
	struct duck_functions functions;
};

const char *sql_duckdb_path;
uint64_t sql_duckdb_memory;

static struct duck *duck_of(struct sql *sql)
{
	return (struct duck *)sql;
}

/* ---- Making it */

/* Runs a statement without rows. Return: 0; 1: and @message says why. */
static int duck_do(struct duck *made, const char *text, char message[SQL_MESSAGE])
{
	struct duck_result result;
	const int failed = duck.query(made->connection, text, &result);

	if (failed)
		snprintf(message, SQL_MESSAGE, "%s", duck.result_error(&result));
	duck.destroy_result(&result);
	return !!failed;
}

/* A view for each function, so that a table needs no parentheses. */
static int duck_view(struct duck *made, const char *schema, const char *function, const char *table,
		     char message[SQL_MESSAGE])
{
	struct view_buffer text = { 0 };
	int result = 1;

	duck_text_put(&text, "CREATE OR REPLACE VIEW ");
	duck_text_quote(&text, schema);
	duck_text_put(&text, ".");
	duck_text_quote(&text, table);
	duck_text_put(&text, " AS SELECT * FROM ");
	duck_text_quote(&text, function);
	duck_text_put(&text, "()");
	if (duck_text_end(&text))
		result = duck_do(made, text.bytes, message);
	view_buffer_free(&text);
	return result;
}

static int duck_schema(struct duck *made, const char *schema, char message[SQL_MESSAGE])
{
	struct view_buffer text = { 0 };
	int result = 1;

	duck_text_put(&text, "CREATE SCHEMA IF NOT EXISTS ");
	duck_text_quote(&text, schema);
	if (duck_text_end(&text))
		result = duck_do(made, text.bytes, message);
	view_buffer_free(&text);
	return result;
}

/*
 * The functions of a table, and its view. DuckDB may have a function with the name of an event, and prefer it. So the view reads one with a
 * sign behind its name, which no event has; the one without it is for those who give bounds of time. @name: has room for the sign
 */
static int duck_add_table(struct duck *made, const char *schema, char *name, struct duck_table *table,
			  char message[SQL_MESSAGE])
{
	duck_table_register(made->connection, name, table);
	strcat(name, "#");
	if (!duck_table_register(made->connection, name, table)) {
		snprintf(message, SQL_MESSAGE, "DuckDB cannot register a table function for \"%.400s\"",
			 name);
		return 1;
	}
	return duck_view(made, schema, name, table->table->name, message);
}

/* The tables of a trace. Functions of the first have their names, those of others the schema before it. */
static int duck_add_trace(struct duck *made, struct query *query, const char *schema, bool first,
			  char message[SQL_MESSAGE])
{
	char name[QUERY_NAME + SCHEMA_MAX + 3];
	int result = first ? 0 : duck_schema(made, schema, message);

	for (unsigned n = 0; n < query->count && !result; n++) {
		struct duck_table *table = &made->list[made->count++];

		*table = (struct duck_table){ &made->tables, query, &query->tables[n] };
		snprintf(name, sizeof(name), "%s%s%s", first ? "" : schema, first ? "" : ".",
			 table->table->name);
		result = duck_add_table(made, first ? "main" : schema, name, table, message);
	}
	return result;
}

/* DuckDB fetches no extensions from the network by itself, and writes nothing into the current directory when memory runs out. */
static int duck_base_open(struct duck *made, unsigned threads, char message[SQL_MESSAGE])
{
	char number[16], memory[32], *error = NULL;
	duck_handle config = NULL;
	int failed;

	snprintf(number, sizeof(number), "%u", threads);
	snprintf(memory, sizeof(memory), "%" PRIu64 "B", sql_duckdb_memory);
	failed = duck.create_config(&config) || duck.set_config(config, "threads", number) ||
		 (sql_duckdb_memory && duck.set_config(config, "memory_limit", memory)) ||
		 duck.set_config(config, "temp_directory", "") ||
		 duck.set_config(config, "autoinstall_known_extensions", "false") ||
		 duck.set_config(config, "autoload_known_extensions", "false") ||
		 duck.open_ext(NULL, &made->base, config, &error) ||
		 duck.connect(made->base, &made->connection);
	if (failed)
		snprintf(message, SQL_MESSAGE, "cannot start DuckDB: %s", error ? error : "no memory");
	duck.free(error);
	duck.destroy_config(&config);
	return !!failed;
}

static int duck_open(struct sql **sql, struct query *queries, const char *const *schemas, unsigned count,
		     char message[SQL_MESSAGE])
{
	struct duck *made = calloc(1, sizeof(*made));
	size_t tables = 0;
	int result;

	*sql = (struct sql *)made;
	snprintf(message, SQL_MESSAGE, "out of memory");
	for (unsigned n = 0; n < count; n++)
		tables += queries[n].count;
	if (made)
		made->list = calloc(tables + 1, sizeof(*made->list));
	if (!made || !made->list)
		return 1;
	pthread_mutex_init(&made->tables.lock, NULL);
	if (!duck_library_load(sql_duckdb_path, message, SQL_MESSAGE))
		return 1;
	result = duck_base_open(made, queries->threads, message);
	for (unsigned n = 0; n < count && !result; n++)
		result = duck_add_trace(made, &queries[n], schemas[n], !n, message);
	made->functions = (struct duck_functions){ &made->tables, queries };
	if (!result)
		result = !duck_functions_add(made->connection, &made->functions) ||
			 duck_do(made, duck_macros, message);
	made->tables.ready = true;
	return result;
}

static void duck_close(struct sql *sql)
{
	struct duck *made = duck_of(sql);

	if (!made)
		return;
	if (made->connection)
		duck.disconnect(&made->connection);
	if (made->base)
		duck.close(&made->base);
	if (made->list)
		pthread_mutex_destroy(&made->tables.lock);
	free(made->list);
	free(made);
}

/* ---- Statements */

/* Statements that read; COPY writes a file where the user asks for one. */
static bool statement_reads(duck_handle statement)
{
	const int type = duck.prepared_statement_type(statement);

	return type == DUCK_SELECT || type == DUCK_EXPLAIN || type == DUCK_COPY;
}

/* Return: 0; 1: it is wrong. */
static int duck_prepare(struct duck *made, const char *text, const char *argument, duck_handle *statement,
			char message[SQL_MESSAGE])
{
	if (duck.prepare(made->connection, text, statement)) {
		const char *error = duck.prepare_error(*statement);

		snprintf(message, SQL_MESSAGE, "%s", error ? error : "no memory");
		return 1;
	}
	if (!statement_reads(*statement)) {
		snprintf(message, SQL_MESSAGE, "not authorized: give SELECT, EXPLAIN or COPY ... TO");
		return 1;
	}
	if (argument && duck.nparams(*statement) == 1)
		return duck.bind_varchar(*statement, 1, argument);
	return 0;
}

/* Runs one statement. @text: without the semicolon */
static int duck_run_one(struct duck *made, const char *text, const char *argument, enum sql_format format,
			int file, char message[SQL_MESSAGE])
{
	struct view_buffer other = { 0 };
	duck_handle statement = NULL;
	int result = duck_prepare(made, text, argument, &statement, message);

	if (!result && duck_text_casts(text, statement, &other)) {
		duck.destroy_prepare(&statement);
		result = duck_prepare(made, other.bytes, argument, &statement, message);
	}
	if (!result)
		result = duck_rows_print(statement, format, file, message);
	duck.destroy_prepare(&statement);
	view_buffer_free(&other);
	return result;
}

/* DuckDB adds lines that point into the statement. */
static void message_first_line(char message[SQL_MESSAGE])
{
	message[strcspn(message, "\n")] = '\0';
}

static int duck_run(struct sql *sql, const char *text, const char *argument, enum sql_format format, int file,
		    char message[SQL_MESSAGE])
{
	bool any = false;
	int result = 0;

	*message = '\0';
	while (!result && *text) {
		size_t length = duck_text_statement(text);
		char *one = strndup(text, length);

		if (!one) {
			snprintf(message, SQL_MESSAGE, "out of memory");
			return 1;
		}
		if (!duck_text_is_blank(one)) {
			any = true;
			result = duck_run_one(duck_of(sql), one, argument, format, file, message);
		}
		free(one);
		text += length + (text[length] == ';');
	}
	message_first_line(message);
	if (!result && !any)
		snprintf(message, SQL_MESSAGE, "give a statement, such as: SELECT * FROM events LIMIT 10");
	return result || any ? result : SQL_NOTHING;
}

static void duck_interrupt(struct sql *sql)
{
	duck.interrupt(duck_of(sql)->connection);
}

static bool duck_complete(const char *text)
{
	bool complete = false;

	while (*text) {
		const size_t length = duck_text_statement(text);

		if (text[length] != ';')
			return complete && duck_text_is_blank(text);
		complete = true;
		text += length + 1;
	}
	return complete;
}

static char *duck_word(struct sql *sql, const char *prefix, unsigned n)
{
	static const char query[] =
		"SELECT name FROM (SELECT view_name AS name FROM duckdb_views() WHERE NOT internal UNION "
		"SELECT "
		"column_name FROM duckdb_columns() WHERE NOT internal UNION SELECT function_name || '(' FROM "
		"duckdb_functions() UNION VALUES ('SELECT'), ('FROM'), ('WHERE'), ('GROUP BY'), ('ORDER "
		"BY'), "
		"('LIMIT'), ('JOIN'), ('BETWEEN'), ('DISTINCT'), ('HAVING')) WHERE starts_with(lower(name), "
		"lower(?1)) ORDER BY 1";

	return duck_rows_text(duck_of(sql)->connection, query, prefix, n);
}

const struct sql_engine sql_duckdb = {
	.open = duck_open,
	.close = duck_close,
	.run = duck_run,
	.interrupt = duck_interrupt,
	.complete = duck_complete,
	.word = duck_word,
	.tables = "SELECT schema_name AS schema, view_name AS name, column_count AS columns FROM "
		  "duckdb_views() "
		  "WHERE NOT internal ORDER BY 1, 2",
	.columns =
		"SELECT column_name AS column, data_type AS type FROM duckdb_columns() WHERE table_name = ?1 "
		"ORDER BY column_index",
	.losses = "SELECT make_timestamp_ns(time) AS time, make_timestamp_ns(\"end\") AS \"end\", cause, "
		  "count, "
		  "ring FROM losses",
};
