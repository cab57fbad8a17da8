/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin --complete WORD...: what may follow on a command line, for the completions of shells (scripts/completions). The last word is the
 * one that is completed.
 *
 * Each line of output is a word, a tab, and a description; or, where the shell itself has to look:
 *
 *	:directories	:files	:command N	the word is one of a command line that begins N words behind "burin"
 *
 * Names that others have chosen, those of programs and events, are left out if they have a character that means something to a shell:
 * bash inserts a word as it is.
 */
#ifndef BURIN_CMD_COMPLETE_H
#define BURIN_CMD_COMPLETE_H

#include "cmd/cmd.h"

/* The first word: a command. @all: also what is no command but has its place */
int complete_commands(const struct cmd *const *commands, unsigned count, const char *typed, bool all);
/* The words behind a command; ends with NULL, and has at least one. Return: the exit code. */
int complete_words(const struct cmd *command, char *const *words);

#endif
