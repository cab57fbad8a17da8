/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin sql: queries in SQL over traces, one from the command line, or many in a shell. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/report/open_profile.h"
#include "cmd/sql/sql_session.h"
#include "cmd/sql/sql_shell.h"
#include "query/query.h"
#include "sql/sql_engine.h"

static bool as_csv, as_json, as_markdown;

enum {
	ENGINE_SQLITE,
	ENGINE_DUCKDB,
};
static unsigned engine_number;
static const char *const engine_names[] = { [ENGINE_SQLITE] = "sqlite", [ENGINE_DUCKDB] = "duckdb", NULL };
static const struct sql_engine *const engines[] = {
	[ENGINE_SQLITE] = &sql_sqlite, [ENGINE_DUCKDB] = &sql_duckdb
};

static const struct cmd_option table[] = {
	OPTION_FLAG("--csv", &as_csv, "print rows as CSV"),
	OPTION_FLAG("-j, --json", &as_json, "print an object of JSON for each row, in a line"),
	OPTION_FLAG("--markdown", &as_markdown, "print a table in Markdown"),
	OPTION_CHOICE("--engine NAME", &engine_number, engine_names,
		      "sqlite (default) or duckdb, whose library is loaded when it is asked for"),
	OPTION_TEXT("--library FILE", &sql_duckdb_path, "libduckdb.so (default: where the loader finds it)"),
	CMD_MEMORY,
	{ 0 },
};

/* The traces of one call. */
struct sql_inputs {
	unsigned count;
	struct sql_input {
		const char *path;
		char schema[64];
		struct burin_trace *trace;
		struct cmd_faults faults;
		struct sql_session session;
	} list[SQL_TRACES_MAX];
	struct query queries[SQL_TRACES_MAX];
	const char *schemas[SQL_TRACES_MAX];
};

static bool schema_used(const struct sql_inputs *inputs, const char *name)
{
	for (unsigned n = 0; n < inputs->count; n++)
		if (!strcasecmp(inputs->list[n].schema, name))
			return true;
	return !strcasecmp(name, "main") || !strcasecmp(name, "temp");
}

/* The first trace is `main`; others have the name of their directory, with a number behind it if that is used. */
static void schema_name(const struct sql_inputs *inputs, const char *path, char schema[64])
{
	size_t end = strlen(path), begin;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	snprintf(schema, 64, "%.*s", end - begin > 50 ? 50 : (int)(end - begin), path + begin);
	for (unsigned number = 2; schema_used(inputs, schema); number++)
		snprintf(schema, 64, "%.*s_%u", end - begin > 50 ? 50 : (int)(end - begin), path + begin,
			 number);
}

static bool is_directory(const char *path)
{
	struct stat is;

	return !stat(path, &is) && S_ISDIR(is.st_mode);
}

/* A directory is a trace, also where a program has its name. Return: 0 or the exit code. */
static int input_open(struct sql_input *input)
{
	int result;

	if (is_directory(input->path) || (!sql_session_is(input->path) && strchr(input->path, '/')))
		return cmd_open(&input->trace, input->path, &input->faults);
	if (!sql_session_is(input->path))
		return cmd_usage("%s: neither a trace nor a session; burin ls lists sessions", input->path);
	result = sql_session_take(&input->session, input->path);
	if (!result)
		result = cmd_open_at(&input->trace, input->session.directory, input->path, &input->faults);
	return result;
}

static int inputs_open(struct sql_inputs *inputs, const char *path)
{
	struct sql_input *input = &inputs->list[inputs->count];
	int result;

	*input = (struct sql_input){ .path = path, .faults.show_max = 10 };
	if (!inputs->count)
		strcpy(input->schema, "main");
	else
		schema_name(inputs, path, input->schema);
	result = input_open(input);
	if (result) {
		sql_session_drop(&input->session);
		return result;
	}
	inputs->schemas[inputs->count] = input->schema;
	return cmd_written(query_make(&inputs->queries[inputs->count++], input->trace, cmd_threads()));
}

