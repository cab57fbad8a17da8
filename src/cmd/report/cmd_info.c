/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin info: summarize a trace. */
#include <errno.h>
#include <unistd.h>

#include "burin/read.h"
#include "cmd/cmd.h"
#include "read/trace.h"
#include "view/summary/summary.h"

static bool json;

static const struct cmd_option table[] = {
	OPTION_FLAG("-j, --json", &json, "one JSON object"),
	CMD_MEMORY,
	{ 0 },
};

static int print_summary(const struct burin_trace *trace)
{
	struct view_buffer out = { .used = 0 };
	struct read_counts counts;
	int result = read_count(trace, cmd_threads(), &counts);

	if (result)
		return cmd_failed("%s", cmd_error(-ENOMEM));
	if (json)
		view_summary_json(trace, &counts, &out);
	else
		view_summary_text(trace, &counts, cmd_color(STDOUT_FILENO), &out);
	read_counts_free(&counts);
	return cmd_print(&out, STDOUT_FILENO);
}

static int cmd_info_run(char **operands)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct burin_trace *trace;
	int result = cmd_open(&trace, operands[0], &faults);

	if (result)
		return result;
	result = print_summary(trace);
	cmd_faults_foot(&faults, operands[0]);
	burin_trace_close(trace);
	return faults.count ? CMD_FAULTS : result;
}

const struct cmd cmd_info = {
	.name = "info",
	.line = "summarize a trace: events, processes, changes, losses",
	.usage = "Usage: burin info [options] [DIR]\n"
		 "\n"
		 "Summarize the trace in DIR: command, result, time and rate; events with their counts\n"
		 "and source lines; processes and threads; changes of events during the recording, and\n"
		 "the process that made them; losses by cause; events that were off, and for how long.\n"
		 "Counts every record.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if it cannot be opened.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.main = cmd_info_run,
};
