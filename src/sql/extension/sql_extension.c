/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin.so: tables of traces in any program that has SQLite.
 *
 *	burin_open(DIR[, SCHEMA])	opens a trace. Its tables are in the database SCHEMA, or `trace`. Returns what the trace lost
 *	burin_faults([SCHEMA])		what could not be read of a trace so far; NULL: nothing
 *
 * and the functions of sql_functions.h. The database is in memory and attached: SQLite finds the tables without a schema, but behind those
 * of the program's own databases, to which nothing is written. It vanishes with the connection, or by DETACH.
 *
 * A connection owns its traces. One that was detached is closed when the next one is opened, or when the connection ends.
 *
 * The program is not ours. So the extension prints nothing, handles no signal, changes no setting, and restricts no statement. Each error
 * is the message of the statement.
 */
#ifndef SQL_EXTENSION /* the build gives it to the files that it compiles again */
#define SQL_EXTENSION
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "sql/sql_functions.h"
#include "sql/sql_table.h"
#include "view/losses.h"
#include "view/view_threads.h"

SQLITE_EXTENSION_INIT1

enum {
	EXTENSION_FAULTS = 10,	    /* that are listed */
	EXTENSION_SQLITE = 3031000, /* the oldest version that has all functions */
	EXTENSION_NAME = 256,	    /* bytes of a schema */
};

/* Freed when its functions and all its traces are gone. */
struct extension {
	struct sql_traces traces;
	unsigned count; /* of traces, also of those that only statements still refer to */
	bool ended;
};

struct extension_trace {
	struct sql_trace trace; /* first */
	struct extension *extension;
	struct burin_trace *file;
	struct query query;
	char *path;
	char schema[EXTENSION_NAME];
};

static void extension_settle(struct extension *extension)
{
	if (extension->ended && !extension->count)
		free(extension);
}

static void extension_end(void *data)
{
	struct extension *extension = data;

	extension->ended = true;
	extension_settle(extension);
}

static void extension_unlink(struct extension *extension, const struct sql_trace *trace)
{
	struct sql_trace **at = &extension->traces.first;

	while (*at && *at != trace)
		at = &(*at)->next;
	if (*at)
		*at = trace->next;
}

static void extension_release(void *data)
{
	struct extension_trace *opened = data;
	struct extension *extension = opened->extension;

	extension_unlink(extension, &opened->trace);
	extension->count--;
	query_free(&opened->query);
	burin_trace_close(opened->file);
	free(opened->path);
	free(opened);
	extension_settle(extension);
}

/* The error of a statement. Texts of others are escaped. */
static void extension_fail(sqlite3_context *context, const char *subject, const char *reason,
			   const char *hint)
{
	struct view_buffer text = { 0 };

	view_buffer_print(&text, "%s: %s%s", subject, reason, hint);
	if (text.failed)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_error(context, text.bytes, (int)text.used);
	view_buffer_free(&text);
}

/* ---- Faults and losses */

static void faults_text(const struct extension_trace *opened, struct view_buffer *out)
{
	const uint64_t count = burin_trace_faults(opened->file);
	struct burin_diagnosis fault;
	unsigned n;

	for (n = 0; n < EXTENSION_FAULTS && !burin_trace_fault(opened->file, n, &fault); n++)
		view_buffer_print(out, "%s: byte %llu: %s: %s\n", *fault.file ? fault.file : ".",
				  (unsigned long long)fault.offset, burin_fault_name(fault.code),
				  fault.reason);
	if (count > n)
		view_buffer_print(out, "and %llu more faults; list all with: burin check --all %s\n",
				  (unsigned long long)(count - n), opened->path);
}

/* The lines of a text, which it frees; NULL: there are none. */
static void extension_answer(sqlite3_context *context, struct view_buffer *out)
{
	if (out->failed)
		sqlite3_result_error_nomem(context);
	else if (out->used)
		sqlite3_result_text64(context, out->bytes, out->used - 1, SQLITE_TRANSIENT, SQLITE_UTF8);
	view_buffer_free(out);
}

