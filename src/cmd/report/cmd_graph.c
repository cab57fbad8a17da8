/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin graph: print which functions called which. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "view/calls/call_contexts.h"

enum {
	FUNCTIONS_MAX = 20, /* printed */
};

static struct call_graph_report report = { .min = -1 };
static bool json;

static bool parse_min(const char *text)
{
	char *end;

	report.min = strtod(text, &end);
	return end != text && !*end && report.min >= 0 && report.min <= 100;
}

static const struct cmd_option table[] = {
	OPTION_NUMBER("-d, --depth N", &report.depth, 1, CALL_CONTEXT_DEPTH, "print at most N levels"),
	OPTION_PARSED("--min PERCENT", parse_min, "give a number from 0 to 100",
		      "omit functions with a smaller share of the time (default: 1; 0 in JSON)"),
	OPTION_GROUP(cmd_calls_options),
	OPTION_FLAG("-j, --json", &json, "one JSON object"),
	CMD_MEMORY,
	{ 0 },
};

/* The callers and callees of the functions that a glob selects. */
static int print_functions(const struct call_contexts *contexts, const char *glob, struct view_buffer *out)
{
	uint32_t *keys = NULL;
	ssize_t count = call_contexts_find(contexts, glob, &keys);
	int result = (int)count;

	if (count == 0) {
		free(keys);
		return cmd_usage("no recorded call of a function %s; burin report --calls lists functions",
				 glob);
	}
	if (count > FUNCTIONS_MAX) {
		cmd_note("burin graph: %s selects %u functions; the first %u are printed\n", glob,
			 (unsigned)count, FUNCTIONS_MAX);
		count = FUNCTIONS_MAX;
	}
	if (count > 0)
		result = json ? call_graph_of_json(contexts, &report, keys, (size_t)count, out)
			      : call_graph_of_text(contexts, &report, keys, (size_t)count, out);
	free(keys);
	return result ? cmd_failed("%s", cmd_error(result)) : 0;
}

static int cmd_graph_print(const struct call_contexts *contexts, const char *glob)
{
	struct view_buffer out = { .used = 0 };
	int result = 0;

	if (glob)
		result = print_functions(contexts, glob, &out);
	else if (json)
		call_graph_json(contexts, &report, &out);
	else
		call_graph_text(contexts, &report, &out);
	if (result) {
		view_buffer_free(&out);
		return result;
	}
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

static int cmd_graph_run(char **operands)
{
	const char *path = operands[0];
	struct call_contexts contexts;
	struct cmd_calls opened;
	int result = cmd_calls_open(&opened, path, cmd_calls_filter()), error;

	if (report.min < 0)
		report.min = json ? 0 : 1;
	report.color = cmd_color(STDOUT_FILENO);
	if (!result) {
		error = call_contexts_make(&contexts, opened.trace, &opened.filter, cmd_threads());
		result = error ? cmd_calls_failed(opened.trace, path, error)
			       : cmd_graph_print(&contexts, operands[1]);
		if (!error)
			call_contexts_free(&contexts);
	}
	return cmd_calls_close(&opened, path, result);
}

const struct cmd cmd_graph = {
	.name = "graph",
	.line = "print which functions called which, with times",
	.usage = "Usage: burin graph [options] [DIR [FUNCTION]]\n"
		 "\n"
		 "Print the tree of the recorded calls in DIR: how often each function was called from\n"
		 "there, and how long it took, with its callees and by itself. With FUNCTION, a name or\n"
		 "a glob, print its callers and callees.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 1,
		      2,
		      "give one trace, the directory that burin record wrote, and at most one function",
		      { CMD_IS_TRACE } },
	.views = true,
	.main = cmd_graph_run,
};
