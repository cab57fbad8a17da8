/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of functions in `burin record`: what was asked for, and the library that the command loads for it. */
#ifndef BURIN_CMD_RECORD_SOURCES_RECORD_CALLS_H
#define BURIN_CMD_RECORD_SOURCES_RECORD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/record/recorder/preload_libraries.h"
#include "cmd/record/recorder/source.h"
#include "cmd/record/sources/auto_arguments.h"
#include "cmd/record/sources/later_files.h"
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

/* The calls of a command. */
struct calls {
	const struct calls_options *options;
	char library[2 * PRELOAD_PATH_MAX]; /* libraries, with a colon between them */
	struct auto_arguments automatic;
	struct later_files later;
	bool quiet;
};

/* Of a struct calls whose options are set. */
extern const struct source_ops calls_source;

/* calls_check - check the options. Return: 0 or CMD_USAGE. */
int calls_check(const struct calls_options *options);

/* calls_have_file - whether functions are selected by their source file. */
bool calls_have_file(const struct calls_options *options);

/* calls_rules - the rules that the options mean, without one: all functions are on. @rules: all 0. Return: false: no room. */
bool calls_rules(char rules[WIRE_CALL_RULES], const struct calls_options *options);

/* calls_limits - store --depth, --min and --below in the session. */
void calls_limits(const struct calls_options *options, const struct session *session);

/* calls_find_library - preload_find() of the library that records calls. */
int calls_find_library(char *path, size_t bytes);

/* calls_note_unmatched - if the options choose none of the functions, or none for --below or --args, print a line. */
void calls_note_unmatched(const struct calls_options *options, const struct session *session);

#endif
