/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the user wants of the sessions that programs make for themselves: the file `burin/config` in the user's
 * configuration directory, then the environment (burin.3 has the words).
 */
#ifndef BURIN_SOURCE_USER_SETTINGS_H
#define BURIN_SOURCE_USER_SETTINGS_H

#include <stdbool.h>

#include "session/session.h"

enum {
	SETTINGS_RULES_MAX = 64,
	SETTINGS_TEXT_MAX = 8192,
};

struct settings_rule {
	char sign; /* '+' or '-' */
	unsigned level;
	const char *glob;
};

struct settings {
	bool off; /* no session for this program */
	struct session_options session;
	struct session_limits limits;
	struct settings_rule rules[SETTINGS_RULES_MAX];
	unsigned rule_count;
	char text[SETTINGS_TEXT_MAX]; /* what the rules point into */
	size_t used;
	char fault[160]; /* the first thing that could not be understood; empty: none */
};

/* settings_read - gather them into what is all zero. Context: at the program's start; allocates nothing. A set-uid program has none. */
void settings_read(struct settings *settings);

#endif
