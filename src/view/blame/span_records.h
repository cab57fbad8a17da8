/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The records of a program within one of its spans: its arguments, the spans in it, and events. */
#ifndef BURIN_VIEW_BLAME_SPAN_RECORDS_H
#define BURIN_VIEW_BLAME_SPAN_RECORDS_H

#include "view/json.h"
#include "view/records/line.h"
#include "view/spans/span_pick.h"

enum {
	SPAN_RECORDS_TEXT = 20,
	SPAN_RECORDS_JSON = 1000,
};

/*
 * span_records_text - a line for each of the first records of a span's threads: when, how long, and the record. A span in it has one line, with
 * what its end says. Records of the kernel without its probes in programs, samples and calls are left out.
 * span_records_json - an array of them, and how many more there are.
 * Return: 0; -ENOMEM.
 */
int span_records_text(struct view_line_formatter *formatter, const struct span_picked *span,
		      struct view_buffer *out);
int span_records_json(struct view_line_formatter *formatter, const struct span_picked *span,
		      struct json *json);

#endif
