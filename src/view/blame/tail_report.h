/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The slowest spans of each name, against those around the median: burin report --spans --slowest PERCENT. */
#ifndef BURIN_VIEW_BLAME_TAIL_REPORT_H
#define BURIN_VIEW_BLAME_TAIL_REPORT_H

#include "view/blame/blame.h"

/*
 * tail_print - a table for each name, in the form of the report; JSON is as docs/schema/report-tail.json.
 * @pick: a share of each name's spans
 * @percent: as the user gave it
 * @path: of the trace, for commands that print an example
 * Return: 0; -ENOMEM.
 */
int tail_print(struct span_pick *pick, const struct view_report *report, const char *percent,
	       const char *path, struct view_buffer *out);

#endif
