/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses arguments; see option_parse.h. */
#include "cmd/option_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "cmd/newest_trace.h"
#include "cmd/option_help.h"
#include "cmd/option_set.h"

struct parser {
	const struct cmd *command;
	struct option_set set;
	int operands;	  /* they are moved to the beginning of argv */
	bool has_command; /* behind "--" */
};

/* ---- values ---- */

static void print_bound(const struct cmd_option *option, uint64_t number, char text[OPTION_NAME])
{
	unsigned unit = 0;

	for (; option->kind == OPTION_IS_SIZE && number && number % 1024 == 0 && unit < 3; unit++)
		number /= 1024;
	snprintf(text, OPTION_NAME, "%llu%.*s", (unsigned long long)number, unit != 0, &" KMG"[unit]);
}

static void list_choices(const struct cmd_option *option, char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, "give ");

	for (const char *const *name = option->names; *name && used < bytes; name++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", *name,
					 !name[1]  ? ""
					 : name[2] ? ", "
						   : " or ");
}

static int bad_value(const struct cmd_option *option, const char *value)
{
	const char *noun = option->kind == OPTION_IS_SIZE ? "size" : "number";
	char least[OPTION_NAME], most[OPTION_NAME], hint[256];

	print_bound(option, option->min, least);
	print_bound(option, option->max, most);
	/* A number out of bounds needs the bounds, and not what else the option might have meant. */
	if (option->hint && (option->kind != OPTION_IS_NUMBER || value[strspn(value, "0123456789")]))
		snprintf(hint, sizeof(hint), "%s", option->hint);
	else if (option->kind == OPTION_IS_CHOICE)
		list_choices(option, hint, sizeof(hint));
	else if (option->kind == OPTION_IS_NUMBERS)
		snprintf(hint, sizeof(hint), "give numbers separated by commas");
	else if (option->kind == OPTION_IS_DURATION)
		snprintf(hint, sizeof(hint), "give a time%s, such as 250ms, 10s or 5m",
			 option->min ? " above zero" : "");
	else if (option->max == UINT64_MAX && !option->min)
		snprintf(hint, sizeof(hint), "give a %s, such as 16%s", noun, *noun == 's' ? "M" : "");
	else if (option->max == UINT64_MAX)
		snprintf(hint, sizeof(hint), "give a %s, %s or more", noun, least);
	else
		snprintf(hint, sizeof(hint), "give a %s from %s to %s", noun, least, most);
	return cmd_usage("%.*s: invalid value '%s'; %s", (int)option_name_bytes(option), option_name(option),
			 value, hint);
}

static bool option_parse_take_number(const struct cmd_option *option, const char *value)
{
	uint64_t number;

	if (!(option->kind == OPTION_IS_DURATION ? number_parse_duration : number_parse_size)(value,
											      &number) ||
	    number < option->min || number > option->max)
		return false;
	if (option->bytes == sizeof(uint64_t))
		*(uint64_t *)option->to.number = number;
	else
		*(uint32_t *)option->to.number = (uint32_t)number;
	return true;
}

static bool take_choice(const struct cmd_option *option, const char *value)
{
	for (unsigned n = 0; option->names[n]; n++) {
		if (!strcmp(value, option->names[n])) {
			*option->to.choice = n;
			return true;
		}
	}
	return false;
}

/* Return: 0; -EINVAL; -ENOMEM. */
static int take_numbers(struct view_set *set, uint64_t max, const char *value)
{
	for (const char *at = value;; at++) {
		uint64_t number;
		char *end;

		if (!isdigit((unsigned char)*at))
			return -EINVAL;
		errno = 0;
		number = strtoull(at, &end, at[0] == '0' && (at[1] | 32) == 'x' ? 16 : 10);
		at = end;
		if (errno || number > max || (*at && *at != ','))
			return -EINVAL;
		if (!array_reserve(set->numbers, set->room, set->count + 1))
			return -ENOMEM;
		set->numbers[set->count++] = number;
		if (!*at)
			return 0;
	}
}

