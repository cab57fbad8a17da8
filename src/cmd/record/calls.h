/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of functions in `burin record`: what was asked for, and the library that the command loads for it. */
#ifndef BURIN_CMD_RECORD_CALLS_H
#define BURIN_CMD_RECORD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/record/preload_libraries.h"
#include "drain/drain.h"
#include "session/session.h"

struct calls_options {
	bool on;
	bool no_hooks; /* only those of libraries */
	bool libraries, nested;
	bool no_symbols;
	uint64_t names_ns; /* deadline of the look-up of names; 0: none */
};

struct calls {
	const struct calls_options *options;
	char library[PRELOAD_PATH_MAX];
};

/* calls_begin - prepare the recording of calls, if it was asked for. Return: false after a message. */
bool calls_begin(struct calls *calls, const struct calls_options *options, struct session *session);

/* calls_library - the path of the library that the command must load; "": none. */
const char *calls_library(const struct calls *calls);

/* calls_symbols - name the functions of the finished trace or of each chunk. @path: for messages */
void calls_symbols(const struct calls *calls, int directory, const char *path, bool quiet,
		   const struct drain_totals *totals);

#endif
