/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The TARGET of a command: a session that the user means by a pid, a program's name or a path. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"

/* A session whose file somebody cuts while we look at it. */
static void on_sigbus(int signal)
{
	static const char text[] =
		"burin: the session file was cut or its memory is gone; nothing was changed\n";

	(void)signal;
	_exit(write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? CMD_FAULTS : CMD_FAULTS);
}

void cmd_target_guard(void)
{
	signal(SIGBUS, on_sigbus);
}

/* Several are listed, never guessed. */
static int say_ambiguous(const char *name, const char *word, const struct target_list *list)
{
	char safe[128];

	cmd_failed(name, "%s: several sessions; say which by its pid:", word);
	for (unsigned n = 0; n < list->count; n++)
		fprintf(stderr, "  %-8u %-16s %s\n", list->targets[n].header.geometry.owner,
			text_escape_line(safe, sizeof(safe), list->targets[n].header.geometry.program),
			list->targets[n].path);
	return CMD_USAGE;
}

/* Of several, those that still run are meant before those that are dead. */
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

static int find(const char *name, const char *word, struct target *target)
{
	struct target_list list;
	const char *why = "";
	int error = target_list_matching(&list, word, &why), result = 0;

	if (!error)
		prefer_running(&list);
	if (error == -ENOMEM)
		result = cmd_failed(name, "out of memory");
	else if (error)
		result = cmd_failed(name, "%s: %s (%s)", word, why, strerror(-error));
	else if (list.count == 0)
		result = cmd_failed(name, "%s: no such session; burin ls shows those that there are", word);
	else if (list.count > 1)
		result = say_ambiguous(name, word, &list);
	else
		*target = list.targets[0];
	target_list_free(&list);
	return result ? CMD_USAGE : 0;
}

static int map(const char *name, const char *word, struct target *target, struct session *session,
	       int (*how)(struct session *, const char *, const char **))
{
	const char *why = "";
	int result = find(name, word, target), error;

	if (result)
		return result;
	cmd_target_guard();
	error = how(session, target->path, &why);
	if (error) {
		cmd_failed(name, "%s: %s (%s)", target->path, why, strerror(-error));
		return CMD_USAGE;
	}
	return 0;
}

int cmd_target_open(const char *name, const char *word, struct target *target, struct session *session)
{
	return map(name, word, target, session, session_open);
}

int cmd_target_look(const char *name, const char *word, struct target *target, struct session *session)
{
	return map(name, word, target, session, session_look);
}

int cmd_target_change(const char *name, const char *word, struct target *target, struct session *session)
{
	int result = cmd_target_open(name, word, target, session);

	if (result || target->state <= TARGET_LEFT || target->owner_lives)
		return result;
	cmd_failed(name, "%s: its program is gone; burin snapshot saves what it has left", word);
	session_leave(session);
	return CMD_USAGE;
}
