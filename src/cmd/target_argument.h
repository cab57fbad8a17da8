/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The TARGET of a command: a session, given as a pid, a program's name or a path. */
#ifndef BURIN_CMD_TARGET_ARGUMENT_H
#define BURIN_CMD_TARGET_ARGUMENT_H

#include "control/target.h"

/*
 * cmd_target_open, cmd_target_look - find the session of a TARGET and map it; cmd_target_look() maps it read-only.
 * Print an error if there is none, and a list if there are several. The caller unmaps it by cmd_target_leave().
 * Return: 0 or CMD_USAGE.
 */
int cmd_target_open(const char *word, struct target *target, struct session *session);
int cmd_target_look(const char *word, struct target *target, struct session *session);

/*
 * cmd_target_leave - unmap a session, and print a line if its file was truncated meanwhile.
 * @result: the exit code so far. Return: @result, or CMD_FAULTS for a truncated file.
 */
int cmd_target_leave(const char *path, struct session *session, int result);

/* cmd_target_refused - print why a session cannot be opened, and what to do. Return: CMD_FAULTS. */
int cmd_target_refused(const char *path, const char *why, int error);

/* cmd_target_was_truncated - whether the file of a mapped session was truncated. */
bool cmd_target_was_truncated(const struct session *session);

/*
 * cmd_target_sure - check that a target may be changed: not if it was found by its name and some session could not be
 * read, which may have the same name. Return: 0, or CMD_USAGE and a message.
 */
int cmd_target_sure(const char *word, const struct target *target);

/* cmd_target_change - open a target to change what its program records; the program must run. Return: 0 or CMD_USAGE. */
int cmd_target_change(const char *word, struct target *target, struct session *session);

/*
 * cmd_target_globs - of the kernel's session: SYSTEM:NAME means the tracepoint, whose event is kernel.SYSTEM:NAME. Replaces
 * such globs in a list that ends with NULL; of other sessions it does nothing. Return: 0, or CMD_FAULTS and a message.
 */
int cmd_target_globs(const struct target *target, const char **globs);

/* cmd_target_uncommitted - print why a transaction was not carried out. Return: 0 for no error, else CMD_FAULTS. */
int cmd_target_uncommitted(const char *word, int error);

/* cmd_target_note_directory - print a line if this user's sessions are not in the usual directory. */
void cmd_target_note_directory(void);

/* cmd_target_unread - report files and directories that could not be read, whose sessions a list lacks. Return: 0 or CMD_FAULTS. */
int cmd_target_unread(const struct target_list *list);

#endif
