/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The TARGET of a command; see target_argument.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target_argument.h"
#include "file/guard.h"
#include "session/places/directory.h"
#include "session/kernel_device.h"

int cmd_target_refused(const char *path, const char *why, int error)
{
	if (error == -EREMOTE)
		return cmd_failed("%s: %s, such as a container's; from here it can only be read (burin ls, "
				  "events, stat, snapshot); run burin %s in that namespace, for example with "
				  "nsenter -p -m -t PID",
				  path, why, cmd_name);
	return cmd_failed("%s: %s (%s)", path, why, strerror(-error));
}

bool cmd_target_was_truncated(const struct session *session)
{
	return guard_truncated(session->base, session->geometry.file_bytes);
}

int cmd_target_leave(const char *path, struct session *session, int result)
{
	if (cmd_target_was_truncated(session)) {
		cmd_failed("%s: the session's file was truncated while it was mapped (or /dev/shm is full)",
			   path);
		result = result ? result : CMD_FAULTS;
	}
	guard_forget(session->base, session->geometry.file_bytes);
	session_leave(session);
	return result;
}

static const char kernel_prefix[] = "kernel.";

int cmd_target_globs(const struct target *target, const char **globs)
{
	for (; target->kernel && *globs; globs++) {
		char *whole;

		if (!strchr(*globs, ':') || strncmp(*globs, kernel_prefix, sizeof(kernel_prefix) - 1) == 0)
			continue;
		if (asprintf(&whole, "%s%s", kernel_prefix, *globs) < 0)
			return cmd_failed("out of memory");
		*globs = whole; /* until the command ends */
	}
	return 0;
}

int cmd_target_uncommitted(const char *word, int error)
{
	return error ? cmd_failed("%s: nothing has changed: %s", word, kernel_device_explain(error)) : 0;
}

void cmd_target_note_directory(void)
{
	char usual[SESSION_PATH_MAX], used[SESSION_PATH_MAX];

	if (directory_is_taken(usual, sizeof(usual), used, sizeof(used)))
		cmd_note("burin: %s is not private to this user; sessions are in %s\n", usual, used);
}

int cmd_target_unread(const struct target_list *list)
{
	char number[TEXT_SHORT];

	if (!list->unread)
		return 0;
	if (list->unread == 1)
		return cmd_failed("%s: cannot be read (%s); its sessions are left out", list->unread_path,
				  strerror(-list->unread_error));
	return cmd_failed("%s and %s more: cannot be read (%s); their sessions are left out",
			  list->unread_path, text_count(number, list->unread - 1),
			  strerror(-list->unread_error));
}

/* List all matches; never guess one. */
static int list_ambiguous(const char *word, const struct target_list *list)
{
	cmd_failed("%s: several sessions match; give the pid of one:", word);
	for (unsigned n = 0; n < list->count; n++)
		cmd_note("  %-8u %-16s %s\n", list->targets[n].pid, list->targets[n].program,
			 list->targets[n].path);
	return CMD_USAGE;
}

/* Running programs are preferred to dead ones. */
static void prefer_running(struct target_list *list)
{
	unsigned running = 0;

	for (unsigned n = 0; n < list->count; n++)
		running += list->targets[n].state <= TARGET_LEFT;
	if (running == 0 || running == list->count)
		return;
	for (unsigned n = 0, kept = 0; n < list->count; n++)
		if (list->targets[n].state <= TARGET_LEFT)
			list->targets[kept++] = list->targets[n];
	list->count = running;
}

/* A pid or path identifies one session. A name may also belong to a session that could not be read. */
static bool target_argument_is_name(const char *word)
{
	return word[strspn(word, "0123456789")] && !strchr(word, '/');
}

static int target_argument_find(const char *word, struct target *target)
{
	struct target_list list;
	const char *why = "";
	int error = target_list_matching(&list, word, &why), result = 0;

	cmd_target_unread(&list);
	if (!error)
		prefer_running(&list);
	if (error == -ENOMEM)
		result = cmd_failed("out of memory");
	else if (error)
		result = cmd_failed("%s: %s (%s)", word, why, strerror(-error));
	else if (list.count == 0)
		result = cmd_failed("%s: no such session; burin ls lists all sessions", word);
	else if (list.count > 1)
		result = list_ambiguous(word, &list);
	else
		*target = list.targets[0];
	if (!result)
		target->unsure = list.unread && target_argument_is_name(word);
	target_list_free(&list);
	return result ? CMD_USAGE : 0;
}

static int target_argument_map(const char *word, struct target *target, struct session *session, bool write)
{
	const char *why = "";
	int result = target_argument_find(word, target), error;

	if (result)
		return result;
	error = target_open(target, write, session, &why);
	if (error) {
		cmd_target_refused(target->path, why, error);
		return CMD_USAGE;
	}
	session->command = cmd_name;
	return 0;
}

int cmd_target_open(const char *word, struct target *target, struct session *session)
{
	return target_argument_map(word, target, session, true);
}

int cmd_target_look(const char *word, struct target *target, struct session *session)
{
	return target_argument_map(word, target, session, false);
}

int cmd_target_sure(const char *word, const struct target *target)
{
	if (!target->unsure)
		return 0;
	return cmd_usage(
		"%s: nothing changed, since a session that cannot be read may have this name; give the "
		"pid %u instead",
		word, target->pid);
}

int cmd_target_change(const char *word, struct target *target, struct session *session)
{
	int result = cmd_target_open(word, target, session);

	if (result)
		return result;
	result = cmd_target_sure(word, target);
	if (result)
		return cmd_target_leave(target->path, session, result);
	if (target->state <= TARGET_LEFT || target->owner_lives)
		return 0;
	result = cmd_usage("%s: its program has ended; burin snapshot saves its last records", word);
	return cmd_target_leave(target->path, session, result);
}
