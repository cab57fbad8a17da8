/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * All losses of a trace but samples (view_ledger_text()). This is the one place that knows the causes; every command prints them by it.
 */
#ifndef BURIN_VIEW_LOSSES_H
#define BURIN_VIEW_LOSSES_H

#include <stdbool.h>

#include "read/trace.h"
#include "view/buffer.h"
#include "view/json.h"
#include "wire/wire_call.h"

enum {
	VIEW_LOSSES = BURIN_LOST_CAUSES + WIRE_CALL_LOSSES + 4,
};

struct view_loss {
	const char *key;  /* in JSON */
	const char *text; /* behind the number, and "records:" of those of rings */
	uint64_t count;
	bool of_rings;
	bool adds; /* to the sum: records and calls, not what lacks a part */
};

struct view_losses {
	uint64_t sum;	 /* records and calls */
	bool unfinished; /* more may be lost */
	unsigned count;
	struct view_loss list[VIEW_LOSSES]; /* whose count is not 0; those of rings first */
};

/* A number of .burin/recording; 0: it is not there, or is none. */
uint64_t view_recorded(const struct burin_trace *trace, const char *key);

void view_losses_read(const struct burin_trace *trace, struct view_losses *losses);

/* view_losses_add - add a cause that views know, such as samples. Nothing that is 0 is a loss. */
void view_losses_add(struct view_losses *losses, struct view_loss loss);

/*
 * The state of an unfinished recording, and what to do about the records that only memory has: nothing has counted its last losses. The
 * same where the state cannot be read. NULL: the recording has ended.
 */
const char *view_unfinished(const struct burin_trace *trace);

/*
 * A block: the sum, then a line for each cause, those of rings by ring, and one for an unfinished recording; empty if
 * nothing is missing.
 */
void view_losses_text(const struct burin_trace *trace, bool color, struct view_buffer *out);

/*
 * One line, and one for an unfinished recording. @about: what follows for the rest, if something was lost. Return:
 * whether anything is missing.
 */
bool view_losses_line(const struct burin_trace *trace, const char *about, struct view_buffer *out);
extern const char view_lost_calls[]; /* @about of calls */

/* The first of these lines, of losses that were not read from a trace. @what: that was not lost, such as "record" */
void view_losses_print(const struct view_losses *losses, const char *what, const char *about,
		       struct view_buffer *out);
void view_losses_object(const struct view_losses *losses, struct json *json);

/* The object "lost": counts by cause; and "unfinished": more may be lost, or in memory. */
void view_losses_json(const struct burin_trace *trace, struct json *json);

#endif
