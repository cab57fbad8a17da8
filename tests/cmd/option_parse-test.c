/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parser of options: each kind of value, its bounds and messages, abbreviations, operands, commands behind "--". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/cmd.h"
#include "cmd/option_parse.h"

enum {
	ARGUMENTS = 16,
};

static char message[512]; /* the last one */

int cmd_usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return CMD_USAGE;
}

int cmd_failed(const char *format, ...)
{
	snprintf(message, sizeof(message), "%s", format);
	return CMD_FAULTS;
}

void cmd_note(const char *format, ...)
{
	snprintf(message, sizeof(message), "%s", format);
}

static bool is_even(const char *value)
{
	return strlen(value) % 2 == 0;
}

static const char *const orders[] = { "self", "total", "none", NULL };

static bool flag, quick;
static const char *text;
static struct view_globs list;
static uint32_t number;
static int32_t pid;
static uint64_t size, duration;
static unsigned order;
static struct view_set set;
static char given[OPTION_NAME], one[OPTION_NAME];
static char **command;

static const struct cmd_option group[] = {
	OPTION_SIZE("--size SIZE", &size, 4096, UINT64_C(16) << 30, "from a group"),
	{ 0 },
};

static const struct cmd_option table[] = {
	OPTION_FLAG("-f, --flag", &flag, "a flag", .given = given),
	OPTION_TEXT("-t, --text DIR", &text, "a text", .given = given),
	OPTION_LIST("-l, --list GLOB", &list, "a list"),
	OPTION_NUMBER("--number N", &number, 1, 100, "a number"),
	OPTION_NUMBER("--pid PID", &pid, 1, INT32_MAX, "a pid", .given = one, .alone = true),
	OPTION_FLAG("-a, --all", &quick, "excludes --pid", .given = one, .alone = true),
	OPTION_GROUP(group),
	OPTION_DURATION("--duration TIME", &duration, 1, "a time"),
	OPTION_ALIAS("--for", "--duration"),
	OPTION_CHOICE("--order ORDER", &order, orders, "a choice"),
	OPTION_NUMBERS("--set N,...", &set, 1000, "numbers"),
	OPTION_PARSED(
		"--even TEXT", is_even, "give an even number of letters",
		"a text that has more than one line of words, since a line has 88 columns,\nand is broken"),
	OPTION_FLAG("--a-very-long-option", &flag, "in the next line"),
	OPTION_FLAG("--hidden", &flag, NULL),
	{ 0 },
};
static const struct cmd plain = { .name = "plain",
				  .usage = "Usage: plain\n",
				  .notes = "Notes.\n",
				  .options = table,
				  .operands = { 0, 2, "give two" } };

static const struct cmd_option runs[] = {
	OPTION_FLAG("-f, --flag", &flag, "a flag"),
	OPTION_LIST("--many DIR...", &list, "words up to the next option", .many = true),
	OPTION_COMMAND(&command),
	{ 0 },
};
static const struct cmd runner = {
	.name = "runner", .usage = "", .options = runs, .operands = { 0, 1, NULL }
};

static char *words[ARGUMENTS];

/* Parse words that spaces separate; '' is an empty one. */
static int parse(const struct cmd *cmd, const char *line)
{
	static char copy[256];
	int count = 0;

	flag = quick = false;
	text = NULL;
	number = 7;
	pid = 7;
	size = duration = 7;
	order = 7;
	command = NULL;
	*given = *one = *message = '\0';
	free(list.globs);
	free(set.numbers);
	list = (struct view_globs){ .count = 0 };
	set = (struct view_set){ .count = 0 };
	snprintf(copy, sizeof(copy), "name %s", line);
	for (char *word = strtok(copy, " "); word && count < ARGUMENTS - 1; word = strtok(NULL, " "))
		words[count++] = strcmp(word, "''") ? word : word + 2;
	words[count] = NULL;
	return options_parse(cmd, count, words);
}

static void refused(const struct cmd *cmd, const char *line, const char *why)
{
	assert_int_equal(parse(cmd, line), CMD_USAGE);
	assert_string_equal(message, why);
}

static void values_arrive(void **state)
{
	(void)state;
	assert_int_equal(parse(&plain, "-f -tDIR --number=100 --size 64K --duration 10s --order total"), 0);
	assert_true(flag);
	assert_string_equal(text, "DIR");
	assert_int_equal(number, 100);
	assert_int_equal(size, 64 << 10);
	assert_int_equal(duration, 10000000000);
	assert_int_equal(order, 1);
	assert_string_equal(given, "--text");
	assert_int_equal(parse(&plain, "-l a -l b --set 1,0x10 --set 1000 --pid 2147483647 --even even"), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.globs[1], "b");
	assert_null(list.globs[2]);
	assert_int_equal(set.count, 3);
	assert_int_equal(set.numbers[1], 16);
	assert_int_equal(pid, INT32_MAX);
	assert_int_equal(parse(&runner, "--many a b c -f --many=d e"), 0);
	assert_int_equal(list.count, 5);
	assert_string_equal(list.globs[2], "c");
	assert_string_equal(list.globs[4], "e");
	assert_true(flag);
	assert_null(words[0]);
	refused(&runner, "--many", "--many: its value is missing; see: burin runner --help");
	refused(&runner, "--many a ''", "--many: its value is empty; see: burin runner --help");
}

static void defaults_stay(void **state)
{
	(void)state;
	assert_int_equal(parse(&plain, ""), 0);
	assert_int_equal(number + size + duration + order, 28);
	assert_false(flag);
	assert_string_equal(given, "");
}

