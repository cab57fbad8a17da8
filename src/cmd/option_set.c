/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options of a command; see option_set.h. */
#include "cmd/option_set.h"

#include <stdlib.h>
#include <string.h>

/* Every command has this option, as the last one; one with headings has the second kind. */
static const struct cmd_option help_option[] = {
	{ .head = "-h, --help", .kind = OPTION_IS_HELP, .help = "this text" },
	{ 0 },
};
static const struct cmd_option help_options[] = {
	{ .head = "-h, --help[=GROUP]",
	  .kind = OPTION_IS_HELP,
	  .absent = "",
	  .help = "this text, the options of a group, or all",
	  .often = OPTIONS_MAX },
	{ 0 },
};

static void begin_group(struct option_set *set, const struct cmd_option *heading)
{
	if (set->heading_count == OPTION_HEADINGS_MAX)
		abort(); /* raise it */
	set->headings[set->heading_count++] =
		(struct option_heading){ heading->head, heading->help, set->count };
}

static void option_set_collect(struct option_set *set, const struct cmd_option *table)
{
	for (; table && table->head; table++) {
		if (table->kind == OPTION_IS_GROUP)
			option_set_collect(set, table->to.group);
		else if (table->kind == OPTION_IS_HEADING)
			begin_group(set, table);
		else if (set->count < OPTIONS_MAX)
			set->options[set->count++] = table;
		else
			abort(); /* raise OPTIONS_MAX */
	}
}

void option_set_fill(struct option_set *set, const struct cmd *command)
{
	set->count = set->heading_count = 0;
	option_set_collect(set, command->options);
	option_set_collect(set, set->heading_count ? help_options : help_option);
}

char option_letter(const struct cmd_option *option)
{
	return option->head[1] == '-' ? '\0' : option->head[1];
}

const char *option_name(const struct cmd_option *option)
{
	return strstr(option->head, "--");
}

size_t option_name_bytes(const struct cmd_option *option)
{
	return strcspn(option_name(option), " [");
}

bool option_has_value(const struct cmd_option *option)
{
	return option_name(option)[option_name_bytes(option)] != '\0';
}

const struct cmd_option *option_find_letter(const struct option_set *set, char letter)
{
	for (unsigned n = 0; n < set->count; n++)
		if (option_letter(set->options[n]) == letter)
			return set->options[n];
	return NULL;
}

const struct cmd_option *option_find_kind(const struct option_set *set, unsigned kind)
{
	for (unsigned n = 0; n < set->count; n++)
		if (set->options[n]->kind == kind)
			return set->options[n];
	return NULL;
}

const struct cmd_option *option_find_name(const struct option_set *set, const char *given, unsigned *matches)
{
	const size_t bytes = strcspn(given, "=");
	const struct cmd_option *found = NULL;

	*matches = 0;
	for (unsigned n = 0; n < set->count; n++) {
		const struct cmd_option *option = set->options[n];

		if (strncmp(option_name(option), given, bytes) != 0)
			continue;
		if (option_name_bytes(option) == bytes) {
			found = option;
			*matches = 1;
			break;
		}
		if (option->kind == OPTION_IS_ALIAS) /* a former name is not abbreviated */
			continue;
		found = option;
		++*matches;
	}
	if (*matches == 1 && found->kind == OPTION_IS_ALIAS)
		return option_find_name(set, found->alias, matches);
	return *matches == 1 ? found : NULL;
}
