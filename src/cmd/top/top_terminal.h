/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whether a terminal can show screens. */
#ifndef BURIN_CMD_TOP_TOP_TERMINAL_H
#define BURIN_CMD_TOP_TOP_TERMINAL_H

enum top_terminal {
	TOP_TERMINAL_UNKNOWN,
	TOP_TERMINAL_PLAIN, /* it cannot move its cursor */
	TOP_TERMINAL_GOOD,
};

/* top_terminal_look - look a terminal up by its name, that of TERM. */
enum top_terminal top_terminal_look(const char *name);

#endif
