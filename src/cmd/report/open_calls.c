/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands that read calls; see open_calls.h. */
#include <errno.h>

#include "cmd/report/open_calls.h"

int cmd_calls_open(struct cmd_calls *calls, const char *path)
{
	int result;

	*calls = (struct cmd_calls){ .filter = *cmd_profile_filter(), .faults.show_max = 10 };
	if (calls->filter.event.count)
		return cmd_usage("--event is for samples; calls are one event");
	result = cmd_open(&calls->trace, path, &calls->faults);
	return result ? result : cmd_times(calls->trace, &calls->filter.from, &calls->filter.to);
}

int cmd_calls_failed(const char *path, int result)
{
	if (result == -ENODATA)
		return cmd_usage(
			"%s: the trace has no calls; record some with: burin record --calls -- COMMAND",
			path);
	return cmd_failed("%s: %s", path, cmd_error(result));
}

int cmd_calls_close(struct cmd_calls *calls, const char *path, int result)
{
	cmd_faults_foot(&calls->faults, path);
	burin_trace_close(calls->trace);
	return !result && calls->faults.count ? CMD_FAULTS : result;
}
