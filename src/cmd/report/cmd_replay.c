/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin replay: the calls of a trace, in the order in which they began. */
#include <errno.h>
#include <unistd.h>

#include "burin/calls.h"
#include "cmd/cmd.h"
#include "cmd/pager.h"
#include "cmd/report/open_profile.h"
#include "cmd/selection_options.h"
#include "view/calls/replay/replay.h"
#include "view/summary/summary.h"

static struct view_replay replay = { .file = STDOUT_FILENO, .where.fault = &cmd_where_fault };
static bool no_pager;

static const struct cmd_option table[] = {
	OPTION_LIST("-f, --function GLOB", &replay.functions,
		    "only calls of functions whose name matches, and what they call; may be repeated"),
	OPTION_NUMBER("-B, --backtrace N", &replay.backtrace, 1, 1000,
		      "with --function: print up to N callers above each"),
	OPTION_NUMBER("-D, --depth N", &replay.depth, 1, 65535,
		      "at most N levels; with --function, from its calls on"),
	OPTION_DURATION("-m, --min TIME", &replay.min_ns, 1,
			"only calls that took at least TIME: 250us, 3ms"),
	OPTION_LIST("-e, --event GLOB", &replay.events,
		    "of events and samples, only those whose name matches; may be repeated"),
	OPTION_FLAG("--no-events", &replay.no_events, "leave out events and samples"),
	OPTION_NUMBERS("-p, --pid N,...", &replay.pids, UINT32_MAX - 1, "only these processes"),
	OPTION_NUMBERS("-t, --tid N,...", &replay.tids, UINT32_MAX - 1, "only these threads"),
	CMD_WHERE(
		&replay.where.list,
		"only calls, events and samples of which EXPR is true, such as '$cpu == 1'; 'GLOB: EXPR' is "
		"for those of these names, such as 'http.*: ms > 20'; may be repeated. See burin-enable(1)"),
	OPTION_GROUP(cmd_time_options),
	OPTION_NUMBER("-n, --limit N", &replay.limit, 1, UINT64_MAX, "print at most N lines"),
	OPTION_FLAG("-a, --absolute", &replay.style.absolute,
		    "print times of day instead of seconds since the first call"),
	OPTION_FLAG("-j, --json", &replay.style.json, "one JSON object per line"),
	OPTION_FLAG("--no-pager", &no_pager, "print to the terminal without a pager"),
	CMD_MEMORY,
	{ 0 },
};

/* The exit code of a replay. */
static int cmd_replay_status_of(const struct burin_trace *trace, int result, const char *path)
{
	if (result == -ENODATA)
		return cmd_no_calls(trace, path);
	if (result == -EDOM)
		return cmd_where_failed();
	if (result == -ENOENT)
		return cmd_usage(
			"%s: no recorded call of a function %s; burin report --calls lists functions", path,
			replay.functions.globs[0]);
	return cmd_written(result);
}

/* Seconds count from the first call, which has to be known before --from can be. */
static int find_times(const struct burin_trace *trace, const char *path)
{
	int result = cmd_times_given() ? view_replay_begin(trace, &replay.begin) : 0;

	return result ? cmd_replay_status_of(trace, result, path)
		      : cmd_times_since(trace, replay.begin, &replay.from, &replay.to);
}

static int cmd_replay_print(const struct burin_trace *trace, const char *path)
{
	int result;

	if (!no_pager && !replay.style.json)
		pager_begin();
	result = view_replay(trace, &replay);
	pager_end();
	return cmd_replay_status_of(trace, result, path);
}

static int cmd_replay_run(char **operands)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct burin_trace *trace = NULL;
	int result;

	if (replay.backtrace && !replay.functions.count)
		return cmd_usage("--backtrace needs --function");
	if (replay.backtrace && replay.style.json)
		return cmd_usage("give only one of --backtrace and --json");
	if (replay.no_events && replay.events.count)
		return cmd_usage("give only one of --event and --no-events");
	result = cmd_open(&trace, operands[0], &faults);
	replay.threads = cmd_threads();
	replay.style.color = !replay.style.json && cmd_color(STDOUT_FILENO);
	if (!result)
		result = find_times(trace, operands[0]);
	if (!result) {
		result = cmd_replay_print(trace, operands[0]);
		if (result != CMD_USAGE)
			cmd_losses_foot(trace, &faults, operands[0]);
		if (faults.count && result != CMD_USAGE)
			result = CMD_FAULTS;
	}
	burin_trace_close(trace);
	return result;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.line = "print the calls of a trace in the order in which they began, indented",
	.usage = "Usage: burin replay [options] [DIR]\n"
		 "\n"
		 "Print the calls of the trace in DIR (burin record --calls) in the order in which they\n"
		 "began, one level deeper than their callers: time, process/thread, name of the thread,\n"
		 "duration, function. Events and samples stand between them.\n",
	.notes = "A call that called nothing is one line, with a semicolon. The duration of a call that\n"
		 "had not ended is \"open\". TIME of --from and --to is as printed, a local time, or @ and\n"
		 "seconds since 1970.\n"
		 "\n"
		 "On a terminal the output goes through $PAGER or less, except for root.\n"
		 "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.main = cmd_replay_run,
};
