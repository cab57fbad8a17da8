/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin count: how often the kernel's events occur, counted in the kernel. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/live/hist_options.h"
#include "cmd/live/live_counts.h"

static struct view_conditions where;
static const char *by;
static bool as_json, as_csv;
static struct hist_options asked = { .where = &where };
static struct view_report report = { .limit = 50 };

static const struct cmd_option table[] = {
	OPTION_GROUP(live_options),
	OPTION_TEXT("-b, --by WORD,...", &by,
		    "a row for each value of these fields; also program, thread, pid, tid and cpu"),
	OPTION_LIST(
		"-w, --where EXPR", &where.list,
		"count only events of which EXPR is true, such as 'ret < 0'; 'GLOB: EXPR' is for those of "
		"these names; may be repeated. See burin-kernel(7)"),
	OPTION_DURATION("--every TIME", &asked.every_ns, 1,
			"print the counts of each interval of this length, such as 1s"),
	OPTION_NUMBER("-n, --limit N", &report.limit, 1, UINT64_MAX, "print at most N rows (default: 50)"),
	OPTION_FLAG("-j, --json", &as_json, "one JSON object"),
	OPTION_FLAG("--csv", &as_csv, "rows as CSV"),
	{ 0 },
};

static int cmd_count_run(char **operands)
{
	int result = hist_options_by(&asked, by);

	(void)operands;
	if (!result)
		result = hist_options_form(&report, as_json, as_csv);
	return result ? result : live_run(&(struct live_wanted){ .hist = &asked, .report = &report });
}

const struct cmd cmd_count = {
	.name = "count",
	.line = "count events of the kernel, without recording them",
	.usage = "Usage: burin count -k GLOB [options] -- COMMAND [ARGUMENT]...\n"
		 "       burin count -k GLOB [options] {-p PID,... | -a}\n"
		 "\n"
		 "Count tracepoints of the kernel in the kernel, while COMMAND, processes or all tasks run,\n"
		 "and print how many there were, and how many a second. Nothing is recorded.\n",
	.notes = "Exit code: that of COMMAND; otherwise 0, 1 if writing failed, 2 if nothing was counted.\n",
	.options = table,
	.operands = { 0, 0, "give events by --kernel, and a command behind --", { CMD_IS_OTHER } },
	.main = cmd_count_run,
};
