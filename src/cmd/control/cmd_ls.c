/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin ls: list sessions. */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target_argument.h"
#include "session/clock.h"
#include "session/session_stat.h"
#include "view/json.h"

/* How sessions are printed. */
struct form {
	bool json, is_long;
	bool users; /* a column for the user: some sessions are other users' */
};

static struct form form;

static const struct cmd_option table[] = {
	OPTION_FLAG("-l, --long", &form.is_long,
		    "also print the session's file and the processes that use it"),
	OPTION_FLAG("-j, --json", &form.json, "one JSON object per line"),
	{ 0 },
};

struct row {
	const char *state;
	struct session_stat stat;
	uint64_t lost, age_ns, memory;
	unsigned on, events;
};

static uint64_t age_of(const struct target *target)
{
	const int64_t ns =
		(int64_t)((uint64_t)clock_ns(CLOCK_REALTIME) - (uint64_t)target->geometry.created_ns);

	return ns > 0 ? (uint64_t)ns : 0;
}

/* Return: whether there is a row. @fault: set after a message, if the session cannot be read */
static bool cmd_ls_read_row(const struct target *target, struct row *row, bool *fault)
{
	struct session session;
	const char *why;
	int error;

	*row = (struct row){ .age_ns = age_of(target) };
	error = target_open(target, false, &session, &why);
	if (error && error != -ENOENT && error != -ESTALE) { /* otherwise it was removed meanwhile */
		cmd_target_refused(target->path, why, error);
		*fault = true;
	}
	if (error)
		return false;
	session_stat_read(&session, &row->stat);
	row->events = session_event_count(&session);
	for (unsigned n = 0; n < row->events; n++)
		row->on += wire_is_on(session.desired[n]);
	row->lost = wire_lost_sum(row->stat.lost);
	row->memory = target->kernel ? row->stat.room_bytes : target->memory;
	row->state = target_describe(target, row->on != 0);
	if (cmd_target_leave(target->path, &session, 0) == 0)
		return true;
	*fault = true;
	return false;
}

/* As ls(1): the name, or the number if there is none. */
static void print_user(uid_t user, struct view_buffer *out)
{
	const struct passwd *entry = getpwuid(user);

	if (entry)
		view_buffer_print(out, "%-10s ", entry->pw_name);
	else
		view_buffer_print(out, "%-10u ", (unsigned)user);
}

static void cmd_ls_print_text(const struct target *target, const struct row *row, struct view_buffer *out)
{
	char events[TEXT_SHORT], lost[TEXT_SHORT], used[TEXT_SHORT], age[TEXT_SHORT];

	if (form.users)
		print_user(target->user, out);
	view_buffer_print(out, "%8u  %-16s %-9s %5u/%-5u %10s %14s %12s %10s\n", target->pid, target->program,
			  row->state, row->on, row->events, text_size(used, row->stat.used_bytes),
			  text_count(events, row->stat.written), text_count(lost, row->lost),
			  text_duration(age, row->age_ns));
	if (!form.is_long)
		return;
	view_buffer_print(out, "          %s", target->path);
	for (unsigned n = 0; n < target->processes && n < TARGET_PIDS_MAX; n++)
		view_buffer_print(out, "%s%u", n ? ", " : "; processes ", target->pids[n]);
	if (target->processes > TARGET_PIDS_MAX)
		view_buffer_print(out, " and %u more", target->processes - TARGET_PIDS_MAX);
	view_buffer_print(out, "\n");
}

static void cmd_ls_print_json(const struct target *target, const struct row *row, struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 0);
	json_u64(&json, "pid", target->pid);
	json_u64(&json, "uid", target->user);
	json_text(&json, "program", target->program);
	json_text(&json, "state", row->state);
	json_u64(&json, "on", row->on);
	json_u64(&json, "events", row->events);
	json_u64(&json, "buffer_used_bytes", row->stat.used_bytes);
	json_u64(&json, "buffer_bytes", row->stat.room_bytes);
	json_u64(&json, "memory_bytes", row->memory);
	json_u64(&json, "written", row->stat.written);
	json_u64(&json, "lost", row->lost);
	json_u64(&json, "age_ns", row->age_ns);
	json_u64(&json, "processes", target->processes);
	json_text(&json, "path", target->path);
	json_end(&json);
}

