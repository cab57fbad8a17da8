/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin hist: how often events occur, and how a field of theirs is distributed, also over time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/live/hist_options.h"
#include "cmd/live/live_counts.h"
#include "cmd/report/open_profile.h"
#include "cmd/selection_options.h"
#include "view/hist/hist.h"

static struct view_globs events;
static bool live, latency;
static const char *by;
static bool as_json, as_csv;
static struct view_conditions where = { .fault = &cmd_where_fault };
static struct hist_options asked = { .events = &events, .where = &where };
static struct view_report report = { .limit = 50 };

static const struct cmd_option table[] = {
	OPTION_LIST("-e, --event GLOB", &events,
		    "only events whose name matches; may be repeated (default: all that have the field)"),
	OPTION_TEXT("-f, --field FIELD", &asked.field,
		    "count the values of this field: numbers by their size, texts and names by value"),
	OPTION_TEXT("-b, --by WORD,...", &by,
		    "a row for each value of these fields; also program, thread, pid, tid and cpu"),
	OPTION_DURATION("--every TIME", &asked.every_ns, 1,
			"a row for each interval of this length, such as 100ms or 1s"),
	CMD_WHERE(&where.list, CMD_WHERE_RECORDS),
	OPTION_GROUP(cmd_time_options),
	OPTION_FLAG("--live", &live, "count events of the kernel, in the kernel, while something runs"),
	OPTION_FLAG("--latency", &latency, "with --live: how long system calls take, in ns"),
	OPTION_GROUP(live_options),
	OPTION_NUMBER("-n, --limit N", &report.limit, 1, UINT64_MAX, "print at most N rows (default: 50)"),
	OPTION_FLAG("-j, --json", &as_json, "one JSON object"),
	OPTION_FLAG("--csv", &as_csv, "rows as CSV"),
	CMD_MEMORY,
	{ 0 },
};

/* Return: the exit code. */
static int hist_failed(const char *path, int error)
{
	if (error == -EDOM)
		return cmd_where_failed();
	if (error == -E2BIG)
		return cmd_usage("more than %u rows; give a longer --every, or other words in --by",
				 (unsigned)HIST_ROWS_MAX);
	if (error == -ENODATA && asked.field)
		return cmd_usage(
			"%s: the trace has no such event with a number or text %s; burin info lists events, "
			"and burin dump shows their fields",
			path, asked.field);
	if (error == -ENODATA)
		return cmd_usage("%s: the trace has no event %s; burin info lists events", path,
				 events.count ? events.globs[0] : "");
	return cmd_failed("%s: %s", path, cmd_error(error));
}

static int hist_trace(const struct burin_trace *trace, const char *path)
{
	struct view_buffer out = { .used = 0 };
	struct hist hist;
	int error = hist_make(&hist, trace, &asked), result = 0;

	if (!error)
		hist_print(&hist, &report, &out);
	hist_free(&hist);
	if (error)
		result = hist_failed(path, error);
	return result ? result : cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

/* Refuse options that only one of both has. Return: 0 or CMD_USAGE. */
static int check_live(void)
{
	if (!live)
		return live_counts.globs.count || live_counts.command || latency
			       ? cmd_usage("--kernel, --latency and a command take --live; events of a trace "
					   "are "
					   "chosen by --event")
			       : 0;
	if (events.count || cmd_times_given() || cmd_memory)
		return cmd_usage("--live: %s is for records of a trace; remove it", events.count ? "--event"
										    : cmd_times_given()
											    ? "--from or --to"
											    : "--memory");
	if (latency && asked.field)
		return cmd_usage("--latency: remove --field");
	if (latency)
		asked.field = "latency";
	return 0;
}

static int cmd_hist_run(char **operands)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct burin_trace *trace = NULL;
	int result = hist_options_by(&asked, by);

	if (!result)
		result = hist_options_form(&report, as_json, as_csv);
	if (!result)
		result = check_live();
	if (!result && live)
		return live_run(&(struct live_wanted){ .hist = &asked, .times = latency, .report = &report });
	if (!result)
		result = cmd_open(&trace, operands[0], &faults);
	if (result)
		return result;
	report.color = report.form == TABLE_TEXT && cmd_color(STDOUT_FILENO);
	asked.threads = cmd_threads();
	result = cmd_times(trace, &asked.from, &asked.to);
	if (!result)
		result = hist_trace(trace, operands[0]);
	cmd_faults_foot(&faults, operands[0]);
	burin_trace_close(trace);
	return !result && faults.count ? CMD_FAULTS : result;
}

const struct cmd cmd_hist = {
	.name = "hist",
	.line = "count events, and the values of a field, also over time",
	.usage = "Usage: burin hist [options] [DIR]\n"
		 "       burin hist --live -k GLOB [options] {-- COMMAND [ARGUMENT]... | -p PID,... | -a}\n"
		 "\n"
		 "Count records of the trace in DIR by their event: how many, and how many a second.\n"
		 "With --field also how a field is distributed: mean, percentiles and a histogram.\n"
		 "With --live count the kernel's events while they occur, and record nothing.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was counted.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.live = &live,
	.main = cmd_hist_run,
};