static int option_parse_take_text(struct view_globs *list, const char *value)
{
	if (!array_reserve(list->globs, list->room, list->count + 2))
		return -ENOMEM;
	list->globs[list->count++] = value;
	list->globs[list->count] = NULL;
	return 0;
}

/* Return: 0; -EINVAL; -ENOMEM. */
static int take_value(const struct cmd_option *option, const char *value)
{
	switch (option->kind) {
	case OPTION_IS_FLAG:
		*option->to.flag = true;
		return 0;
	case OPTION_IS_TEXT:
		*option->to.text = value;
		return 0;
	case OPTION_IS_LIST:
		return option_parse_take_text(option->to.list, value);
	case OPTION_IS_NUMBERS:
		return take_numbers(option->to.numbers, option->max, value);
	case OPTION_IS_CHOICE:
		return take_choice(option, value) ? 0 : -EINVAL;
	case OPTION_IS_PARSED:
		return option->to.parse(value) ? 0 : -EINVAL;
	default:
		return option_parse_take_number(option, value) ? 0 : -EINVAL;
	}
}

static int option_parse_take(struct parser *parser, const struct cmd_option *option, const char *value)
{
	const int bytes = (int)option_name_bytes(option);
	int error;

	if (option->kind == OPTION_IS_HELP)
		return option_help_print(parser->command, &parser->set, value ? value : "") ? OPTIONS_HELP
											    : CMD_USAGE;
	/* That of other kinds is refused as a wrong one, with what to give. */
	if ((option->kind == OPTION_IS_TEXT || option->kind == OPTION_IS_LIST) && !*value)
		return cmd_usage("%.*s: its value is empty; see: burin %s --help", bytes, option_name(option),
				 parser->command->name);
	if (option->alone && *option->given)
		return cmd_usage("%s and %.*s: give only one of them, once", option->given, bytes,
				 option_name(option));
	if (option->given)
		snprintf(option->given, OPTION_NAME, "%.*s", bytes, option_name(option));
	error = take_value(option, value);
	if (error == -ENOMEM)
		return cmd_failed("out of memory");
	return error ? bad_value(option, value) : 0;
}

/* ---- arguments ---- */

/* Report an argument. A command that was given without "--" is a likely cause. */
static int option_parse_refuse(const struct parser *parser, char **argv, const char *argument,
			       const char *why)
{
	if (parser->operands && option_find_kind(&parser->set, OPTION_IS_COMMAND))
		return cmd_usage("%s: %s; to run a command: burin %s -- %s ...", argument, why,
				 parser->command->name, argv[0]);
	return cmd_usage("%s: %s; see: burin %s --help", argument, why, parser->command->name);
}

/* Parse a long option, and its value in the next argument. @at: of the option; moved to the last argument of it */
static int parse_long(struct parser *parser, char **argv, int *at)
{
	const char *given = argv[*at], *value = strchr(given, '=');
	const struct cmd_option *option;
	unsigned matches;
	int result;

	option = option_find_name(&parser->set, given, &matches);
	if (!option)
		return option_parse_refuse(parser, argv, given,
					   matches ? "it abbreviates several options" : "no such option");
	if (value && !option_has_value(option))
		return option_parse_refuse(parser, argv, given, "it takes no value");
	if (value)
		value++;
	else if (option->absent)
		value = option->absent;
	else if (option_has_value(option) && !(value = argv[++*at]))
		return option_parse_refuse(parser, argv, given, "its value is missing");
	result = option_parse_take(parser, option, value);
	while (!result && option->many && argv[*at + 1] && argv[*at + 1][0] != '-')
		result = option_parse_take(parser, option, argv[++*at]);
	return result;
}

