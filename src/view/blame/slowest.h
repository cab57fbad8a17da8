/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The slowest spans of a trace, each with what it spent its time with, and its records: burin report --spans --slowest N. */
#ifndef BURIN_VIEW_BLAME_SLOWEST_H
#define BURIN_VIEW_BLAME_SLOWEST_H

#include "view/blame/blame.h"

/*
 * slowest_print - spans in the form of the report; JSON is as docs/schema/report-slowest.json.
 * @pick: so many spans of all names
 * Return: 0; -ENOMEM.
 */
int slowest_print(struct span_pick *pick, const struct view_report *report, struct view_buffer *out);

/* slowest_command - append a command that prints this one span: "burin report --spans --span ... DIR". */
void slowest_command(const struct span_pick *pick, const struct span_picked *span, const char *path,
		     struct view_buffer *out);

#endif
