/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of spans: of events, of system calls, of calls; joined as `burin report --spans` does it. */
#include <errno.h>

#include "query/query_kinds.h"
#include "view/spans/span_join.h"

enum {
	SPAN_TIME,
	SPAN_DURATION,
	SPAN_SELF,
	SPAN_TID,
	SPAN_PID,
	SPAN_THREAD,
	SPAN_PROGRAM,
	SPAN_NAME,
	SPAN_PARENT,
	SPAN_FAILED,
	SPAN_END_TID,
	SPAN_COLUMNS
};

static const struct query_field span_columns[] = {
	[SPAN_TIME] = { "time", QUERY_INTEGER },       [SPAN_DURATION] = { "duration", QUERY_INTEGER },
	[SPAN_SELF] = { "self", QUERY_INTEGER },       [SPAN_TID] = { "tid", QUERY_INTEGER },
	[SPAN_PID] = { "pid", QUERY_INTEGER },	       [SPAN_THREAD] = { "thread", QUERY_TEXT },
	[SPAN_PROGRAM] = { "program", QUERY_TEXT },    [SPAN_NAME] = { "name", QUERY_TEXT },
	[SPAN_PARENT] = { "parent", QUERY_TEXT },      [SPAN_FAILED] = { "failed", QUERY_INTEGER },
	[SPAN_END_TID] = { "end_tid", QUERY_INTEGER },
};

struct span_stored {
	int64_t time, duration, self; /* ns; duration -1: it has no end */
	uint64_t begin;		      /* ticks */
	uint32_t tid, end_tid;
	uint32_t name, parent; /* strings */
	bool failed;
};

/* The prefix of the names of system calls and of calls is that of their table. */
static const char *const name_prefixes[] = {
	[QUERY_SPANS_OF_EVENTS] = "",
	[QUERY_SPANS_OF_SYSCALLS] = "syscall:",
	[QUERY_SPANS_OF_CALLS] = "call:",
};
static const char *const name_globs[] = {
	[QUERY_SPANS_OF_EVENTS] = NULL,
	[QUERY_SPANS_OF_SYSCALLS] = "syscall:*",
	[QUERY_SPANS_OF_CALLS] = "call:*",
};

struct span_filler {
	struct query_store *store;
	struct span_join join;
	bool of_events;
};

/* A name without the prefix that says its kind. */
static uint32_t span_text(struct span_filler *filler, uint32_t number)
{
	const struct span_definition *definition = &filler->join.events.definitions[number];
	const char *prefix = definition->kind == SPAN_OF_SYSCALL ? name_prefixes[QUERY_SPANS_OF_SYSCALLS]
			     : definition->kind == SPAN_OF_CALL	 ? name_prefixes[QUERY_SPANS_OF_CALLS]
								 : "";

	if (!number)
		return 0;
	return *prefix ? view_string(filler->join.strings,
				     filler->join.strings->texts[definition->name] + strlen(prefix))
		       : definition->name;
}

static int span_store(void *data, const struct span_ended *span)
{
	struct span_filler *filler = data;
	const struct span_definition *definition = &filler->join.events.definitions[span->definition];
	const struct burin_trace *trace = filler->join.trace;
	struct span_stored *row;
	int64_t end;

	if (filler->of_events != (definition->kind == SPAN_OF_THREAD || definition->kind == SPAN_OF_ID))
		return 0;
	row = query_store_add(filler->store, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->begin = span->begin;
	row->time = burin_trace_ns(trace, span->begin);
	row->duration = row->self = -1;
	if (span->end) {
		end = burin_trace_ns(trace, span->end);
		row->duration = end - row->time;
		row->self = burin_trace_ns(trace, span->end - span->children) - row->time;
	}
	row->tid = span->tid;
	row->end_tid = span->end_tid;
	row->name = span_text(filler, span->definition);
	row->parent = span_text(filler, span->parent);
	row->failed = span->failed;
	return 0;
}

static int spans_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const char *glob = name_globs[table->choice], *missing;
	const struct view_globs names = { .globs = &glob, .count = glob ? 1 : 0 };
	const struct span_choice choice = { .names = &names };
	struct span_filler filler = { .store = store, .of_events = table->choice == QUERY_SPANS_OF_EVENTS };
	int result = span_join_make(&filler.join, query->trace, &choice, &query->strings, &missing);

	filler.join.give = span_store;
	filler.join.data = &filler;
	if (!result)
		result = span_join_read(&filler.join, 0, 0, query->threads);
	span_join_free(&filler.join);
	return result == -ENODATA ? 0 : result;
}

static void span_value(const struct query *query, const void *data, unsigned column,
		       struct query_value *value)
{
	const struct span_stored *row = data;

	query_null(value);
	switch (column) {
	case SPAN_TIME:
		query_integer(value, row->time);
		break;
	case SPAN_DURATION:
		if (row->duration >= 0)
			query_integer(value, row->duration);
		break;
	case SPAN_SELF:
		if (row->duration >= 0)
			query_integer(value, row->self);
		break;
	case SPAN_TID:
		query_integer(value, row->tid);
		break;
	case SPAN_PID:
	case SPAN_THREAD:
	case SPAN_PROGRAM:
		query_of_thread(burin_trace_thread(query->trace, row->tid, row->begin),
				QUERY_OF_PID + (enum query_of)(column - SPAN_PID), value);
		break;
	case SPAN_NAME:
		query_string_value(query, row->name, value);
		break;
	case SPAN_PARENT:
		query_string_value(query, row->parent, value);
		break;
	case SPAN_FAILED:
		query_integer(value, row->failed);
		break;
	default:
		if (row->duration >= 0)
			query_integer(value, row->end_tid);
	}
}

const struct query_kind query_spans = {
	.fields = span_columns,
	.field_count = SPAN_COLUMNS,
	.make = spans_make,
	.row_bytes = sizeof(struct span_stored),
	.value = span_value,
};
