/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin info: what is in a trace. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burin/read.h"
#include "cmd/cmd.h"
#include "read/trace.h"
#include "view/summary.h"

const char cmd_info_help[] =
	"Usage: burin info [options] DIR\n"
	"\n"
	"Tell what is in the trace in DIR: how it came about, events with their counts and\n"
	"places in the source, processes and threads, time, rate, and what was lost.\n"
	"Counts every record.\n"
	"\n"
	"  -j, --json   one JSON object\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if it cannot be opened.\n";

static const char name[] = "info";

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

static int print_summary(const struct burin_trace *trace, bool json)
{
	struct view_buffer out = { .used = 0 };
	struct read_counts counts;
	int result = read_count(trace, cmd_threads(), &counts);

	if (result)
		return cmd_failed(name, "out of memory");
	if (json)
		view_summary_json(trace, &counts, &out);
	else
		view_summary_text(trace, &counts, cmd_color(STDOUT_FILENO), &out);
	read_counts_free(&counts);
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return cmd_written(name, result);
}

int cmd_info(int argc, char **argv)
{
	struct cmd_faults faults = { .name = name, .show_max = 10 };
	struct burin_trace *trace;
	bool json = false;
	int option, result;

	cmd_output_begin();
	optind = 0;
	while ((option = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (option != 'j')
			return cmd_see_help(name);
		json = true;
	}
	result = cmd_one_trace(name, argc);
	if (!result)
		result = cmd_open(&trace, argv[optind], &faults);
	if (result)
		return result;
	result = print_summary(trace, json);
	cmd_faults_foot(&faults, argv[optind]);
	burin_trace_close(trace);
	return faults.count ? CMD_FAULTS : result;
}
