/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The newest trace in a directory. */
#ifndef BURIN_CMD_NEWEST_TRACE_H
#define BURIN_CMD_NEWEST_TRACE_H

#include <limits.h>
#include <stdbool.h>

/*
 * newest_trace - find the recording in a directory that was written to last: a trace by its end; a split one, whose name
 * ends in ".burin", by its last chunk. Links are left out.
 * @all: those of other users, too. Their traces are never taken unasked: in /tmp anybody can make a newer one.
 * @name: set to its name; "": there is none
 */
void newest_trace(const char *directory, bool all, char name[NAME_MAX + 1]);

#endif
