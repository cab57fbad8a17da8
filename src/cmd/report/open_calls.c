/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands that read calls; see open_calls.h. */
#include <errno.h>

#include "cmd/report/open_calls.h"

static struct view_profile_filter selected = { .where.fault = &cmd_where_fault };

const struct cmd_option cmd_calls_options[] = {
	OPTION_NUMBERS("-p, --pid N,...", &selected.pids, UINT32_MAX - 1, "only these processes"),
	OPTION_LIST("--program GLOB", &selected.programs, "only programs of this name; may be repeated"),
	OPTION_LIST("--thread GLOB", &selected.threads, "only threads of this name; may be repeated"),
	CMD_WHERE(&selected.where.list,
		  "only calls of which EXPR is true, such as '$thread == \"worker\"', and, with recorded "
		  "arguments, 'size > 4K'; 'GLOB: EXPR' is for those of these names; may be repeated. See "
		  "burin(1) and burin-enable(1)"),
	OPTION_GROUP(cmd_time_options),
	{ 0 },
};

const struct view_profile_filter *cmd_calls_filter(void)
{
	return &selected;
}

int cmd_calls_open(struct cmd_calls *calls, const char *path, const struct view_profile_filter *filter)
{
	int result;

	*calls = (struct cmd_calls){ .filter = *filter, .faults.show_max = 10 };
	if (calls->filter.event.count)
		return cmd_usage("--event is for samples; calls are one event");
	result = cmd_open(&calls->trace, path, &calls->faults);
	return result ? result : cmd_times(calls->trace, &calls->filter.from, &calls->filter.to);
}

int cmd_calls_failed(const struct burin_trace *trace, const char *path, int result)
{
	if (result == -ENODATA)
		return cmd_no_calls(trace, path);
	return result == -EDOM ? cmd_where_failed() : cmd_failed("%s: %s", path, cmd_error(result));
}

int cmd_calls_close(struct cmd_calls *calls, const char *path, int result)
{
	cmd_faults_foot(&calls->faults, path);
	burin_trace_close(calls->trace);
	return !result && calls->faults.count ? CMD_FAULTS : result;
}
