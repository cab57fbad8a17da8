/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tables of samples: each sample, the stacks that they refer to, and the functions at the locations of stacks. A stack is its innermost
 * frame and the stack of its caller, as in the trace; stacks and locations have their numbers.
 */
#include <errno.h>
#include <stdio.h>

#include "burin/profile.h"
#include "query/query_kinds.h"
#include "query/query_stacks.h"

enum {
	SAMPLE_TIME,
	SAMPLE_CPU,
	SAMPLE_TID,
	SAMPLE_PID,
	SAMPLE_THREAD,
	SAMPLE_PROGRAM,
	SAMPLE_EVENT,
	SAMPLE_WEIGHT,
	SAMPLE_UNIT,
	SAMPLE_STACK,
	SAMPLE_FUNCTION,
	SAMPLE_COLUMNS
};

static const struct query_field sample_columns[] = {
	[SAMPLE_TIME] = { "time", QUERY_INTEGER },	[SAMPLE_CPU] = { "cpu", QUERY_INTEGER },
	[SAMPLE_TID] = { "tid", QUERY_INTEGER },	[SAMPLE_PID] = { "pid", QUERY_INTEGER },
	[SAMPLE_THREAD] = { "thread", QUERY_TEXT },	[SAMPLE_PROGRAM] = { "program", QUERY_TEXT },
	[SAMPLE_EVENT] = { "event", QUERY_TEXT },	[SAMPLE_WEIGHT] = { "weight", QUERY_INTEGER },
	[SAMPLE_UNIT] = { "unit", QUERY_TEXT },		[SAMPLE_STACK] = { "stack", QUERY_INTEGER },
	[SAMPLE_FUNCTION] = { "function", QUERY_TEXT },
};

struct sample_stored {
	int64_t time;
	uint64_t weight;
	const struct burin_event *event;
	uint32_t cpu, task, stack;
	uint32_t function; /* string */
};

static int samples_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	struct burin_sample sample;
	char text[QUERY_NAME];
	int result;

	(void)table;
	if (!query->profile)
		return 0;
	result = burin_cursor_open(&cursor, query->trace, NULL);
	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		struct sample_stored *row;

		result = 0;
		if (burin_profile_sample(query->profile, record, &sample))
			continue;
		row = query_store_add(store, sizeof(*row));
		if (!row) {
			result = -ENOMEM;
			break;
		}
		row->time = burin_trace_ns(query->trace, record->time);
		row->weight = sample.weight;
		row->event = record->event;
		row->cpu = record->cpu;
		row->task = sample.task;
		row->stack = sample.stack;
		row->function = query_string(
			query, query_stack_function(query, sample.stack,
						    !strcmp(record->event->name, "sample.off-cpu"), text,
						    sizeof(text)));
	}
	burin_cursor_close(cursor);
	return result;
}

static void sample_task_value(const struct query *query, uint32_t number, unsigned column,
			      struct query_value *value)
{
	const struct burin_task *task = burin_profile_task(query->profile, number);

	if (!task)
		return;
	if (column == SAMPLE_TID) {
		query_integer(value, task->tid);
	} else if (column == SAMPLE_PID) {
		query_integer(value, task->pid);
	} else if (column == SAMPLE_THREAD) {
		query_text(value, task->name);
	} else {
		query_program(value, task->path);
	}
}

static void sample_value(const struct query *query, const void *data, unsigned column,
			 struct query_value *value)
{
	const struct sample_stored *row = data;

	query_null(value);
	switch (column) {
	case SAMPLE_TIME:
		query_integer(value, row->time);
		break;
	case SAMPLE_CPU:
		if (row->cpu != UINT32_MAX)
			query_integer(value, row->cpu);
		break;
	case SAMPLE_EVENT:
		query_text(value, row->event->name);
		break;
	case SAMPLE_WEIGHT:
		query_integer(value, (int64_t)row->weight);
		break;
	case SAMPLE_UNIT:
		query_text(value, burin_profile_unit(query->profile, row->event));
		break;
	case SAMPLE_STACK:
		if (row->stack)
			query_integer(value, row->stack);
		break;
	case SAMPLE_FUNCTION:
		query_string_value(query, row->function, value);
		break;
	default:
		sample_task_value(query, row->task, column, value);
	}
}

const struct query_kind query_samples = {
	.fields = sample_columns,
	.field_count = SAMPLE_COLUMNS,
	.make = samples_make,
	.row_bytes = sizeof(struct sample_stored),
	.value = sample_value,
};

/* ---- Stacks */

enum {
	STACK_STACK,
	STACK_CALLER,
	STACK_DEPTH,
	STACK_LOCATION,
	STACK_FUNCTION,
	STACK_COLUMNS
};

