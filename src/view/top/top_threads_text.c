/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Threads, why they wait, and their stacks; see top.h. */
#include <stdio.h>
#include <string.h>

#include "base/print.h"
#include "base/text.h"
#include "view/table.h"
#include "view/top/top.h"

enum {
	TOP_TID,
	TOP_STATE,
	TOP_CALL,
	TOP_OBJECT,
	TOP_WCHAN,
	TOP_NAME,
	TOP_PID,
};

const char *top_state(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "blocked"; /* no signal ends that */
	case 'T':
		return "stopped";
	case 't':
		return "traced";
	case 'Z':
	case 'X':
		return "ended";
	case 'I':
		return "idle";
	default:
		return "unknown";
	}
}

static const char *top_threads_name(const void *data, const void *row, unsigned part)
{
	const struct top_thread *thread = row;
	static char number[2][TEXT_SHORT]; /* of one cell at a time */

	if (thread->unknown && (part == TOP_CALL || part == TOP_OBJECT || part == TOP_WCHAN))
		return data;
	switch (part) {
	case TOP_TID:
	case TOP_PID:
		snprintf(number[part == TOP_PID], TEXT_SHORT, "%u",
			 part == TOP_TID ? thread->tid : thread->pid);
		return number[part == TOP_PID];
	case TOP_STATE:
		return top_state(thread->state);
	case TOP_CALL:
		return thread->call;
	case TOP_WCHAN:
		return thread->wchan;
	case TOP_OBJECT:
		return thread->object;
	default:
		return thread->name;
	}
}

static bool top_threads_share(const void *at, unsigned part, uint64_t *number)
{
	const struct top_shares *shares = at;

	*number = part ? shares->queued : shares->run;
	return shares->known;
}

static const char *top_frame_image(const struct top_frame *frame)
{
	return frame->image && *frame->image ? frame->image : "[unknown]";
}

static void top_stack_json(const struct table *table, const void *row, struct json *json)
{
	const struct top_thread *thread = row;

	(void)table;
	json_array(json, NULL);
	for (unsigned n = 0; n < thread->frames; n++) {
		const struct top_frame *frame = &thread->stack[n];

		json_object(json, NULL);
		json_text(json, "function", frame->function);
		json_text(json, "image", top_frame_image(frame));
		json_u64(json, "offset", frame->offset);
		json_text(json, "file", frame->file);
		if (frame->file)
			json_u64(json, "line", frame->line);
		else
			json_null(json, "line");
		json_bool(json, "inlined", frame->inlined);
		json_end(json);
	}
	json_end(json);
}

static void top_note_json(const struct table *table, const void *row, struct json *json)
{
	(void)table;
	json_text(json, NULL, ((const struct top_thread *)row)->note);
}

/* A line for each frame: function, line of the source, image. */
static void top_threads_stack(const struct table *table, const void *row, struct view_buffer *out)
{
	const struct top_thread *thread = row;
	const char *dim = table->color ? print_styles[PRINT_DIM] : "",
		   *off = table->color ? print_styles[PRINT_OFF] : "";

	for (unsigned n = 0; n < thread->frames; n++) {
		const struct top_frame *frame = &thread->stack[n];
		char offset[TEXT_SHORT];

		snprintf(offset, sizeof(offset), "0x%llx", (unsigned long long)frame->offset);
		view_buffer_print(out, "        %s%s%s", frame->function ? frame->function : offset, dim,
				  frame->inlined ? " (inlined)" : "");
		if (frame->file)
			view_buffer_print(out, " at %s:%u", frame->file, frame->line);
		view_buffer_print(out, " in %s%s\n", top_frame_image(frame), off);
	}
	if (thread->note)
		view_buffer_print(out, "        %s(%s)%s\n", dim, thread->note, off);
}

static const struct column_list top_stack_list = { .json = top_stack_json },
				top_note_list = { .json = top_note_json };

static const struct column top_threads_columns[] = {
	COLUMN("run", "CPU", SHARE, 7, struct top_thread, shares, .get = top_threads_share,
	       .whole = offsetof(struct top_thread, whole)),
	COLUMN("queued", "QUEUED", SHARE, 7, struct top_thread, shares, .get = top_threads_share, .part = 1,
	       .whole = offsetof(struct top_thread, whole)),
	COLUMN("cpu_ns", "TIME", DURATION, 10, struct top_thread, cpu_ns),
	COLUMN(NULL, "THREADS", COUNT, 7, struct top_thread, count, .optional = true),
	{ .key = "stack", .list = &top_stack_list },
	{ .key = "note", .list = &top_note_list },
	{ 0 },
};

/* @unknown: for waits that were not read; NULL: in JSON */
static struct table top_threads_table(const struct top_rows *rows, const char *unknown, bool color)
{
	return (struct table){
		.names = { COLUMN_NAME("pid", DIGITS, TOP_PID), COLUMN_NAME("tid", DIGITS, TOP_TID),
			   COLUMN_NAME("name", TEXT, TOP_NAME), COLUMN_NAME("state", TEXT, TOP_STATE),
			   COLUMN_NAME("call", TEXT, TOP_CALL), COLUMN_NAME("object", TEXT, TOP_OBJECT),
			   COLUMN_NAME("wchan", TEXT, TOP_WCHAN) },
		.name_count = 7,
		.columns = top_threads_columns,
		.rows = rows->threads,
		.count = rows->thread_count,
		.size = sizeof(struct top_thread),
		.name = top_threads_name,
		.data = unknown,
		.unit = "ns",
		.optional = rows->stacks,
		.color = color,
		.below = top_threads_stack
	};
}

void top_threads_text(const struct top_rows *rows, uint64_t limit, bool color, struct view_buffer *out)
{
	struct table table = top_threads_table(rows, "?", color);

	if (rows->stacks) /* of one process, which the line above names */
		memmove(table.names, table.names + 1, --table.name_count * sizeof(table.names[0]));
	table.count = table_limit(table.count, limit);
	table_text(&table, out);
	table_left(rows->thread_count - table.count, "more rows; see --limit", color, out);
}

void top_threads_json(const struct top_rows *rows, struct json *json)
{
	const struct table table = top_threads_table(rows, NULL, false);

	table_json(&table, json, "threads");
}
