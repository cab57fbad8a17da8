/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The `burin` command: finds the subcommand, or teaches. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"

#ifndef BURIN_VERSION
#define BURIN_VERSION "0.1.0"
#endif

static const struct cmd commands[] = {
	{ "record", "run a program, or follow one that runs, and write what it traces into a directory",
	  cmd_record, NULL },
	{ "snapshot", "write what is in a session's memory now into a directory", cmd_snapshot,
	  cmd_snapshot_help },
	{ "watch", "take snapshots of a running program when an event comes, or when it ends", cmd_watch,
	  cmd_watch_help },
	{ "info", "tell what is in a trace", cmd_info, cmd_info_help },
	{ "dump", "print the records of a trace as text or JSON", cmd_dump, cmd_dump_help },
	{ "report", "tell where the time went, by samples", cmd_report, cmd_report_help },
	{ "flame", "show where the time went, as a page to look at", cmd_flame, cmd_flame_help },
	{ "annotate", "tell where within a function the time went", cmd_annotate, cmd_annotate_help },
	{ "diff", "tell what takes more or less of the time than before", cmd_diff, cmd_diff_help },
	{ "export", "write samples in the formats of other tools", cmd_export, cmd_export_help },
	{ "recover", "finish a trace whose recorder was killed", cmd_recover, cmd_recover_help },
	{ "ls", "list the sessions of programs that run, and of those that were killed", cmd_ls,
	  cmd_ls_help },
	{ "events", "list the events of a program and what they do", cmd_events, cmd_events_help },
	{ "enable", "switch events of a running program on", cmd_enable, cmd_enable_help },
	{ "disable", "switch events of a running program off", cmd_disable, cmd_disable_help },
	{ "stop", "switch everything off for a while", cmd_stop, cmd_stop_help },
	{ "go", "end that", cmd_go, cmd_go_help },
	{ "resize", "make a running program's buffers larger or smaller", cmd_resize, cmd_resize_help },
	{ "stat", "tell what a program records and loses, or count what a command does", cmd_stat,
	  cmd_stat_help },
	{ "gc", "remove what killed programs left behind", cmd_gc, cmd_gc_help },
	{ "symbols", "find the names and lines of a profile's code once more", cmd_symbols,
	  cmd_symbols_help },
	{ "check", "hold every byte of a trace against the format", cmd_check, cmd_check_help },
};

enum {
	COMMANDS = sizeof(commands) / sizeof(commands[0]),
	NAME_MAX_COMPARED = 32,
};

static void print_commands(FILE *out)
{
	fputs("\nCommands:\n", out);
	for (unsigned n = 0; n < COMMANDS; n++)
		fprintf(out, "  %-8s  %s\n", commands[n].name, commands[n].line);
}

/* What a newcomer sees first. */
static int teach(void)
{
	const char *on = cmd_color(STDOUT_FILENO) ? "\033[1m" : "", *off = *on ? "\033[0m" : "";

	printf("%sburin%s engraves what a program does, one record per event, cheaply enough to leave on.\n\n"
	       "To begin with:\n"
	       "  %sburin record -o trace -- ./program%s  run it; its tracepoints go into the directory "
	       "trace\n"
	       "  %sburin info trace%s                    what is in it, and what was lost\n"
	       "  %sburin dump trace%s                    every event, one line each\n",
	       on, off, on, off, on, off, on, off);
	print_commands(stdout);
	fputs("\nburin COMMAND --help tells more; so does man burin.\n", stdout);
	return 0;
}

static const struct cmd *find(const char *name)
{
	for (unsigned n = 0; n < COMMANDS; n++) {
		if (!strcmp(commands[n].name, name))
			return &commands[n];
	}
	return NULL;
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

/* How many letters to insert, delete or change. */
static unsigned distance(const char *one, const char *other)
{
	unsigned row[NAME_MAX_COMPARED + 1];
	size_t bytes = strnlen(other, NAME_MAX_COMPARED);

	for (unsigned n = 0; n <= bytes; n++)
		row[n] = n;
	for (unsigned m = 1; m <= strnlen(one, NAME_MAX_COMPARED); m++) {
		unsigned diagonal = row[0];

		row[0] = m;
		for (unsigned n = 1; n <= bytes; n++) {
			unsigned above = row[n];

			row[n] = least(above + 1, row[n - 1] + 1, diagonal + (one[m - 1] != other[n - 1]));
			diagonal = above;
		}
	}
	return row[bytes];
}

static int unknown(const char *name)
{
	char safe[128];
	unsigned nearest = 3;

	for (unsigned n = 0; n < COMMANDS; n++) {
		unsigned far = distance(name, commands[n].name);

		nearest = far < nearest ? far : nearest;
	}
	fprintf(stderr, "burin: there is no command \"%s\"", text_escape_line(safe, sizeof(safe), name));
	for (unsigned n = 0, told = 0; n < COMMANDS; n++) {
		if (nearest < 3 && distance(name, commands[n].name) == nearest)
			fprintf(stderr, "%s %s", told++ ? " or" : "; did you mean", commands[n].name);
	}
	fprintf(stderr, "%s\n", nearest < 3 ? "?" : "; burin help lists them");
	return CMD_USAGE;
}

static bool wants_help(int argc, char **argv)
{
	for (int n = 1; n < argc && strcmp(argv[n], "--") != 0; n++) {
		if (!strcmp(argv[n], "--help") || !strcmp(argv[n], "-h"))
			return true;
	}
	return false;
}

static int run(const struct cmd *command, int argc, char **argv)
{
	if (command->help && wants_help(argc, argv)) {
		fputs(command->help, stdout);
		return 0;
	}
	return command->main(argc, argv);
}

static int help(int argc, char **argv)
{
	char option[] = "--help";
	const struct cmd *command;

	if (argc < 2) {
		fputs("Usage: burin COMMAND [options]\n", stdout);
		print_commands(stdout);
		fputs("  help      this text; help COMMAND: that of a command\n"
		      "\nburin --version tells the version.\n",
		      stdout);
		return 0;
	}
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	return run(command, 2, (char *[]){ argv[1], option, NULL });
}

int main(int argc, char **argv)
{
	const struct cmd *command;

	if (argc < 2)
		return teach();
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("burin %s\n", BURIN_VERSION);
		return 0;
	}
	command = find(argv[1]);
	return command ? run(command, argc - 1, argv + 1) : unknown(argv[1]);
}
