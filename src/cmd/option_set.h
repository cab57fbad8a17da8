/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options of a command, found by name: its table with the groups in their places, and --help, which every command has. */
#ifndef BURIN_CMD_OPTION_SET_H
#define BURIN_CMD_OPTION_SET_H

#include <stddef.h>

#include "cmd/cmd.h"

enum {
	OPTIONS_MAX = 64,
	OPTION_HEADINGS_MAX = 12,
};

/* Options from one on, up to the next heading. */
struct option_heading {
	const char *word, *title;
	unsigned first;
};

struct option_set {
	const struct cmd_option *options[OPTIONS_MAX];
	unsigned count;
	struct option_heading headings[OPTION_HEADINGS_MAX];
	unsigned heading_count; /* 0: the command has few options */
};

void option_set_fill(struct option_set *set, const struct cmd *command);

/* option_letter - return an option's letter; 0: none. */
char option_letter(const struct cmd_option *option);
/* option_name - return the long name with its dashes. It has option_name_bytes(), and ends with a space, a bracket or the head. */
const char *option_name(const struct cmd_option *option);
size_t option_name_bytes(const struct cmd_option *option);
bool option_has_value(const struct cmd_option *option);

/* Return: NULL if the command has no such option. */
const struct cmd_option *option_find_letter(const struct option_set *set, char letter);
const struct cmd_option *option_find_kind(const struct option_set *set, unsigned kind);
/*
 * option_find_name - find an option by its long name, by a former one, or by an abbreviation.
 * @given: with dashes; what follows "=" is not looked at
 * @matches: set to the number of options that this abbreviates
 */
const struct cmd_option *option_find_name(const struct option_set *set, const char *given, unsigned *matches);

#endif
