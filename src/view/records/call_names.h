/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of a trace's calls, as lines print them: their names are looked up once. */
#ifndef BURIN_VIEW_RECORDS_CALL_NAMES_H
#define BURIN_VIEW_RECORDS_CALL_NAMES_H

#include "base/containers/arena.h"
#include "burin/calls.h"
#include "view/json.h"
#include "view/records/selection.h"

enum {
	VIEW_DURATION = 10, /* columns: "  1.234 us" */
};

struct view_function {
	const char *name;  /* any bytes; of a function without a name its address */
	const char *image; /* any bytes */
	const char *text;  /* the name, safe for a terminal, with brackets behind it: "main()" */
	uint32_t text_bytes;
	uint32_t bare_bytes; /* of these, before the brackets */
};

/* Constant once made, so threads can share it. */
struct view_call_names {
	struct burin_calls *calls;	 /* NULL: the trace has no calls */
	struct view_function *functions; /* by number; [0]: unknown */
	uint32_t count;			 /* the highest number */
	struct arena texts;
};

/* view_call_names_make - of a trace with or without calls, which must stay open. Return: 0 or -ENOMEM. */
int view_call_names_make(struct view_call_names *names, const struct burin_trace *trace);
void view_call_names_free(struct view_call_names *names);

/* view_call_names_select - whether a glob selects each function. Return: by number, the caller's; NULL: no memory. */
bool *view_call_names_select(const struct view_call_names *names, const struct view_globs *globs,
			     bool (*fits)(const char *glob, const char *name));

static inline const struct view_function *view_function_of(const struct view_call_names *names,
							   uint32_t number)
{
	return &names->functions[number <= names->count ? number : 0];
}

/* view_put_duration - VIEW_DURATION columns, right-aligned. Return: behind them. */
char *view_put_duration(char *out, uint64_t ns);

/* view_call_ns - the duration of a call. */
uint64_t view_call_ns(const struct burin_trace *trace, const struct burin_call *call);

/* view_call_text - "leaf() 120 ns depth=2". @record: of the call */
void view_call_text(const struct view_call_names *names, const struct burin_trace *trace,
		    const struct burin_call *call, const struct burin_record *record,
		    struct view_buffer *out);

/* view_call_json - the members of a call's "fields". */
void view_call_json(const struct view_call_names *names, const struct burin_trace *trace,
		    const struct burin_call *call, struct json *json);

#endif
