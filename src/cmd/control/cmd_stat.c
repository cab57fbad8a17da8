/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin stat: print how much a session records and loses, once or periodically. For burin stat -- COMMAND: stat_command.c. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/control/stat_command.h"
#include "cmd/target_argument.h"
#include "session/clock.h"
#include "session/session_stat.h"
#include "view/json.h"
#include "wire/wire_terms.h"

static struct stat_options options = { .repeat = 1 };
static uint64_t interval; /* s; 0: print once */
static char **command;
static char of_target[OPTION_NAME], of_command[OPTION_NAME]; /* given options that only one of them has */

static const struct cmd_option table[] = {
	OPTION_NUMBER("-i, --interval N", &interval, 1, 86400,
		      "for TARGET: repeat every N seconds, until the program has ended", .given = of_target),
	OPTION_LIST(
		"-e, --event LIST", &options.events,
		"count these events instead, separated by commas, such as page-faults,sched:sched_switch; "
		"NAME:u excludes the kernel",
		.given = of_command),
	OPTION_NUMBER("-r, --repeat N", &options.repeat, 1, 1000000,
		      "run COMMAND N times; print mean, confidence, standard deviation", .given = of_command),
	OPTION_TEXT("-o, --output FILE", &options.output,
		    "write the counts to FILE (default: standard error)", .given = of_command),
	OPTION_FLAG("--csv", &options.csv, "print the counts as comma-separated values", .given = of_command),
	OPTION_FLAG("-j, --json", &options.json, "one JSON object per line"),
	OPTION_COMMAND(&command),
	{ 0 },
};

struct sample {
	struct session_stat stat;
	uint64_t ns;
};

static uint64_t cmd_stat_rate(const struct sample *before, const struct sample *after)
{
	uint64_t ns = after->ns - before->ns;

	return ns ? (uint64_t)((double)(after->stat.written - before->stat.written) * 1e9 / (double)ns) : 0;
}

static void cmd_stat_print_text(const struct sample *before, const struct sample *after,
				struct view_buffer *out)
{
	const struct session_stat *stat = &after->stat;
	char text[TEXT_SHORT], room[TEXT_SHORT];

	view_buffer_print(out, "%s events written", text_count(text, stat->written));
	if (before)
		view_buffer_print(out, " (%s/s)", text_count(text, cmd_stat_rate(before, after)));
	view_buffer_print(out, ", buffers %s of %s on %u ring%s", text_size(text, stat->used_bytes),
			  text_size(room, stat->room_bytes), stat->rings, text_plural(stat->rings));
	view_buffer_print(out, ", lost %s", text_count(text, wire_lost_sum(stat->lost)));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		if (stat->lost[cause])
			view_buffer_print(out, ", %s %s", wire_loss_terms[cause].key,
					  text_count(text, stat->lost[cause]));
	if (stat->names_lost)
		view_buffer_print(out, ", names lost %s", text_count(text, stat->names_lost));
	if (stat->sampled_out || stat->limited) {
		view_buffer_print(out, "; dropped by --sample %s", text_count(text, stat->sampled_out));
		view_buffer_print(out, ", by --limit %s", text_count(text, stat->limited));
	}
	if (stat->clock_steps)
		view_buffer_print(out, "; clock clamped %s times", text_count(text, stat->clock_steps));
	view_buffer_print(out, "\n");
}

static void cmd_stat_print_json(const struct sample *before, const struct sample *after,
				struct view_buffer *out)
{
	const struct session_stat *stat = &after->stat;
	struct json json;

	json_begin_object(&json, out, 0);
	json_u64(&json, "written", stat->written);
	if (before)
		json_u64(&json, "written_per_s", cmd_stat_rate(before, after));
	json_u64(&json, "rings", stat->rings);
	json_u64(&json, "buffer_used_bytes", stat->used_bytes);
	json_u64(&json, "buffer_bytes", stat->room_bytes);
	json_object(&json, "lost");
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		json_u64(&json, wire_loss_terms[cause].key, stat->lost[cause]);
	json_end(&json);
	json_u64(&json, "names", stat->names_written);
	json_u64(&json, "names_lost", stat->names_lost);
	json_u64(&json, "sampled_out", stat->sampled_out);
	json_u64(&json, "limited", stat->limited);
	json_u64(&json, "clock_steps", stat->clock_steps);
	json_end(&json);
}

static int cmd_stat_print(const struct sample *before, const struct sample *after, bool json)
{
	struct view_buffer out = { .used = 0 };
	int result;

	if (json)
		cmd_stat_print_json(before, after, &out);
	else
		cmd_stat_print_text(before, after, &out);
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return result;
}

static bool still_runs(const char *path)
{
	struct target_list list;
	const char *why;
	bool runs = target_list_matching(&list, path, &why) == 0 && list.count == 1 &&
		    list.targets[0].state <= TARGET_LEFT;

	target_list_free(&list);
	return runs;
}

static int cmd_stat_watch(struct session *session, const char *path, uint64_t seconds, bool json)
{
	struct sample samples[2], *before = NULL, *now = samples;
	const struct timespec pause = { .tv_sec = (time_t)seconds };
	int result;

	for (;;) {
		bool runs = seconds != 0 && still_runs(path);

		session_stat_read(session, &now->stat);
		now->ns = clock_ns(CLOCK_MONOTONIC);
		result = cmd_stat_print(before, now, json);
		if (result || !runs || cmd_target_was_truncated(session))
			return cmd_written(result);
		before = now;
		now = before == samples ? samples + 1 : samples;
		nanosleep(&pause, NULL);
	}
}

static int cmd_stat_run(char **operands)
{
	struct session session;
	struct target target;
	int result;

	if (command && *of_target)
		return cmd_usage("%s needs a TARGET; remove it or the command", of_target);
	if (command)
		return stat_command(&options, command);
	if (*of_command)
		return cmd_usage("%s needs a command: burin stat [OPTION]... -- COMMAND", of_command);
	if (!operands[0])
		return cmd_usage(
			"give one TARGET: a pid, a program's name or a session's path; or a command: "
			"burin stat -- PROGRAM ARGUMENTS");
	result = cmd_target_look(operands[0], &target, &session);
	if (result)
		return result;
	cmd_output_begin();
	result = cmd_stat_watch(&session, target.path, interval, options.json);
	return cmd_target_leave(target.path, &session, result);
}

const struct cmd cmd_stat = {
	.name = "stat",
	.line = "count what a program records and loses, or count events of a command",
	.usage = "Usage: burin stat [-i N] [-j] TARGET\n"
		 "       burin stat [OPTION]... -- COMMAND [ARGUMENT]...\n"
		 "\n"
		 "Print how much a program records, how full its buffers are, and how many records were\n"
		 "lost, by cause. TARGET is a pid, a program's name, a session's path or kernel; see burin "
		 "ls.\n"
		 "Or run COMMAND and count over it and its children: time, context switches, page faults,\n"
		 "and, where the machine has counters, instructions, branches and misses.\n",
	.notes = "Exit code: 0; 2 if there is no such TARGET. With COMMAND: that of its first run that\n"
		 "failed; 127 if there is no such COMMAND, 126 if it cannot be run.\n",
	.options = table,
	.operands = { 0, 1, NULL, { CMD_IS_TARGET } },
	.main = cmd_stat_run,
};
