/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is in a trace, for people and as JSON. */
#ifndef BURIN_VIEW_SUMMARY_H
#define BURIN_VIEW_SUMMARY_H

#include <stdbool.h>

#include "burin/read.h"
#include "view/buffer.h"

struct read_counts;

/* The state of the recording: a word ("finished"), and whether it was not brought to its end. */
const char *view_state(const struct burin_trace *trace, bool *unfinished);
/* Renders the summary into out. */
void view_summary_text(const struct burin_trace *trace, const struct read_counts *counts, bool color,
		       struct view_buffer *out);
void view_summary_json(const struct burin_trace *trace, const struct read_counts *counts,
		       struct view_buffer *out);
/* "lost: 12 ring full, 77 overwritten" or nothing; for the foot of a dump and for the summary. */
void view_losses_text(const struct burin_trace *trace, bool color, struct view_buffer *out);

#endif
