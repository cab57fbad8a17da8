/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* --help of a command; see option_help.h. */
#include "cmd/option_help.h"

#include <stdio.h>
#include <string.h>

enum {
	LINE_COLUMNS = 88,
	HEAD_COLUMNS = 22, /* the text of a longer option begins in the next line */
};

/* Print a text from a column on. @at: the columns that are printed */
static void print_wrapped(const char *text, int column, int at)
{
	for (const char *word = text; *word; word += *word != '\0') {
		const int bytes = (int)strcspn(word, " \n");

		if ((word > text && word[-1] == '\n') || at + 1 + bytes > LINE_COLUMNS) {
			printf("\n");
			at = 0;
		}
		at += printf("%*s%.*s", at < column ? column - at : 1, "", bytes, word);
		word += bytes;
	}
	printf("\n");
}

bool option_help_newest(const struct cmd *command)
{
	return command->views && command->operands.min == 1;
}

/* Where the texts of all options begin. */
static int find_column(const struct option_set *set)
{
	int column = 0;

	for (unsigned n = 0; n < set->count; n++) {
		const struct cmd_option *option = set->options[n];
		const int columns = (option_letter(option) ? 2 : 6) + (int)strlen(option->head);

		if (option->help && columns <= HEAD_COLUMNS && columns + 2 > column)
			column = columns + 2;
	}
	return column;
}

static void print_option(const struct cmd_option *option, int column)
{
	int at;

	if (!option->help)
		return;
	at = printf("%*s%s", option_letter(option) ? 2 : 6, "", option->head);
	if (at + 2 > column) {
		printf("\n");
		at = 0;
	}
	print_wrapped(option->help, column, at);
}

/* Print the options of a group, or without a heading all. */
static void print_group(const struct option_set *set, const struct option_heading *heading)
{
	const unsigned next = heading ? (unsigned)(heading - set->headings) + 1 : set->heading_count,
		       end = next < set->heading_count ? set->headings[next].first : set->count;

	if (heading)
		printf("%s:\n", heading->title);
	for (unsigned n = heading ? heading->first : 0; n < end; n++)
		if (!heading || set->options[n]->kind != OPTION_IS_HELP)
			print_option(set->options[n], find_column(set));
}

static void print_most_used(const struct cmd *command, const struct option_set *set)
{
	printf("Used most:\n");
	for (unsigned place = 1; place <= OPTIONS_MAX; place++)
		for (unsigned n = 0; n < set->count; n++)
			if (set->options[n]->often == place)
				print_option(set->options[n], find_column(set));
	printf("\nAll options, by burin %s --help=GROUP:\n", command->name);
	for (unsigned n = 0; n < set->heading_count; n++)
		printf("  %-8s  %s\n", set->headings[n].word, set->headings[n].title);
	printf("  %-8s  these and all others\n", "all");
}

static void option_help_print_all(const struct option_set *set)
{
	for (unsigned n = 0; n < set->heading_count; n++) {
		print_group(set, &set->headings[n]);
		printf("\n");
	}
	print_option(option_find_kind(set, OPTION_IS_HELP), find_column(set));
}

static void print_usage(const struct cmd *command)
{
	printf("%s\n", command->usage);
	if (option_help_newest(command))
		printf("Without DIR: the newest trace in the current directory.\n\n");
}

static int no_group(const struct option_set *set, const char *group)
{
	char words[256] = "";
	size_t used = 0;

	for (unsigned n = 0; n < set->heading_count && used < sizeof(words); n++)
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s, ", set->headings[n].word);
	return cmd_usage("--help: there is no group '%s'; give %sor all", group, words);
}

bool option_help_print(const struct cmd *command, const struct option_set *set, const char *group)
{
	const struct option_heading *chosen = NULL;
	const bool all = strcmp(group, "all") == 0;

	for (unsigned n = 0; n < set->heading_count; n++)
		if (strcmp(set->headings[n].word, group) == 0)
			chosen = &set->headings[n];
	if (*group && !all && !chosen)
		return no_group(set, group) == 0;
	if (!chosen)
		print_usage(command);
	if (chosen)
		print_group(set, chosen);
	else if (!set->heading_count)
		print_group(set, NULL);
	else if (all)
		option_help_print_all(set);
	else
		print_most_used(command, set);
	if (command->notes)
		printf("\n%s", command->notes);
	return true;
}