/* Parse letters, "-qj" or "-oDIR". */
static int parse_letters(struct parser *parser, char **argv, int *at)
{
	int result = 0;

	for (const char *letter = argv[*at] + 1; *letter && !result; letter++) {
		const struct cmd_option *option = option_find_letter(&parser->set, *letter);
		const char given[] = { '-', *letter, '\0' };

		if (!option)
			return option_parse_refuse(parser, argv, given, "no such option");
		if (option->absent) /* a value follows at once, as in -hcalls */
			return option_parse_take(parser, option, letter[1] ? letter + 1 : option->absent);
		if (!option_has_value(option)) {
			result = option_parse_take(parser, option, NULL);
			continue;
		}
		if (letter[1])
			return option_parse_take(parser, option, letter + 1);
		if (!argv[++*at])
			return option_parse_refuse(parser, argv, given, "its value is missing");
		return option_parse_take(parser, option, argv[*at]);
	}
	return result;
}

/* Parse "--" and all words behind it: a command, or operands. Return: argc. */
static int parse_end(struct parser *parser, int argc, char **argv, int at)
{
	const struct cmd_option *command = option_find_kind(&parser->set, OPTION_IS_COMMAND);

	if (command) {
		parser->has_command = true;
		*command->to.command = argv + at + 1;
		return argc;
	}
	for (at++; at < argc; at++)
		argv[parser->operands++] = argv[at];
	return argc;
}

static int complete_operands(const struct parser *parser, char **argv)
{
	static char trace[NAME_MAX + 1];

	*trace = '\0';
	if (option_help_newest(parser->command))
		newest_trace(".", false, trace);
	if (!*trace)
		return cmd_usage("%s", parser->command->operands.wanted);
	cmd_note("burin: %s, the newest trace here\n", trace);
	argv[0] = trace;
	argv[1] = NULL;
	return 0;
}

/* Refuse what is empty, such as a variable of the shell that was not set. */
static int check_empty(const struct parser *parser, char **argv)
{
	const struct cmd_option *command = option_find_kind(&parser->set, OPTION_IS_COMMAND);
	char **words = parser->has_command ? *command->to.command : NULL;

	for (int n = 0; n < parser->operands; n++)
		if (!*argv[n])
			return cmd_usage("argument %d is empty; see: burin %s --help", n + 1,
					 parser->command->name);
	if (words && *words && !**words)
		return cmd_usage("the command after -- is empty; give a program");
	return 0;
}

static int check_operands(const struct parser *parser, char **argv)
{
	const struct cmd *command = parser->command;
	const char *surplus = parser->operands > command->operands.max ? argv[command->operands.max] : NULL;
	const int result = check_empty(parser, argv);

	if (result)
		return result;
	if (surplus && command->operands.wanted)
		return cmd_usage("%s: one argument too many; %s", surplus, command->operands.wanted);
	if (surplus)
		return option_parse_refuse(parser, argv, surplus, "one argument too many");
	if (parser->operands && parser->has_command)
		return option_parse_refuse(parser, argv, argv[0], "a TARGET excludes a command");
	if (command->live && *command->live)
		return parser->operands ? cmd_usage("%s: --live reads no trace; remove it", argv[0]) : 0;
	if (parser->operands < command->operands.min)
		return complete_operands(parser, argv);
	return 0;
}

int options_parse(const struct cmd *command, int argc, char **argv)
{
	struct parser parser = { .command = command };
	int result = 0;

	option_set_fill(&parser.set, command);
	for (int at = 1; at < argc && !result; at++) {
		if (!strcmp(argv[at], "--"))
			at = parse_end(&parser, argc, argv, at);
		else if (!strncmp(argv[at], "--", 2))
			result = parse_long(&parser, argv, &at);
		else if (argv[at][0] == '-' && argv[at][1])
			result = parse_letters(&parser, argv, &at);
		else
			argv[parser.operands++] = argv[at];
	}
	if (result)
		return result;
	argv[parser.operands] = NULL;
	return check_operands(&parser, argv);
}
