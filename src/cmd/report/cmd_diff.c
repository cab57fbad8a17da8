/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin diff: compare the samples of two traces. */
#include <string.h>
#include <unistd.h>

#include "cmd/report/open_profile.h"
#include "view/profile/diff.h"

static bool total, all, json;

static const struct cmd_option table[] = {
	OPTION_FLAG("--total", &total, "include the functions that a function called"),
	OPTION_FLAG("--all", &all, "also print rows that may differ by chance"),
	CMD_INLINE,
	OPTION_GROUP(cmd_profile_options),
	OPTION_FLAG("-j, --json", &json, "one JSON object"),
	CMD_MEMORY,
	{ 0 },
};

static const struct burin_event *cmd_diff_event_of(const struct cmd_profile *profile)
{
	const struct view_counted *of = profile->counted.of;

	return of[VIEW_RUNNING].event ?: of[VIEW_WAITING].event;
}

static int same_events(const struct cmd_profile *before, const struct cmd_profile *after)
{
	const struct burin_event *one = cmd_diff_event_of(before), *other = cmd_diff_event_of(after);

	if (!one || !other || !strcmp(one->name, other->name))
		return 0;
	return cmd_usage("A has most samples of %s, B of %s; choose one with --event", one->name,
			 other->name);
}

static int cmd_diff_compare(const struct cmd_profile *before, const struct cmd_profile *after)
{
	struct view_buffer out = { .used = 0 };
	struct view_diff diff;
	double chance_max = all ? 1 : 0.05;
	int result = view_diff_make(&diff, &before->counted, &after->counted, total,
				    cmd_inline == CMD_INLINE_FOLD);

	if (result)
		return cmd_failed("%s", cmd_error(result));
	if (json)
		view_diff_json(&diff, chance_max, &out);
	else
		view_diff_text(&diff, chance_max, cmd_color(STDOUT_FILENO), &out);
	view_diff_free(&diff);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

static int cmd_diff_run(char **operands)
{
	struct cmd_profile before = { .apart = true, .may_be_empty = true, .foot = true }, after = before;
	int result = cmd_profile_open(&before, operands[0]);

	if (!result)
		result = cmd_profile_open(&after, operands[1]);
	if (!result)
		result = same_events(&before, &after);
	if (!result)
		result = cmd_diff_compare(&before, &after);
	result = cmd_profile_close(&after, operands[1], result);
	return cmd_profile_close(&before, operands[0], result);
}

const struct cmd cmd_diff = {
	.name = "diff",
	.line = "compare two traces: which functions take more or less of the time",
	.usage = "Usage: burin diff [options] A B\n"
		 "\n"
		 "Compare the samples of two traces: which functions have a larger or smaller share in\n"
		 "B than in A. CHANCE is the probability that any function differs so much by chance\n"
		 "alone; rows above 0.05 are omitted.\n",
	.notes = "Exit code: 0; 1 if a trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 2,
		      2,
		      "give two traces, the directories that burin record wrote",
		      { CMD_IS_TRACE, CMD_IS_TRACE } },
	.views = true,
	.main = cmd_diff_run,
};
