/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* --help of a command. One with many options shows those that are used most, and its groups by --help=GROUP. */
#ifndef BURIN_CMD_OPTION_HELP_H
#define BURIN_CMD_OPTION_HELP_H

#include "cmd/option_set.h"

/* option_help_newest - whether a command reads the newest trace if it was given none. No trace is compared or recovered by chance. */
bool option_help_newest(const struct cmd *command);

/*
 * option_help_print - print it to standard output.
 * @group: the word of a heading; "all"; "": what most people need
 * Return: false after a message: there is no such group.
 */
bool option_help_print(const struct cmd *command, const struct option_set *set, const char *group);

#endif
