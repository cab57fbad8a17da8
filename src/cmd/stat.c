/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin stat: what a session records and loses, once or again and again. Counting over a command's runs: count.c. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "session/stat.h"
#include "view/buffer.h"

const char cmd_stat_help[] =
	"Usage: burin stat [-i N] [-j] TARGET\n"
	"       burin stat [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"\n"
	"Tell how much a program records, how full its buffers are, and what was lost by which\n"
	"cause. TARGET is a pid, a program's name, or a session's path; see burin ls.\n"
	"Or run COMMAND and count what it and all that it starts do: time, context switches,\n"
	"page faults, and instructions, branches and misses where the machine has counters.\n"
	"\n"
	"  -i, --interval N   of TARGET: again every N seconds, until the program has ended\n"
	"  -e, --event LIST   count these instead: names with commas between, such as\n"
	"                     page-faults,sched:sched_switch; with :u not what the kernel does\n"
	"  -r, --repeat N     run COMMAND N times: mean, its confidence, standard deviation\n"
	"  -o, --output FILE  write the counts there (default: standard error)\n"
	"      --csv          counts as a table with commas\n"
	"  -j, --json         one JSON object per line\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit code: 0; 2 if there is no such TARGET. Of COMMAND: its own, of the first run that\n"
	"failed; 127 if there is no such COMMAND, 126 if it cannot be run.\n";

static const char name[] = "stat";

static const char *const causes[WIRE_LOST_CAUSES] = {
	[WIRE_LOST_FULL] = "full",	 [WIRE_LOST_BUSY] = "busy",
	[WIRE_LOST_SIZE] = "size",	 [WIRE_LOST_OVERWRITTEN] = "overwritten",
	[WIRE_LOST_CORRUPT] = "corrupt", [WIRE_LOST_UNREAD] = "unread",
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct sample {
	struct session_stat stat;
	uint64_t ns;
};

static uint64_t rate(const struct sample *before, const struct sample *after)
{
	uint64_t ns = after->ns - before->ns;

	return ns ? (uint64_t)((double)(after->stat.written - before->stat.written) * 1e9 / (double)ns) : 0;
}

static void print_text(const struct sample *before, const struct sample *after, struct view_buffer *out)
{
	const struct session_stat *stat = &after->stat;
	char text[TEXT_SHORT], room[TEXT_SHORT];
	uint64_t lost = 0;

	view_buffer_print(out, "%s events written", text_count(text, stat->written));
	if (before)
		view_buffer_print(out, " (%s/s)", text_count(text, rate(before, after)));
	view_buffer_print(out, ", buffers %s of %s on %u ring%s", text_size(text, stat->used_bytes),
			  text_size(room, stat->room_bytes), stat->rings, stat->rings == 1 ? "" : "s");
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		lost += stat->lost[cause];
	view_buffer_print(out, ", lost %s", text_count(text, lost));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		if (stat->lost[cause])
			view_buffer_print(out, ", %s %s", causes[cause], text_count(text, stat->lost[cause]));
	if (stat->names_lost)
		view_buffer_print(out, ", names lost %s", text_count(text, stat->names_lost));
	if (stat->sampled_out || stat->limited) {
		view_buffer_print(out, "; left out by sample %s", text_count(text, stat->sampled_out));
		view_buffer_print(out, ", by limit %s", text_count(text, stat->limited));
	}
	if (stat->clock_steps)
		view_buffer_print(out, "; clock held %s times", text_count(text, stat->clock_steps));
	view_buffer_print(out, "\n");
}

static void print_json(const struct sample *before, const struct sample *after, struct view_buffer *out)
{
	const struct session_stat *stat = &after->stat;

	view_buffer_print(out, "{\"written\":%" PRIu64, stat->written);
	if (before)
		view_buffer_print(out, ",\"rate\":%" PRIu64, rate(before, after));
	view_buffer_print(out, ",\"rings\":%u,\"buffer_used\":%" PRIu64 ",\"buffer\":%" PRIu64 ",\"lost\":{",
			  stat->rings, stat->used_bytes, stat->room_bytes);
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		view_buffer_print(out, "%s\"%s\":%" PRIu64, cause ? "," : "", causes[cause],
				  stat->lost[cause]);
	view_buffer_print(out,
			  "},\"names\":%" PRIu64 ",\"names_lost\":%" PRIu64 ",\"sampled_out\":%" PRIu64
			  ",\"limited\":%" PRIu64 ",\"clock_steps\":%" PRIu64 "}\n",
			  stat->names_written, stat->names_lost, stat->sampled_out, stat->limited,
			  stat->clock_steps);
}

static int print(const struct sample *before, const struct sample *after, bool json)
{
	struct view_buffer out = { .used = 0 };
	int result;

	if (json)
		print_json(before, after, &out);
	else
		print_text(before, after, &out);
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

static int watch(struct session *session, const char *path, uint64_t seconds, bool json)
{
	struct sample samples[2], *before = NULL, *now = samples;
	const struct timespec pause = { .tv_sec = (time_t)seconds };
	int result;

	for (;;) {
		bool runs = seconds != 0 && still_runs(path);

		session_stat_read(session, &now->stat);
		now->ns = now_ns();
		result = print(before, now, json);
		if (result || !runs)
			return cmd_written(name, result);
		before = now;
		now = before == samples ? samples + 1 : samples;
		nanosleep(&pause, NULL);
	}
}

int cmd_stat(int argc, char **argv)
{
	static const struct option options[] = { { "interval", required_argument, NULL, 'i' },
						 { "json", no_argument, NULL, 'j' },
						 { "event", required_argument, NULL, 'e' },
						 { "repeat", required_argument, NULL, 'r' },
						 { "output", required_argument, NULL, 'o' },
						 { "csv", no_argument, NULL, 'c' },
						 { 0 } };
	struct session session;
	struct target target;
	uint64_t seconds = 0;
	bool json = false;
	int option, result;

	for (int n = 1; n < argc; n++)
		if (strcmp(argv[n], "--") == 0)
			return cmd_count(argc, argv);
	cmd_output_begin();
	optind = 0;
	while ((option = getopt_long(argc, argv, "i:je:r:o:", options, NULL)) != -1) {
		if (option == '?')
			return cmd_usage(name, "wrong option");
		if (strchr("eroc", option))
			return cmd_usage(name, "counts are of a command: burin stat [OPTION]... -- COMMAND");
		if (option == 'i' && (!size_parse(optarg, &seconds) || seconds == 0 || seconds > 86400))
			return cmd_usage(name, "'%s' will not do; give a number of seconds", optarg);
		json |= option == 'j';
	}
	if (argc - optind != 1)
		return cmd_usage(name, "of which program? Give one pid, name or session's path");
	result = cmd_target_look(name, argv[optind], &target, &session);
	if (result)
		return result;
	result = watch(&session, target.path, seconds, json);
	session_leave(&session);
	return result;
}