static void letters_and_abbreviations(void **state)
{
	(void)state;
	assert_int_equal(parse(&plain, "-aft DIR --dur 5ms"), 0);
	assert_true(flag && quick);
	assert_string_equal(text, "DIR");
	assert_int_equal(duration, 5000000);
	assert_int_equal(parse(&plain, "--for 1m"), 0);
	assert_int_equal(duration, 60000000000);
	assert_int_equal(parse(&plain, "--f"), 0); /* the former name does not make it ambiguous */
	assert_true(flag);
	refused(&plain, "--s 1", "--s: it abbreviates several options; see: burin plain --help");
}

static void what_is_refused(void **state)
{
	(void)state;
	refused(&plain, "--none", "--none: no such option; see: burin plain --help");
	refused(&plain, "-fx", "-x: no such option; see: burin plain --help");
	refused(&plain, "-t", "-t: its value is missing; see: burin plain --help");
	refused(&plain, "--text", "--text: its value is missing; see: burin plain --help");
	refused(&plain, "--text ''", "--text: its value is empty; see: burin plain --help");
	refused(&plain, "--text=", "--text: its value is empty; see: burin plain --help");
	refused(&plain, "-f -t ''", "--text: its value is empty; see: burin plain --help");
	refused(&plain, "-l a -l ''", "--list: its value is empty; see: burin plain --help");
	refused(&plain, "--flag=1", "--flag=1: it takes no value; see: burin plain --help");
	refused(&plain, "--number 101", "--number: invalid value '101'; give a number from 1 to 100");
	refused(&plain, "--number=", "--number: invalid value ''; give a number from 1 to 100");
	refused(&plain, "--size 1K", "--size: invalid value '1K'; give a size from 4K to 16G");
	refused(&plain, "--duration 0s",
		"--duration: invalid value '0s'; give a time above zero, such as 250ms, 10s or 5m");
	refused(&plain, "--order Self", "--order: invalid value 'Self'; give self, total or none");
	refused(&plain, "--set 1,", "--set: invalid value '1,'; give numbers separated by commas");
	refused(&plain, "--set 1001", "--set: invalid value '1001'; give numbers separated by commas");
	refused(&plain, "--even odd", "--even: invalid value 'odd'; give an even number of letters");
	refused(&plain, "--pid 1 -a", "--pid and --all: give only one of them, once");
	refused(&plain, "-a -a", "--all and --all: give only one of them, once");
	assert_int_equal(number, 7);
}

static void operands(void **state)
{
	(void)state;
	assert_int_equal(parse(&plain, "a -f b"), 0);
	assert_true(flag);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[1], "b");
	assert_null(words[2]);
	assert_int_equal(parse(&plain, "-- -f -"), 0);
	assert_false(flag);
	assert_string_equal(words[0], "-f");
	assert_string_equal(words[1], "-");
	refused(&plain, "a b c", "c: one argument too many; give two");
	refused(&plain, "a ''", "argument 2 is empty; see: burin plain --help");
	refused(&plain, "-- ''", "argument 1 is empty; see: burin plain --help");
	refused(&runner, "-f ''", "argument 1 is empty; see: burin runner --help");
	refused(&runner, "-- '' a", "the command after -- is empty; give a program");
	assert_int_equal(parse(&runner, "-- a ''"), 0);
}

static void a_command(void **state)
{
	(void)state;
	assert_int_equal(parse(&runner, "-f -- ls -f --none"), 0);
	assert_string_equal(command[0], "ls");
	assert_string_equal(command[2], "--none");
	assert_null(command[3]);
	assert_null(words[0]);
	assert_int_equal(parse(&runner, "target -f"), 0);
	assert_null(command);
	assert_int_equal(parse(&runner, "--"), 0);
	assert_null(command[0]);
	refused(&runner, "ls -l", "-l: no such option; to run a command: burin runner -- ls ...");
	refused(&runner, "ls /", "/: one argument too many; to run a command: burin runner -- ls ...");
	refused(&runner, "a -- b", "a: a TARGET excludes a command; to run a command: burin runner -- a ...");
}

static void help(void **state)
{
	static const char wanted[] =
		"Usage: plain\n"
		"\n"
		"  -f, --flag           a flag\n"
		"  -t, --text DIR       a text\n"
		"  -l, --list GLOB      a list\n"
		"      --number N       a number\n"
		"      --pid PID        a pid\n"
		"  -a, --all            excludes --pid\n"
		"      --size SIZE      from a group\n"
		"      --duration TIME  a time\n"
		"      --order ORDER    a choice\n"
		"      --set N,...      numbers\n"
		"      --even TEXT      a text that has more than one line of words, since a line has 88\n"
		"                       columns,\n"
		"                       and is broken\n"
		"      --a-very-long-option\n"
		"                       in the next line\n"
		"  -h, --help           this text\n"
		"\n"
		"Notes.\n";
	char printed[4096] = "";
	FILE *file = tmpfile();
	const int output = dup(STDOUT_FILENO);

	(void)state;
	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(parse(&plain, "--help --none"), OPTIONS_HELP);
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	close(output);
	rewind(file);
	assert_true(fread(printed, 1, sizeof(printed) - 1, file) > 0);
	fclose(file);
	assert_string_equal(printed, wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_arrive),
		cmocka_unit_test(defaults_stay),
		cmocka_unit_test(letters_and_abbreviations),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(operands),
		cmocka_unit_test(a_command),
		cmocka_unit_test(help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
