/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The subcommands of `burin`, and their common functions. One file per subcommand, with its struct cmd; main.c lists them.
 *
 * A subcommand returns its exit code: 0, CMD_FAULTS or CMD_USAGE. A failure prints one line: what failed, on what, and
 * what to do.
 */
#ifndef BURIN_CMD_CMD_H
#define BURIN_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/option_table.h"

struct burin_trace;
struct burin_diagnosis;
struct view_buffer;

enum {
	CMD_FAULTS = 1, /* the command found faults in its input, or failed after it had begun */
	CMD_USAGE = 2,	/* the command did nothing: a wrong option, or nothing to open */

	CMD_MEMORY_MIN = 1 << 20,
	CMD_MEMORY_DEFAULT = 1 << 30,
	CMD_MEMORY_OWN = 256 << 20, /* for every command; mainly the stacks of its threads */
	CMD_MEMORY_TIMES = 4,	    /* the limit of the whole process, as a multiple of --memory */
};

/* The kind of an operand, by which shells complete it. */
enum cmd_operand {
	CMD_IS_OTHER,
	CMD_IS_TRACE,
	CMD_IS_TARGET,
	CMD_IS_EVENT, /* of the TARGET before it */
	CMD_IS_FORMAT,
};

struct cmd {
	const char *name;
	const char *line;  /* in the list of commands; without a full stop */
	const char *usage; /* of --help: the text before the options */
	const char *notes; /* of --help: the text behind the options */
	const struct cmd_option *options;
	struct {
		int min, max;
		const char *wanted;	 /* advice if there are fewer or more: "give ..."; NULL: none */
		enum cmd_operand are[2]; /* the first; the second, and more */
	} operands;
	bool views; /* only reads a trace: the memory of the process is limited, and a closed pipe is a write error */
	const bool *
		live; /* set by an option with which it reads no trace: then it has no operand; NULL: there is none */
	int (*main)(char **operands); /* NULL follows the last one. Returns the exit code */
};

/* The operands of a command. */
#define CMD_ONE_TRACE                                                          \
	{                                                                      \
		1, 1, "give one trace, the directory that burin record wrote", \
		{                                                              \
			CMD_IS_TRACE                                           \
		}                                                              \
	}
#define CMD_ONE_TARGET                                                                \
	{                                                                             \
		1, 1, "give one TARGET: a pid, a program's name or a session's path", \
		{                                                                     \
			CMD_IS_TARGET                                                 \
		}                                                                     \
	}
/* The option of commands that read a trace. */
#define CMD_MEMORY                                                            \
	OPTION_SIZE("--memory SIZE", &cmd_memory, CMD_MEMORY_MIN, UINT64_MAX, \
		    "limit of memory for the trace (default: 1G)")

extern const struct cmd cmd_record, cmd_snapshot, cmd_watch, cmd_recover, cmd_symbols, cmd_import;
extern const struct cmd cmd_info, cmd_dump, cmd_replay, cmd_report, cmd_graph, cmd_hist, cmd_flame,
	cmd_annotate, cmd_diff, cmd_export, cmd_check, cmd_sql;
extern const struct cmd cmd_ls, cmd_events, cmd_calls, cmd_enable, cmd_disable, cmd_pause, cmd_resume,
	cmd_resize, cmd_stat, cmd_count, cmd_top, cmd_gc;

/* ---- cmd.c */

/* The name of the subcommand that runs; main.c sets it. */
extern const char *cmd_name;

/*
 * Text for people goes through print.h, also in these functions: the format is trusted, strings are escaped.
 *
 * cmd_note - print to stderr, without adding a newline. Several calls may compose a line.
 */
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* --memory: the limit of a trace's memory in bytes; 0: the library's default. */
extern uint64_t cmd_memory;
/* Limits the memory of this process, in proportion to --memory. */
void cmd_memory_limit(void);
/* The limit of text in bytes. It equals that of memory, since other outputs are composed in memory. */
uint64_t cmd_output_max(void);
/* The text of a negative errno, with advice. */
const char *cmd_error(int error);

/* Prints "burin NAME: ..." to stderr. Returns CMD_USAGE. */
int cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "burin NAME: ..." to stderr. Returns CMD_FAULTS. */
int cmd_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Counts faults and prints the first few. */
struct cmd_faults {
	uint64_t shown, count;
	uint64_t show_max; /* 0: none */
};

/* Opens a trace for a subcommand; prints an error. Return: 0 or CMD_USAGE. */
int cmd_open(struct burin_trace **trace, const char *path, struct cmd_faults *faults);
/* Opens a trace directory for writing; it must be the user's own. Prints an error. Return: a descriptor or -1. */
int cmd_open_own(const char *path);
/* As cmd_open(), from an open directory, which stays open. @path: for messages */
int cmd_open_at(struct burin_trace **trace, int directory, const char *path, struct cmd_faults *faults);
/* Prints a fault. A callback of burin_open_options and burin_check_options; @data: a struct cmd_faults */
void cmd_on_fault(void *data, const struct burin_diagnosis *fault);
/* Prints how many faults were not shown. */
void cmd_faults_foot(const struct cmd_faults *faults, const char *path);

/* Makes a closed pipe a write error instead of a signal; for commands that only read. */
void cmd_output_begin(void);
/* Whether a file is a terminal with colours; respects NO_COLOR and TERM=dumb. */
bool cmd_color(int file);
/* The number of worker threads. */
unsigned cmd_threads(void);
/* Creates an output file that the user has named; prints an error. @private: mode 0600. Return: a descriptor or -1. */
int cmd_create(const char *path, bool private);
/* The exit code for a result of writing output. Prints an error, but not for a closed pipe. */
int cmd_written(int result);
/* Writes a buffer to a descriptor, and frees it. Return: the exit code. */
int cmd_print(struct view_buffer *out, int file);

#endif