static void losses_answer(sqlite3_context *context, const struct extension_trace *opened)
{
	struct view_buffer out = { 0 }, samples = { 0 };

	view_losses_text(opened->file, false, &out);
	if (opened->query.profile && view_ledger_line(opened->query.profile, &samples))
		view_buffer_add(&out, &samples);
	out.failed |= samples.failed;
	view_buffer_free(&samples);
	faults_text(opened, &out);
	if (!out.used)
		view_buffer_print(&out, "%s: nothing was lost\n", opened->schema);
	extension_answer(context, &out);
}

static void faults_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct extension *extension = sqlite3_user_data(context);
	const char *schema = count ? (const char *)sqlite3_value_text(values[0]) : NULL;
	const struct sql_trace *trace = count && !schema ? NULL : sql_traces_find(&extension->traces, schema);
	struct view_buffer out = { 0 };

	if (!trace) {
		sqlite3_result_error(context, "give the schema of a trace that is open", -1);
		return;
	}
	faults_text((const struct extension_trace *)trace, &out);
	extension_answer(context, &out);
}

/* ---- Opening */

/* Runs a statement in which %w is the schema's name. @error: its message, for sqlite3_free() */
static int schema_run(sqlite3 *base, const char *format, const char *schema, char **error)
{
	char *text = sqlite3_mprintf(format, schema);
	const int result = text ? sqlite3_exec(base, text, NULL, NULL, error) : SQLITE_NOMEM;

	sqlite3_free(text);
	return result;
}

/*
 * An empty database in memory. In a connection that only reads, such a one is read-only, too, unless it is named by a URI that says more. That
 * is tried only there: where URIs are off, it would be the name of a file.
 */
static int schema_attach(sqlite3 *base, const char *schema, char **error)
{
	int result = schema_run(base, "ATTACH ':memory:' AS \"%w\"", schema, error);

	if (result || sqlite3_db_readonly(base, schema) != 1)
		return result;
	result = schema_run(base, "DETACH \"%w\"", schema, error);
	if (!result)
		result = schema_run(base, "ATTACH 'file:burin?mode=memory' AS \"%w\"", schema, error);
	if (!result)
		return 0;
	sqlite3_free(*error);
	*error = sqlite3_mprintf("burin_open() needs a place for its tables, which this connection, being "
				 "read-only, gives only "
				 "by a URI: open the database as file:NAME?mode=ro");
	return SQLITE_READONLY;
}

/* Closes traces whose databases were detached: they have no table any more. SQLite releases one with the last statement that read it. */
static void extension_sweep(sqlite3 *base, struct extension *extension)
{
	struct sql_trace *next;

	for (struct sql_trace *trace = extension->traces.first; trace; trace = next) {
		next = trace->next;
		if (sqlite3_table_column_metadata(base, trace->schema, "losses", NULL, NULL, NULL, NULL, NULL,
						  NULL) != SQLITE_ERROR)
			continue;
		extension_unlink(extension, trace);
		sql_trace_detach(base, trace);
	}
}

static void extension_add(struct extension *extension, struct extension_trace *opened)
{
	struct sql_trace **at = &extension->traces.first;

	while (*at)
		at = &(*at)->next;
	*at = &opened->trace;
}

/* Makes the tables. On failure it leaves nothing behind: then SQLite may have released the trace already. */
static void tables_make(sqlite3_context *context, struct extension_trace *opened, const char *schema)
{
	sqlite3 *base = sqlite3_context_db_handle(context);
	struct extension *extension = opened->extension;
	char *error = NULL;
	int result = schema_attach(base, schema, &error);

	if (result) {
		extension_fail(context, schema, error ? error : sqlite3_errstr(result), "");
		sqlite3_free(error);
		extension_release(opened);
		return;
	}
	extension_add(extension, opened);
	result = sql_trace_attach(base, &opened->trace, extension_release);
	if (!result) {
		losses_answer(context, opened);
		return;
	}
	extension_fail(context, schema, sqlite3_errmsg(base), "");
	schema_run(base, "DETACH \"%w\"", schema, NULL);
	extension_sweep(base, extension);
}

static const char *open_hint(int code)
{
	if (code == BURIN_FAULT_NOT_A_TRACE)
		return "; give the directory that burin record wrote";
	return code == -EACCES ? "; ask its owner, or change its permissions" : "";
}

