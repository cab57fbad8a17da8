/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of functions in `burin record`: what was asked for, and the library that the command loads for it. */
#ifndef BURIN_CMD_RECORD_RECORD_CALLS_H
#define BURIN_CMD_RECORD_RECORD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/record/auto_arguments.h"
#include "cmd/record/later_files.h"
#include "cmd/record/preload_libraries.h"
#include "drain/drain.h"
#include "session/session.h"
#include "view/records/selection.h"

struct calls_options {
	bool on;
	bool guest;    /* of a machine in QEMU, which loads a plugin for them (guest.h) */
	bool no_hooks; /* only those of libraries */
	bool libraries, nested;
	bool count;			     /* only count the calls of each function */
	struct view_globs globs, not, below; /* words of call_selection_parse(); none: all functions */
	struct view_globs arguments;	     /* words of call_arguments_add() */
	struct view_globs automatic;	     /* functions whose arguments come from debug information */
	uint32_t depth;			     /* 0: no limit */
	uint32_t functions_max;		     /* 0: the default */
	uint64_t min_ns;
	bool no_symbols;
	uint64_t names_ns; /* deadline of the look-up of names; 0: none */
};

struct calls {
	const struct calls_options *options;
	char library[2 * PRELOAD_PATH_MAX]; /* libraries, with a colon between them */
	struct view_globs guests;	    /* files with a guest's functions: cmd_symbols_options.guests */
	struct auto_arguments automatic;
	struct later_files later;
	const struct target *target; /* whose calls are recorded; NULL: those of a command */
	bool quiet;
};

/* calls_check - check the options. Return: 0 or CMD_USAGE. */
int calls_check(const struct calls_options *options);

/* calls_have_file - whether functions are selected by their source file. */
bool calls_have_file(const struct calls_options *options);

/* calls_rules - the rules that the options mean, without one: all functions are on. @rules: all 0. Return: false: no room. */
bool calls_rules(char rules[WIRE_CALL_RULES], const struct calls_options *options);

/* calls_limits - store --depth, --min and --below in the session. */
void calls_limits(const struct calls_options *options, const struct session *session);

/*
 * calls_begin - prepare the recording of calls, if it was asked for: store the rules in the session, and what is known of
 * the arguments of a command's functions.
 * Return: false after a message.
 */
bool calls_begin(struct calls *calls, const struct calls_options *options, struct session *session,
		 const char *command, bool quiet);

/* calls_follow - before the command starts: what it loads later is read, too, until calls_finish(). */
void calls_follow(struct calls *calls, struct session *session);

/* calls_ended - a child of the recorder has ended. */
void calls_ended(struct calls *calls, pid_t child);

void calls_finish(struct calls *calls);

/* calls_summary - print what belongs to the summary of a recording. */
void calls_summary(const struct calls *calls);

/* calls_find_library - preload_find() of the library that records calls. */
int calls_find_library(char *path, size_t bytes);

/* calls_library - the path of the library that the command must load; "": none. */
const char *calls_library(const struct calls *calls);

/* calls_note_unmatched - if the options choose none of the functions, or none for --below or --args, print a line. */
void calls_note_unmatched(const struct calls_options *options, const struct session *session);

/* calls_note_none - if nothing that ran has hooks for calls, or all are off, print what to do. @session: of the recording */
void calls_note_none(const struct calls *calls, const struct session *session);

/* How functions are named. */
struct calls_names {
	const struct target *target; /* the session that named their images; NULL: it is our own */
	struct view_globs guests;    /* files with functions of guests */
	uint64_t deadline_ns;	     /* 0: none */
	bool progress;
};

/* calls_find_names - name the functions in one trace, if it has calls. */
void calls_find_names(int directory, const char *path, const struct calls_names *names);

/* calls_symbols - name the functions of the finished trace or of each chunk. @path: for messages */
void calls_symbols(const struct calls *calls, int directory, const char *path,
		   const struct drain_totals *totals);

#endif
