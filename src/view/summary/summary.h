/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The summary of a trace, as text and as JSON. */
#ifndef BURIN_VIEW_SUMMARY_SUMMARY_H
#define BURIN_VIEW_SUMMARY_SUMMARY_H

#include <stdbool.h>

#include "burin/read.h"
#include "view/json.h"

struct read_counts;

/* The state of the recording, a word such as "finished". *unfinished: it has another one. */
const char *view_state(const struct burin_trace *trace, bool *unfinished);
void view_summary_text(const struct burin_trace *trace, const struct read_counts *counts, bool color,
		       struct view_buffer *out);
/* An element of an array of fields. */
void view_field_json(struct json *json, const char *name, unsigned type);
void view_summary_json(const struct burin_trace *trace, const struct read_counts *counts,
		       struct view_buffer *out);
/* Which events were off for how long, and how many changes are unknown; empty if there are none. */
void view_off_text(const struct burin_trace *trace, bool color, struct view_buffer *out);
/* All changes of states, filters and sizes, with time and process; empty if there are none. */
void view_history_text(const struct burin_trace *trace, bool color, struct view_buffer *out);
void view_history_json(const struct burin_trace *trace, struct json *json);

/* Calls of a trace, in numbers. */
struct view_calls_sum {
	uint64_t calls, functions, open, counted;
};

/* view_calls_sum - count them. Return: 0; -ENODATA: there are none; -ENOMEM. */
int view_calls_sum(const struct burin_trace *trace, const struct read_counts *counts,
		   struct view_calls_sum *sum);

#endif
