/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The user's settings for the sessions that programs make for themselves: the file `burin/config` in the user's
 * configuration directory, then the environment (burin.3 describes them).
 */
#ifndef BURIN_SOURCE_TRACEPOINT_SETTINGS_H
#define BURIN_SOURCE_TRACEPOINT_SETTINGS_H

#include <stdbool.h>

#include "session/session.h"

enum {
	SETTINGS_RULES_MAX = 64,
	SETTINGS_TEXT_MAX = 8192,
};

struct settings_rule {
	const char *glob;
	struct session_rule rule;
};

struct settings {
	bool on;       /* this program makes a session */
	bool populate; /* allocate all memory at the start, so that recording makes no system calls */
	struct session_options session;
	struct session_limits limits;
	struct settings_rule rules[SETTINGS_RULES_MAX];
	unsigned rule_count;
	char text[SETTINGS_TEXT_MAX]; /* the globs and expressions of the rules */
	size_t used;
	char fault[160]; /* the first setting that is not valid, and why; empty: none */
};

/* settings_read - read them; *settings must be all zero. Context: at the program's start; allocates nothing. A set-uid
 * program must not call it. */
void settings_read(struct settings *settings);

#endif