/* Facts that have no column. Return: 0 or CMD_FAULTS. */
static int print_notes(const struct target_list *list, bool json)
{
	char count[TEXT_SHORT];
	unsigned left = 0, unsearched = 0;

	for (unsigned n = 0; n < list->count; n++) {
		left += target_is_left(&list->targets[n]);
		unsearched += list->targets[n].unasked != 0;
	}
	if (left && !json)
		cmd_note("burin: %s session%s without %s burin record: burin recover DIR completes the trace "
			 "in "
			 "DIR, burin snapshot PID writes a new one\n",
			 text_count(count, left), text_plural(left), left == 1 ? "its" : "their");
	if (!unsearched)
		return 0;
	return cmd_failed("%s session%s: too many mappings to search all processes, or one holds the lock of "
			  "its memory; "
			  "those that were not searched count as users",
			  text_count(count, unsearched), text_plural(unsearched));
}

static int cmd_ls_print(const struct target_list *list)
{
	struct view_buffer out = { .used = 0 };
	bool fault = false;
	int result;

	if (!form.json && list->count && form.users)
		view_buffer_print(&out, "%-10s ", "USER");
	if (!form.json && list->count)
		view_buffer_print(&out, "%8s  %-16s %-9s %11s %10s %14s %12s %10s\n", "PID", "PROGRAM",
				  "STATE", "ON/EVENTS", "BUFFERS", "WRITTEN", "LOST", "AGE");
	for (unsigned n = 0; n < list->count; n++) {
		struct row row;

		if (!cmd_ls_read_row(&list->targets[n], &row, &fault))
			continue;
		if (form.json)
			cmd_ls_print_json(&list->targets[n], &row, &out);
		else
			cmd_ls_print_text(&list->targets[n], &row, &out);
	}
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	fault |= print_notes(list, form.json) != 0;
	return cmd_written(result) || fault ? CMD_FAULTS : 0;
}

static int cmd_ls_run(char **operands)
{
	const char *word = operands[0], *why = "";
	struct target_list list;
	int error, unread, result;

	cmd_output_begin();
	if (!word)
		cmd_target_note_directory();
	error = word ? target_list_matching(&list, word, &why) : target_list_all(&list);
	if (error) {
		cmd_failed("%s: %s (%s)", word ? word : "sessions", why, strerror(-error));
		target_list_free(&list);
		return CMD_USAGE;
	}
	unread = cmd_target_unread(&list);
	for (unsigned n = 0; n < list.count; n++)
		form.users |= list.targets[n].user != geteuid();
	if (list.count == 0 && word)
		result = cmd_usage("%s: no such session", word);
	else
		result = cmd_ls_print(&list);
	if (list.count == 0 && !word && !form.json && !unread)
		cmd_note("burin: no sessions; only programs with tracepoints have one while they run; see "
			 "burin(3)\n");
	target_list_free(&list);
	return result ? result : unread;
}

const struct cmd cmd_ls = {
	.name = "ls",
	.line = "list running programs with tracepoints, and the sessions of killed ones",
	.usage = "Usage: burin ls [options] [TARGET]\n"
		 "\n"
		 "List the sessions of running programs with tracepoints, and of killed programs whose\n"
		 "last records can still be read. Root sees the sessions of all users, with a column for\n"
		 "the user, and the kernel's, if burin.ko is loaded.\n",
	.notes = "States:\n"
		 "  idle       all events are off\n"
		 "  flight     some are on; memory keeps the last records\n"
		 "  stream     the same of the kernel with mode=stream: memory is full until burin record\n"
		 "             kernel reads it\n"
		 "  paused     all events are off until burin resume\n"
		 "  recording  burin record reads it\n"
		 "  orphaned   burin record has ended or was killed; the program still runs\n"
		 "  killed     the program was killed\n"
		 "  ended      the process now executes a program without tracepoints; or it has exited,\n"
		 "             and burin record could not write all records\n"
		 "  elsewhere  of another PID namespace, such as a container's; its processes are not\n"
		 "             visible from here\n"
		 "\n"
		 "After the end of burin record, burin recover DIR completes its trace in DIR, and\n"
		 "burin snapshot PID writes the records in memory into a new trace.\n"
		 "\n"
		 "Exit code: 0; 1 if a session could not be read or was truncated meanwhile, or if too\n"
		 "many mappings had to be searched for users of a session; 2 if there is no such TARGET.\n",
	.options = table,
	.operands = { 0, 1, "give one TARGET, or none", { CMD_IS_TARGET } },
	.main = cmd_ls_run,
};