static const struct query_field stack_columns[] = {
	[STACK_STACK] = { "stack", QUERY_INTEGER },    [STACK_CALLER] = { "caller", QUERY_INTEGER },
	[STACK_DEPTH] = { "depth", QUERY_INTEGER },    [STACK_LOCATION] = { "location", QUERY_INTEGER },
	[STACK_FUNCTION] = { "function", QUERY_TEXT },
};

struct stack_stored {
	int64_t number;
	struct burin_stack stack;
	uint32_t function; /* string */
};

static int stacks_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const uint32_t count = query->profile ? burin_profile_stacks(query->profile) : 0;
	struct burin_stack stack;
	char text[QUERY_NAME];

	(void)table;
	for (uint32_t number = 1; number && number <= count; number++) {
		struct stack_stored *row;

		if (burin_profile_stack(query->profile, number, &stack))
			continue;
		row = query_store_add(store, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->number = number;
		row->stack = stack;
		row->function = query_string(
			query, query_location_function(query, stack.location, text, sizeof(text)));
	}
	return 0;
}

static void stack_value(const struct query *query, const void *data, unsigned column,
			struct query_value *value)
{
	const struct stack_stored *row = data;

	query_null(value);
	switch (column) {
	case STACK_STACK:
		query_integer(value, row->number);
		break;
	case STACK_CALLER:
		if (row->stack.caller)
			query_integer(value, row->stack.caller);
		break;
	case STACK_DEPTH:
		query_integer(value, row->stack.depth);
		break;
	case STACK_LOCATION:
		query_integer(value, row->stack.location);
		break;
	default:
		query_string_value(query, row->function, value);
	}
}

const struct query_kind query_stacks = {
	.fields = stack_columns,
	.field_count = STACK_COLUMNS,
	.make = stacks_make,
	.row_bytes = sizeof(struct stack_stored),
	.value = stack_value,
};

/* ---- Frames */

enum {
	FRAME_LOCATION,
	FRAME_INLINED,
	FRAME_FUNCTION,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_IMAGE,
	FRAME_OFFSET,
	FRAME_COLUMNS
};

static const struct query_field frame_columns[] = {
	[FRAME_LOCATION] = { "location", QUERY_INTEGER }, [FRAME_INLINED] = { "inlined", QUERY_INTEGER },
	[FRAME_FUNCTION] = { "function", QUERY_TEXT },	  [FRAME_FILE] = { "file", QUERY_TEXT },
	[FRAME_LINE] = { "line", QUERY_INTEGER },	  [FRAME_IMAGE] = { "image", QUERY_TEXT },
	[FRAME_OFFSET] = { "offset", QUERY_INTEGER },
};

struct frame_stored {
	int64_t location;
	uint32_t level; /* 0: the innermost inlined function */
	bool inlined;	/* into the next one */
	bool named;
};

static int frames_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const uint32_t count = query->profile ? burin_profile_locations(query->profile) : 0;
	struct burin_location location;

	(void)table;
	for (uint32_t number = 1; number && number <= count; number++) {
		if (burin_profile_location(query->profile, number, &location))
			continue;
		for (uint32_t level = 0; level == 0 || level < location.frames; level++) {
			struct frame_stored *row = query_store_add(store, sizeof(*row));

			if (!row)
				return -ENOMEM;
			*row = (struct frame_stored){ number, level, level + 1 < location.frames,
						      location.frames > 0 };
		}
	}
	return 0;
}

static void frame_place(const struct query *query, const struct frame_stored *row, unsigned column,
			struct query_value *value)
{
	struct burin_location location;

	if (burin_profile_location(query->profile, (uint32_t)row->location, &location) || !location.image)
		return;
	if (column == FRAME_OFFSET)
		query_integer(value, (int64_t)location.offset);
	else
		query_text(value, burin_image_name(burin_profile_image(query->profile, location.image)));
}

static void frame_value(const struct query *query, const void *data, unsigned column,
			struct query_value *value)
{
	const struct frame_stored *row = data;
	struct burin_frame frame = { 0 };

	query_null(value);
	if (row->named && burin_profile_frame(query->profile, (uint32_t)row->location, row->level, &frame))
		return;
	switch (column) {
	case FRAME_LOCATION:
		query_integer(value, row->location);
		break;
	case FRAME_INLINED:
		query_integer(value, row->inlined);
		break;
	case FRAME_FUNCTION:
		query_text(value, frame.function);
		break;
	case FRAME_FILE:
		query_text(value, frame.file);
		break;
	case FRAME_LINE:
		if (frame.line)
			query_integer(value, frame.line);
		break;
	default:
		frame_place(query, row, column, value);
	}
}

const struct query_kind query_frames = {
	.fields = frame_columns,
	.field_count = FRAME_COLUMNS,
	.make = frames_make,
	.row_bytes = sizeof(struct frame_stored),
	.value = frame_value,
};