static struct extension_trace *trace_open(sqlite3_context *context, const char *path, const char *schema)
{
	struct extension_trace *opened = calloc(1, sizeof(*opened));
	struct burin_diagnosis why;
	int result;

	if (!opened) {
		sqlite3_result_error_nomem(context);
		return NULL;
	}
	opened->extension = sqlite3_user_data(context);
	opened->extension->count++;
	snprintf(opened->schema, sizeof(opened->schema), "%s", schema);
	opened->trace = (struct sql_trace){ opened->schema, &opened->query, NULL };
	opened->path = strdup(path);
	result = burin_trace_open(&opened->file, path, NULL, &why);
	if (result)
		extension_fail(context, path, *why.reason ? why.reason : burin_fault_name(result),
			       open_hint(result));
	if (!result && (!opened->path || query_make(&opened->query, opened->file, view_threads()))) {
		sqlite3_result_error_nomem(context);
		result = SQLITE_NOMEM;
	}
	if (!result)
		return opened;
	extension_release(opened);
	return NULL;
}

/* A text without a NUL in it; NULL: it is none. */
static const char *text_of(sqlite3_value *value)
{
	const char *text =
		sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;

	return text && *text && strlen(text) == (size_t)sqlite3_value_bytes(value) ? text : NULL;
}

static void open_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *path = text_of(values[0]), *schema = count > 1 ? text_of(values[1]) : "trace";
	sqlite3 *base = sqlite3_context_db_handle(context);
	struct extension_trace *opened;

	if (!path) {
		sqlite3_result_error(context,
				     "burin_open() needs a trace: the directory that burin record wrote", -1);
	} else if (!schema || strlen(schema) >= EXTENSION_NAME) {
		sqlite3_result_error(context,
				     "the second argument of burin_open() is a name for its tables' database",
				     -1);
	} else if (!sqlite3_get_autocommit(base)) {
		sqlite3_result_error(context,
				     "burin_open() within a transaction: end it before, since a ROLLBACK "
				     "would take the tables away",
				     -1);
	} else {
		extension_sweep(base, sqlite3_user_data(context));
		opened = trace_open(context, path, schema);
		if (opened)
			tables_make(context, opened, schema);
	}
}

/* ---- Loading */

/* Whether a program loads it a second time into a connection. */
static bool extension_is_loaded(sqlite3 *base)
{
	sqlite3_stmt *statement = NULL;
	const bool loaded = !sqlite3_prepare_v2(base, "SELECT burin_faults('')", -1, &statement, NULL);

	sqlite3_finalize(statement);
	return loaded;
}

static int extension_add_functions(sqlite3 *base, struct extension *extension)
{
	int result = sql_functions_add(base, &extension->traces);

	for (int count = 0; count < 2 && !result; count++)
		result = sqlite3_create_function_v2(base, "burin_faults", count, SQLITE_UTF8, extension,
						    faults_function, NULL, NULL, NULL);
	if (!result)
		result = sqlite3_create_function_v2(base, "burin_open", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
						    extension, open_function, NULL, NULL, NULL);
	/* The last one, which owns the memory, also if it fails. */
	if (!result)
		return sqlite3_create_function_v2(base, "burin_open", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
						  extension, open_function, NULL, NULL, extension_end);
	extension_end(extension);
	return result;
}

__attribute__((visibility("default"))) int sqlite3_burin_init(sqlite3 *base, char **error,
							      const sqlite3_api_routines *api);

int sqlite3_burin_init(sqlite3 *base, char **error, const sqlite3_api_routines *api)
{
	struct extension *extension;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < EXTENSION_SQLITE) {
		*error = sqlite3_mprintf("burin.so needs SQLite 3.31 or later; this program has %s",
					 sqlite3_libversion());
		return SQLITE_ERROR;
	}
	if (extension_is_loaded(base))
		return SQLITE_OK;
	extension = calloc(1, sizeof(*extension));
	if (!extension)
		return SQLITE_NOMEM;
	extension->traces.exact = true;
	return extension_add_functions(base, extension);
}
