/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The TARGET of a command: a session that the user means by a pid, a program's name or a path. */
#ifndef BURIN_CMD_TARGET_H
#define BURIN_CMD_TARGET_H

#include "control/target.h"

/*
 * cmd_target_open, cmd_target_look - find the one session that is meant and map it, the latter for reading only; to
 * be left by session_leave(). Say why there is none, or list them if there are several.
 * Return: 0 or CMD_USAGE.
 */
int cmd_target_open(const char *name, const char *word, struct target *target, struct session *session);
int cmd_target_look(const char *name, const char *word, struct target *target, struct session *session);

/* cmd_target_change - open it to change what its program does, which must not be gone. Return: 0 or CMD_USAGE. */
int cmd_target_change(const char *name, const char *word, struct target *target, struct session *session);

/* cmd_target_guard - from now on a session file that somebody cuts ends the command with a line. */
void cmd_target_guard(void);

#endif
