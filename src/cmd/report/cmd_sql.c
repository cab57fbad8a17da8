/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin sql: a query in SQL over the records of a trace. */
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/report/open_profile.h"
#include "query/query_table.h"
#include "sql/sql_engine.h"

static bool csv;

static const struct cmd_option table[] = {
	OPTION_FLAG("--csv", &csv, "print CSV, not columns with tabs between them"),
	CMD_MEMORY,
	{ 0 },
};

static int cmd_sql_run(char **operands)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct burin_trace *trace = NULL;
	char message[SQL_MESSAGE];
	struct query query;
	int result, error;

	if (!sql_available())
		return cmd_usage(
			"this burin was built without SQLite; install libsqlite3-dev and build it again");
	result = cmd_open(&trace, operands[0], &faults);
	if (result)
		return result;
	error = query_make(&query, trace);
	if (!error)
		error = sql_run(&query, operands[1], csv, STDOUT_FILENO, message);
	result = error > 0 ? cmd_failed("%s", message) : cmd_written(error);
	query_free(&query);
	cmd_losses_foot(trace, &faults, operands[0]);
	burin_trace_close(trace);
	return faults.count ? CMD_FAULTS : result;
}

const struct cmd cmd_sql = {
	.name = "sql",
	.line = "answer a query in SQL over the records of a trace",
	.usage = "Usage: burin sql [options] DIR QUERY\n"
		 "\n"
		 "Print the rows that a query of SQLite finds in the trace in DIR. Tables: events, one\n"
		 "for each event by its name (\"net.rx\"), with a column for each field, and losses.\n",
	.notes = "Lost records, by cause, and faults of the trace are printed to stderr.\n"
		 "Exit code: 0; 1 if the query is wrong, the trace has faults or writing failed; 2 if\n"
		 "nothing was read.\n",
	.options = table,
	.operands = { 2, 2, "give a trace and a query in quotes", { CMD_IS_TRACE, CMD_IS_OTHER } },
	.views = true,
	.main = cmd_sql_run,
};
