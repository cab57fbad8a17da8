/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export arrow: a table of a trace in Arrow's IPC format. */
#ifndef BURIN_CMD_EXPORT_EXPORT_ARROW_H
#define BURIN_CMD_EXPORT_EXPORT_ARROW_H

#include <stdbool.h>

/*
 * export_arrow - write a table of a trace.
 * @table: its name; NULL: events
 * @whole: as a file; otherwise as a stream
 * @output: NULL or "-": standard output
 * Return: the exit code.
 */
int export_arrow(const char *trace, const char *table, bool whole, const char *output);

#endif
