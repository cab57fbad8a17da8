/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The abilities of a terminal. Apart, since <term.h> defines macros with the names of common variables. */
#include "cmd/top/top_terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

enum top_terminal top_terminal_look(const char *name)
{
	int error;

	if (!name || setupterm(name, STDOUT_FILENO, &error) != OK)
		return TOP_TERMINAL_UNKNOWN;
	return cursor_address ? TOP_TERMINAL_GOOD : TOP_TERMINAL_PLAIN;
}
