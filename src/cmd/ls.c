/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin ls: which sessions there are. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "session/stat.h"
#include "view/buffer.h"

const char cmd_ls_help[] =
	"Usage: burin ls [options] [TARGET]\n"
	"\n"
	"List sessions: of every program with tracepoints that runs, and of those that were\n"
	"killed and whose last events can still be read. Root sees everybody's.\n"
	"\n"
	"  -l, --long   also the session's file and every process that uses it\n"
	"  -j, --json   one JSON object per line\n"
	"  -h, --help   this text\n"
	"\n"
	"State: idle (nothing is switched on), flight (the last events are kept in memory),\n"
	"stopped, recording (by burin record), killed (its program was), ended (its program\n"
	"left it behind).\n"
	"\n"
	"Exit code: 0; 2 if there is no such TARGET.\n";

static const char name[] = "ls";

struct row {
	const char *state;
	struct session_stat stat;
	uint64_t lost, age_ns;
	unsigned on, events;
};

static uint64_t age_of(const struct target *target)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - target->header.geometry.created_ns;
	return ns > 0 ? (uint64_t)ns : 0;
}

static bool look_into(const struct target *target, struct row *row)
{
	struct session session;
	const char *why;

	*row = (struct row){ .age_ns = age_of(target) };
	if (session_look(&session, target->path, &why) != 0)
		return false;
	session_stat_read(&session, &row->stat);
	row->events = session_event_count(&session);
	for (unsigned n = 0; n < row->events; n++)
		row->on += session.wants[n] != WIRE_OFF;
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		row->lost += row->stat.lost[cause];
	row->state = target_describe(target, row->on != 0);
	session_leave(&session);
	return true;
}

static void print_text(const struct target *target, const struct row *row, bool is_long,
		       struct view_buffer *out)
{
	char events[TEXT_SHORT], lost[TEXT_SHORT], used[TEXT_SHORT], age[TEXT_SHORT],
		program[4 * WIRE_PROGRAM_MAX];

	view_buffer_print(out, "%8u  %-16s %-9s %5u/%-5u %10s %14s %12s %10s\n",
			  target->header.geometry.owner,
			  text_escape_line(program, sizeof(program), target->header.geometry.program),
			  row->state, row->on, row->events, text_size(used, row->stat.used_bytes),
			  text_count(events, row->stat.written), text_count(lost, row->lost),
			  text_duration(age, row->age_ns));
	if (!is_long)
		return;
	view_buffer_print(out, "          %s", target->path);
	for (unsigned n = 0; n < target->processes && n < TARGET_PIDS_MAX; n++)
		view_buffer_print(out, "%s%u", n ? ", " : "; processes ", target->pids[n]);
	if (target->processes > TARGET_PIDS_MAX)
		view_buffer_print(out, " and %u more", target->processes - TARGET_PIDS_MAX);
	view_buffer_print(out, "\n");
}

static void print_json(const struct target *target, const struct row *row, struct view_buffer *out)
{
	view_buffer_print(out, "{\"pid\":%u,\"user\":%u,\"program\":", target->header.geometry.owner,
			  (unsigned)target->user);
	view_buffer_json(out, target->header.geometry.program);
	view_buffer_print(out,
			  ",\"state\":\"%s\",\"on\":%u,\"events\":%u,\"buffer_used\":%" PRIu64
			  ",\"buffer\":%" PRIu64 ",\"memory\":%" PRIu64 ",\"written\":%" PRIu64
			  ",\"lost\":%" PRIu64 ",\"age_ns\":%" PRIu64 ",\"processes\":%u,\"path\":",
			  row->state, row->on, row->events, row->stat.used_bytes, row->stat.room_bytes,
			  target->memory, row->stat.written, row->lost, row->age_ns, target->processes);
	view_buffer_json(out, target->path);
	view_buffer_print(out, "}\n");
}

static int print(const struct target_list *list, bool json, bool is_long)
{
	struct view_buffer out = { .used = 0 };
	int result;

	if (!json && list->count)
		view_buffer_print(&out, "%8s  %-16s %-9s %11s %10s %14s %12s %10s\n", "PID", "PROGRAM",
				  "STATE", "ON/EVENTS", "BUFFERS", "WRITTEN", "LOST", "AGE");
	for (unsigned n = 0; n < list->count; n++) {
		struct row row;

		if (!look_into(&list->targets[n], &row)) /* gone meanwhile */
			continue;
		if (json)
			print_json(&list->targets[n], &row, &out);
		else
			print_text(&list->targets[n], &row, is_long, &out);
	}
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return cmd_written(name, result);
}

int cmd_ls(int argc, char **argv)
{
	static const struct option options[] = { { "long", no_argument, NULL, 'l' },
						 { "json", no_argument, NULL, 'j' },
						 { 0 } };
	bool json = false, is_long = false;
	struct target_list list;
	const char *why = "";
	int option, error, result;

	cmd_output_begin();
	cmd_target_guard();
	optind = 0;
	while ((option = getopt_long(argc, argv, "lj", options, NULL)) != -1) {
		if (option == '?')
			return cmd_usage(name, "wrong option");
		json |= option == 'j';
		is_long |= option == 'l';
	}
	if (argc - optind > 1)
		return cmd_usage(name, "one target at a time");
	error = optind < argc ? target_list_matching(&list, argv[optind], &why) : target_list_all(&list);
	if (error) {
		cmd_failed(name, "%s: %s (%s)", optind < argc ? argv[optind] : "sessions", why,
			   strerror(-error));
		target_list_free(&list);
		return CMD_USAGE;
	}
	if (list.count == 0 && optind < argc)
		result = cmd_failed(name, "%s: no such session", argv[optind]) ? CMD_USAGE : 0;
	else
		result = print(&list, json, is_long);
	if (list.count == 0 && optind == argc && !json)
		fputs("burin: no sessions; programs with tracepoints have one while they run, see burin(3)\n",
		      stderr);
	target_list_free(&list);
	return result;
}
