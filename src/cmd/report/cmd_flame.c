/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin flame: a flame graph as an HTML page. */
#include <stdio.h>

#include "cmd/report/open_profile.h"
#include "view/profile/flame.h"

static const char *output, *title, *slowest;
static struct view_globs spans;
static bool calls;

static const struct cmd_option table[] = {
	OPTION_TEXT("-o, --output FILE", &output, "write the page to FILE; - for standard output"),
	OPTION_TEXT("--title TEXT", &title, "title of the page (default: the recorded command)"),
	OPTION_FLAG("--calls", &calls, "of recorded calls, not of samples"),
	OPTION_LIST("--span GLOB", &spans,
		    "only samples within spans of this name, such as http.request; may be repeated"),
	OPTION_TEXT(
		"--slowest N", &slowest,
		"with --span: within the N slowest ones, or within the slowest share, such as 1%, of each "
		"name"),
	OPTION_GROUP(cmd_profile_options),
	CMD_MEMORY,
	{ 0 },
};

static int cmd_flame_write_page(const struct cmd_profile *profile)
{
	const char *command = burin_trace_recording(profile->trace, "command");
	struct view_buffer out = { .used = 0 };
	int file, result;

	if (!title)
		title = command && *command ? command : "burin flame";
	result = view_flame(&profile->counted, title, &out);
	if (result) {
		view_buffer_free(&out);
		return cmd_failed("%s", cmd_error(result));
	}
	file = cmd_profile_create(profile, output);
	if (file < 0) {
		view_buffer_free(&out);
		return CMD_FAULTS;
	}
	return cmd_profile_write(&out, file, output);
}

static int cmd_flame_run(char **operands)
{
	struct cmd_profile profile = { 0 };
	int result;

	if (!output)
		return cmd_usage("no output given; give -o FILE.html");
	if (slowest && !spans.count)
		return cmd_usage("--slowest is for spans; give --span, too");
	if (calls && spans.count)
		return cmd_usage("--span is for samples; remove --calls");
	profile.calls = calls;
	profile.spans = spans.count ? &spans : NULL;
	profile.slowest = slowest;
	result = cmd_profile_open(&profile, operands[0]);
	if (!result)
		result = cmd_flame_write_page(&profile);
	return cmd_profile_close(&profile, operands[0], result);
}

const struct cmd cmd_flame = {
	.name = "flame",
	.line = "write a flame graph as an HTML page",
	.usage = "Usage: burin flame [options] [DIR] -o FILE.html\n"
		 "\n"
		 "Write a flame graph of the samples in DIR as an HTML page: each call is as wide as its\n"
		 "share of the time, callers above callees. The page can search and zoom, and needs no\n"
		 "network and no other file.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.main = cmd_flame_run,
};
