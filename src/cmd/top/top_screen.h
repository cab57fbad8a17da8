/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The screen of burin top on a terminal, by ncurses. */
#ifndef BURIN_CMD_TOP_TOP_SCREEN_H
#define BURIN_CMD_TOP_TOP_SCREEN_H

#include "cmd/top/top_sources.h"

/* top_screen_run - show screens until the user leaves, the program ends, or ->count of them were shown. Return: the exit code. */
int top_screen_run(struct top_sources *sources);

#endif
