/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin diff: what takes more, or less, of the time than before. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burin/profile.h"
#include "cmd/profile.h"
#include "view/diff.h"

const char cmd_diff_help[] =
	"Usage: burin diff [options] A B\n"
	"\n"
	"Compare the samples of two traces: which functions have a larger or smaller share\n"
	"of them in B than in A. CHANCE is how likely it is that luck alone made any of the\n"
	"functions differ so much; what is above 0.05 is left out.\n"
	"\n"
	"      --total          what functions called is theirs too\n"
	"      --all            also what chance would make\n" CMD_PROFILE_HELP
	"  -j, --json           one JSON object\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if a trace has faults or writing failed; 2 if nothing was read.\n";

static const char name[] = "diff";

enum {
	OPTION_TOTAL = CMD_PROFILE_OWN,
	OPTION_ALL,
};

static const struct option options[] = {
	CMD_PROFILE_OPTIONS,
	{ "total", no_argument, NULL, OPTION_TOTAL },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

struct arguments {
	struct cmd_profile before, after; /* the filter is that of `before` */
	bool total, all, json;
};

static int take_option(void *data, int option, const char *value)
{
	struct arguments *arguments = data;

	(void)value;
	switch (option) {
	case OPTION_TOTAL:
		arguments->total = true;
		return 0;
	case OPTION_ALL:
		arguments->all = true;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	default:
		return -1;
	}
}

static const struct burin_event *event_of(const struct cmd_profile *profile)
{
	const struct view_counted *of = profile->counted.of;

	return of[VIEW_RUNNING].event ?: of[VIEW_WAITING].event;
}

static int same_events(const struct arguments *arguments)
{
	const struct burin_event *one = event_of(&arguments->before), *other = event_of(&arguments->after);

	if (!one || !other || !strcmp(one->name, other->name))
		return 0;
	return cmd_usage(name, "A has most samples of %s, B of %s: choose with --event", one->name,
			 other->name);
}

static int compare(const struct arguments *arguments)
{
	struct view_buffer out = { .used = 0 };
	struct view_diff diff;
	double chance_max = arguments->all ? 1 : 0.05;
	int result = view_diff_make(&diff, &arguments->before.counted, &arguments->after.counted, VIEW_SYMBOL,
				    arguments->total);

	if (result)
		return cmd_failed(name, "%s", strerror(-result));
	if (arguments->json)
		view_diff_json(&diff, chance_max, &out);
	else
		view_diff_text(&diff, chance_max, cmd_color(STDOUT_FILENO), &out);
	view_diff_free(&diff);
	return cmd_profile_write(name, &out, dup(STDOUT_FILENO));
}

int cmd_diff(int argc, char **argv)
{
	struct arguments arguments = { .before = { .name = name, .filter.apart = true }, .after.name = name };
	int result = cmd_profile_options(&arguments.before, argc, argv, "p:j", options, take_option,
					 &arguments),
	    after;

	if (!result && argc - optind != 2)
		result = cmd_usage(name, "which two traces? Give the directories that burin record made");
	arguments.after.filter = arguments.before.filter;
	arguments.after.from = arguments.before.from;
	arguments.after.to = arguments.before.to;
	if (!result)
		result = cmd_profile_open(&arguments.before, argv[optind]);
	if (!result)
		result = cmd_profile_open(&arguments.after, argv[optind + 1]);
	if (!result)
		result = same_events(&arguments);
	if (!result)
		result = compare(&arguments);
	arguments.after.filter = (struct view_profile_filter){ .from = 0 }; /* given back once */
	after = cmd_profile_close(&arguments.after, argv[optind + 1 < argc ? optind + 1 : argc - 1], result);
	return cmd_profile_close(&arguments.before, argv[optind < argc ? optind : argc - 1], after);
}
