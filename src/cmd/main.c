/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The `burin` command: runs the subcommand; without one, prints an introduction. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burin/version.h"
#include "cmd/complete.h"
#include "base/edit_distance.h"
#include "cmd/option_parse.h"
#include "file/foreign_file.h"
#include "file/guard.h"
#include "session/places/directory.h"

static const struct cmd *const commands[] = {
	&cmd_record, &cmd_snapshot, &cmd_watch,	 &cmd_recover, &cmd_info,    &cmd_dump,
	&cmd_replay, &cmd_report,   &cmd_graph,	 &cmd_hist,    &cmd_flame,   &cmd_annotate,
	&cmd_diff,   &cmd_export,   &cmd_import, &cmd_symbols, &cmd_check,   &cmd_sql,
	&cmd_ls,     &cmd_events,   &cmd_calls,	 &cmd_enable,  &cmd_disable, &cmd_pause,
	&cmd_resume, &cmd_resize,   &cmd_stat,	 &cmd_count,   &cmd_top,     &cmd_gc,
};

/* Each group begins with a command of the table. */
static const struct {
	const char *first, *title;
} groups[] = {
	{ "record", "Recording commands" },
	{ "info", "Commands that read a trace" },
	{ "ls", "Commands for programs that are running" },
};

enum {
	COMMANDS = sizeof(commands) / sizeof(commands[0]),
	GROUPS = sizeof(groups) / sizeof(groups[0]),
	CLOSE_MOST = 2, /* bytes that differ in a slip */
};

static void print_commands(FILE *out)
{
	for (unsigned n = 0, group = 0; n < COMMANDS; n++) {
		if (group < GROUPS && !strcmp(commands[n]->name, groups[group].first))
			fprintf(out, "\n%s:\n", groups[group++].title);
		fprintf(out, "  %-8s  %s\n", commands[n]->name, commands[n]->line);
	}
}

/* The first text that a newcomer sees. */
static int print_first_steps(void)
{
	const char *on = cmd_color(STDOUT_FILENO) ? "\033[1m" : "", *off = *on ? "\033[0m" : "";

	printf("%sburin%s traces and profiles programs: what they did, and where the time went.\n\n"
	       "  %sburin record -o trace -- ./program%s  run it; write events and samples to trace/\n"
	       "  %sburin info trace%s                    how many events, from where, and what was lost\n"
	       "  %sburin report trace%s                  which functions took the time\n"
	       "  %sburin dump trace%s                    every event, one line each\n"
	       "  %sburin ls%s                            running programs with tracepoints; record one of\n"
	       "                                      them by its pid: burin record -o trace PID\n\n"
	       "Every program can be sampled; <burin/burin.h> adds tracepoints to yours (man 3 burin).\n"
	       "All commands: burin help. One of them: burin COMMAND --help, or man burin.\n",
	       on, off, on, off, on, off, on, off, on, off, on, off);
	return 0;
}

/* Scripts may use the former names of commands; help does not list them. */
static const char *current_name(const char *name)
{
	static const char *const former[][2] = { { "stop", "pause" }, { "go", "resume" } };

	for (unsigned n = 0; n < sizeof(former) / sizeof(former[0]); n++)
		if (!strcmp(former[n][0], name))
			return former[n][1];
	return name;
}

static const struct cmd *main_find(const char *name)
{
	name = current_name(name);
	for (unsigned n = 0; n < COMMANDS; n++)
		if (!strcmp(commands[n]->name, name))
			return commands[n];
	return NULL;
}

static int main_unknown(const char *name)
{
	unsigned nearest = CLOSE_MOST + 1;

	for (unsigned n = 0; n < COMMANDS; n++) {
		unsigned edits = edit_distance(name, commands[n]->name);

		nearest = edits < nearest ? edits : nearest;
	}
	cmd_note("burin: there is no command \"%s\"", name);
	for (unsigned n = 0, printed = 0; n < COMMANDS; n++)
		if (nearest <= CLOSE_MOST && edit_distance(name, commands[n]->name) == nearest)
			cmd_note("%s %s", printed++ ? " or" : "; did you mean", commands[n]->name);
	cmd_note("%s\n", nearest <= CLOSE_MOST ? "?" : "; burin help lists them");
	return CMD_USAGE;
}

/* Report a mapped file that was truncated, unless the command has reported it. */
static int report_truncation(int result)
{
	const char *path = guard_unreported();

	if (!path)
		return result;
	cmd_failed("%s: the file was truncated while it was read; the missing part was read as zeros", path);
	return result ? result : CMD_FAULTS;
}

static int main_run(const struct cmd *command, int argc, char **argv)
{
	int result;

	cmd_name = command->name;
	result = options_parse(command, argc, argv);
	if (result)
		return result == OPTIONS_HELP ? 0 : result;
	if (command->views && !(command->live && *command->live)) {
		cmd_memory_limit();
		cmd_output_begin();
	}
	return report_truncation(command->main(argv));
}

static int main_help(int argc, char **argv)
{
	char option[64] = "--help";
	const struct cmd *command;

	if (argc < 2) {
		fputs("Usage: burin COMMAND [options]\n", stdout);
		print_commands(stdout);
		fputs("\nburin help COMMAND prints the help of a command, burin --version the version.\n",
		      stdout);
		return 0;
	}
	command = main_find(argv[1]);
	if (!command)
		return main_unknown(argv[1]);
	if (argc > 2)
		snprintf(option, sizeof(option), "--help=%s", argv[2]);
	return main_run(command, 2, (char *[]){ argv[1], option, NULL });
}

/* The words behind "burin", of which the last one is completed. */
static int main_complete(int count, char **words)
{
	const struct cmd *command;

	if (count < 2)
		return complete_commands(commands, COMMANDS, count ? words[0] : "", true);
	if (!strcmp(words[0], "help"))
		return count == 2 ? complete_commands(commands, COMMANDS, words[1], false) : 0;
	command = main_find(words[0]);
	if (!command)
		return 0;
	cmd_name = command->name;
	return complete_words(command, words + 1);
}

int main(int argc, char **argv)
{
	const struct cmd *command;

	if (argc < 2)
		return print_first_steps();
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return main_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("burin %s\n", BURIN_VERSION);
		return 0;
	}
	guard_begin();
	directory_open_maps = foreign_maps;
	if (!strcmp(argv[1], "--complete"))
		return main_complete(argc - 2, argv + 2);
	command = main_find(argv[1]);
	return command ? main_run(command, argc - 1, argv + 1) : main_unknown(argv[1]);
}
