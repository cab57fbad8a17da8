/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The subcommands of `burin`, and what they share. One file per subcommand; main.c has the table.
 *
 * A subcommand returns its exit code: 0; CMD_FAULTS; or CMD_USAGE. It prints one clear line when something
 * fails: what, on what, and what to do.
 */
#ifndef BURIN_CMD_CMD_H
#define BURIN_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

struct burin_trace;
struct burin_diagnosis;

enum {
	CMD_FAULTS = 1, /* it worked, but there are faults to know of; or it failed on the way */
	CMD_USAGE = 2,	/* not begun: a wrong option, nothing there to open */
};

struct cmd {
	const char *name;
	const char *line;		    /* what it does, in one line without a full stop */
	int (*main)(int argc, char **argv); /* argv[0] is the subcommand's name */
	const char *help;		    /* what --help prints; NULL: main answers --help itself */
};

int cmd_record(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_enable(int argc, char **argv);
int cmd_disable(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_go(int argc, char **argv);
int cmd_resize(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_count(int argc, char **argv); /* burin stat -- COMMAND */
int cmd_gc(int argc, char **argv);
int cmd_symbols(int argc, char **argv);

extern const char cmd_snapshot_help[], cmd_watch_help[], cmd_recover_help[], cmd_dump_help[], cmd_info_help[],
	cmd_check_help[], cmd_report_help[], cmd_flame_help[], cmd_diff_help[], cmd_export_help[],
	cmd_annotate_help[];
extern const char cmd_ls_help[], cmd_events_help[], cmd_enable_help[], cmd_disable_help[], cmd_stop_help[];
extern const char cmd_go_help[], cmd_resize_help[], cmd_stat_help[], cmd_gc_help[], cmd_symbols_help[];

/* ---- shared.c */

/* One line on stderr: "burin NAME: ...", with a hint to the help. Returns CMD_USAGE. */
int cmd_usage(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One line: "burin NAME: OPTION: 'VALUE' will not do; REMEDY". Returns CMD_USAGE. */
int cmd_bad_value(const char *name, const char *option, const char *value, const char *remedy);
/* The hint alone, when getopt has said what is wrong. Returns CMD_USAGE. */
int cmd_see_help(const char *name);
/* Whether getopt has left one argument, which names a trace. Returns 0, or CMD_USAGE and says so. */
int cmd_one_trace(const char *name, int argc);
/* As cmd_usage() without the hint. Returns CMD_FAULTS. */
int cmd_failed(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counts faults and tells the first few. */
struct cmd_faults {
	const char *name; /* of the subcommand */
	uint64_t shown, count;
	uint64_t show_max; /* 0: none */
};

/* Opens a trace for a subcommand; prints why not. Return: 0 or CMD_USAGE. */
int cmd_open(struct burin_trace **trace, const char *path, struct cmd_faults *faults);
/* Prints a fault; for burin_open_options and burin_check_options, with a struct cmd_faults. */
void cmd_on_fault(void *data, const struct burin_diagnosis *fault);
/* Says that there were more. */
void cmd_faults_foot(const struct cmd_faults *faults, const char *path);

/* A closed pipe is an error of writing and not a signal; called by commands that only read. */
void cmd_output_begin(void);
/* Whether a file is a terminal that wants colour (NO_COLOR, TERM=dumb). */
bool cmd_color(int file);
/* Threads to work with. */
unsigned cmd_threads(void);
/* The exit code for a result of writing output: nothing is said of a pipe that was closed. */
int cmd_written(const char *name, int result);

#endif