/* Return: the exit code, with that of the faults of the traces. */
static int inputs_close(struct sql_inputs *inputs, int result)
{
	for (unsigned n = 0; n < inputs->count; n++) {
		struct sql_input *input = &inputs->list[n];

		query_free(&inputs->queries[n]);
		cmd_losses_foot(input->trace, &input->faults, input->path);
		burin_trace_close(input->trace);
		if (input->faults.count && !result)
			result = CMD_FAULTS;
	}
	while (inputs->count)
		sql_session_drop(&inputs->list[--inputs->count].session);
	return result;
}

static int sql_answer(struct sql_inputs *inputs, const char *statement)
{
	const enum sql_format format = as_csv	     ? SQL_CSV
				       : as_json     ? SQL_JSON
				       : as_markdown ? SQL_MARKDOWN
						     : SQL_TABLE;
	char message[SQL_MESSAGE];
	struct sql *sql;
	const struct sql_engine *engine = engines[engine_number];
	int error = engine->open(&sql, inputs->queries, inputs->schemas, inputs->count, message);

	if (!error && !statement) {
		const int result = sql_shell(engine, sql, format);

		engine->close(sql);
		return result;
	}
	if (!error)
		error = engine->run(sql, statement, NULL, format, STDOUT_FILENO, message);
	engine->close(sql);
	return error > 0 ? cmd_failed("%s", message) : cmd_written(error);
}

/* Whether an operand is a path, and not the name of a program or a query. */
static bool is_path(const char *word)
{
	return *word == '/' || strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0;
}

/*
 * The last operand is a query if it has blanks or brackets, unless it is the only one, or the path of a trace or a session. The names of
 * programs and of files in the current directory do not count: others may have chosen them.
 */
static const char *take_statement(char **operands, unsigned *count)
{
	const char *last;

	for (*count = 0; operands[*count];)
		++*count;
	if (*count < 2)
		return NULL;
	last = operands[*count - 1];
	if (*last && !strpbrk(last, " \t\n()[]\"'`;"))
		return NULL;
	if (is_path(last) && (is_directory(last) || sql_session_is(last)))
		return NULL;
	return operands[--*count];
}

static int cmd_sql_run(char **operands)
{
	static struct sql_inputs inputs;
	const char *statement;
	unsigned count;
	int result = 0;

	if (!engines[engine_number]->open)
		return cmd_usage(
			"this burin was built without SQLite; install libsqlite3-dev and build it again");
	if (sql_duckdb_path && engine_number != ENGINE_DUCKDB)
		return cmd_usage("--library is for --engine duckdb; add it");
	if (as_csv + as_json + as_markdown > 1)
		return cmd_usage("give one of --csv, --json and --markdown");
	statement = take_statement(operands, &count);
	if (count > SQL_TRACES_MAX)
		return cmd_usage("give at most %d traces", SQL_TRACES_MAX);
	for (unsigned n = 0; n < count && !result; n++)
		result = inputs_open(&inputs, operands[n]);
	sql_duckdb_memory = cmd_memory ? cmd_memory : CMD_MEMORY_DEFAULT;
	if (!result)
		result = sql_answer(&inputs, statement);
	return inputs_close(&inputs, result);
}

const struct cmd cmd_sql = {
	.name = "sql",
	.line = "answer queries in SQL over the records of traces",
	.usage = "Usage: burin sql [options] DIR|TARGET... [QUERY]\n"
		 "\n"
		 "Print the rows that a query finds in the trace in DIR, or in the last events of\n"
		 "TARGET, a program that runs or was killed: a pid, a program's name, a session's path or\n"
		 "kernel. Without QUERY, read queries from the terminal or from standard input.\n"
		 "Tables: events, one for each event by its name (\"net.rx\") with a column for each\n"
		 "field, counters, spans, syscalls, calls, samples, stacks, frames, sched, threads,\n"
		 "processes and losses. Functions: percentile(X, P), histogram(X), stack(NUMBER),\n"
		 "symbol(LOCATION), time(NS). The tables of a second DIR are in a schema of its name.\n",
	.notes = "Lost records, by cause, and faults of the traces are printed to stderr.\n"
		 "Exit code: 0; 1 if a query is wrong, a trace has faults or writing failed; 2 if\n"
		 "nothing was read.\n",
	.options = table,
	.operands = { 1,
		      SQL_TRACES_MAX + 2,
		      "give a trace, and a query in quotes",
		      { CMD_IS_TRACE, CMD_IS_TRACE } },
	.views = true,
	.main = cmd_sql_run,
};
