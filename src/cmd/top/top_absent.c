/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin top without ncurses. */
#include "cmd/cmd.h"
#include "cmd/top/top_screen.h"

int top_screen_run(struct top_sources *sources)
{
	(void)sources;
	return cmd_usage("this burin was built without ncurses, and has no screen; use --batch");
}
