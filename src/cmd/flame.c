/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin flame: a page that shows where the time went. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "burin/profile.h"
#include "cmd/profile.h"
#include "view/flame.h"

const char cmd_flame_help[] =
	"Usage: burin flame [options] DIR -o FILE.html\n"
	"\n"
	"Write a page that shows the tree of calls of the samples in DIR: as wide as its\n"
	"share of the time, callers above callees. It searches, zooms, and needs neither a\n"
	"network nor any other file.\n"
	"\n"
	"  -o, --output FILE    the page; - for standard output\n"
	"      --title TEXT     otherwise the recorded command\n" CMD_PROFILE_HELP
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n";

static const char name[] = "flame";

enum {
	OPTION_TITLE = CMD_PROFILE_OWN,
};

static const struct option options[] = {
	CMD_PROFILE_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "title", required_argument, NULL, OPTION_TITLE },
	{ NULL, 0, NULL, 0 },
};

struct arguments {
	const char *output, *title;
};

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;

	if (option != 'o' && option != OPTION_TITLE)
		return -1;
	*(option == 'o' ? &arguments->output : &arguments->title) = value;
	return 0;
}

static int write_page(const struct cmd_profile *profile, const char *title, const char *path)
{
	const char *command = burin_trace_recording(profile->trace, "command");
	struct view_buffer out = { .used = 0 };
	char safe[256];
	int file, result;

	if (!title)
		title = text_escape_line(safe, sizeof(safe), command && *command ? command : "burin flame");
	result = view_flame(&profile->counted, title, &out);
	if (result) {
		view_buffer_free(&out);
		return cmd_failed(name, "%s", strerror(-result));
	}
	file = cmd_profile_create(name, path);
	if (file < 0) {
		view_buffer_free(&out);
		return CMD_FAULTS;
	}
	return cmd_profile_write(name, &out, file);
}

int cmd_flame(int argc, char **argv)
{
	struct cmd_profile profile = { .name = name };
	struct arguments arguments = { .output = NULL };
	int result = cmd_profile_options(&profile, argc, argv, "o:p:", options, take_option, &arguments);

	if (!result)
		result = cmd_one_trace(name, argc);
	if (!result && !arguments.output)
		result = cmd_usage(name, "where to? Give -o FILE.html");
	if (!result)
		result = cmd_profile_open(&profile, argv[optind]);
	if (!result)
		result = write_page(&profile, arguments.title, arguments.output);
	return cmd_profile_close(&profile, argv[optind], result);
}
