/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin dump: the records of a trace as text or JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burin/read.h"
#include "cmd/cmd.h"
#include "cmd/report/open_profile.h"
#include "view/syscalls/values/descriptor_calls.h"
#include "view/syscalls/syscall_dump.h"
#include "view/records/dump.h"

static bool syscalls;
static struct view_dump dump = { .file = STDOUT_FILENO, .where.fault = &cmd_where_fault };

static const struct cmd_option table[] = {
	OPTION_FLAG("--syscalls", &syscalls,
		    "print system calls (burin record -k 'syscalls:*') as strace does: a line when one ends, "
		    "with "
		    "the time of its begin; --event matches names of calls"),
	OPTION_FLAG(
		"--no-paths", &dump.without_paths,
		"with --syscalls: print descriptors as numbers, also where the calls of the trace show what "
		"they refer to"),
	OPTION_LIST("-e, --event GLOB", &dump.events, "only events whose name matches; may be repeated"),
	CMD_WHERE(&dump.where.list, CMD_WHERE_RECORDS),
	OPTION_LIST("-f, --function GLOB", &dump.functions,
		    "only calls of functions whose name matches; may be repeated"),
	OPTION_NUMBERS("-p, --pid N,...", &dump.pids, UINT32_MAX - 1, "only these processes"),
	OPTION_NUMBERS("-t, --tid N,...", &dump.tids, UINT32_MAX - 1, "only these threads"),
	OPTION_NUMBERS("-c, --cpu N,...", &dump.cpus, UINT32_MAX - 1, "only these CPUs"),
	OPTION_NUMBERS("--correlation N,...", &dump.correlations, UINT64_MAX,
		       "only these ids (burin record --context correlation)"),
	OPTION_GROUP(cmd_time_options),
	OPTION_NUMBER("-n, --limit N", &dump.limit, 1, UINT64_MAX, "print at most N lines"),
	OPTION_FLAG("-a, --absolute", &dump.style.absolute,
		    "print times of day instead of seconds since the first record"),
	OPTION_FLAG("--stacks", &dump.style.stacks, "print the stack below each sample"),
	OPTION_FLAG("--names", &dump.names, "also print the records that name processes and threads"),
	OPTION_FLAG("-j, --json", &dump.style.json, "one JSON object per line"),
	CMD_MEMORY,
	{ 0 },
};

static int cmd_dump_print(const struct burin_trace *trace, const char *path, const struct cmd_faults *faults)
{
	const int error = syscalls ? view_syscall_dump(trace, &dump) : view_dump(trace, &dump);
	const char *lack = syscalls && !dump.without_paths ? descriptor_calls_lack(trace) : NULL;
	int result;

	if (error == -EDOM)
		return cmd_where_failed();
	result = error == -ENODATA ? cmd_usage("%s: the trace has no system calls; record some with: burin "
					       "record -k 'syscalls:*' -- COMMAND",
					       path)
				   : cmd_written(error);
	if (lack)
		cmd_note("Descriptors have no paths: %s\n", lack);
	cmd_losses_foot(trace, faults, path);
	return faults->count ? CMD_FAULTS : result;
}

static int cmd_dump_run(char **operands)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct burin_trace *trace = NULL;
	int result = cmd_open(&trace, operands[0], &faults);

	dump.threads = cmd_threads();
	dump.style.color = !dump.style.json && cmd_color(STDOUT_FILENO);
	if (!result && syscalls &&
	    (dump.correlations.count || dump.functions.count || dump.names || dump.style.stacks))
		result = cmd_usage("--syscalls: remove %s", dump.correlations.count ? "--correlation"
							    : dump.functions.count  ? "--function"
							    : dump.names	    ? "--names"
										    : "--stacks");
	if (!result && dump.without_paths && !syscalls)
		result = cmd_usage("--no-paths: add --syscalls");
	if (!result && dump.correlations.count && !(burin_trace_context(trace) & BURIN_CONTEXT_CORRELATION))
		result = cmd_usage("the records of this trace have no correlation id; see burin record "
				   "--context");
	if (!result)
		result = cmd_times(trace, &dump.from, &dump.to);
	if (!result)
		result = cmd_dump_print(trace, operands[0], &faults);
	burin_trace_close(trace);
	return result;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.line = "print the records of a trace as text or JSON",
	.usage = "Usage: burin dump [options] [DIR]\n"
		 "\n"
		 "Print the records of the trace in DIR, all CPUs merged by time, one line each: time,\n"
		 "CPU, process/thread, name of the thread, event, context (burin record --context) and\n"
		 "fields.\n",
	.notes = "TIME is as printed: seconds since the first record (1.25), a local time\n"
		 "(2026-11-21 07:45:35.5, or 07:45:35 on the day of the first record), or @ and\n"
		 "seconds since 1970.\n"
		 "\n"
		 "Lost records, by cause, and faults of the trace are printed to stderr.\n"
		 "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.main = cmd_dump_run,
};
