/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A record as one line of text or JSON. The parts that all records of an event or a thread share are rendered once and
 * copied.
 */
#ifndef BURIN_VIEW_RECORDS_LINE_H
#define BURIN_VIEW_RECORDS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "burin/profile.h"
#include "view/buffer.h"
#include "view/records/call_names.h"
#include "view/records/format_program.h"

enum {
	VIEW_THREAD_LABELS = 256, /* cached labels, a power of two */
	VIEW_LABEL_BYTES = 288,
	VIEW_NANO_DIGITS = 9,
	VIEW_ABSOLUTE = 64, /* bytes of a date and time */
	VIEW_TIME = 96,
};

struct view_style {
	bool json;
	bool absolute; /* date and time instead of seconds since the first record */
	bool color;
	bool stacks; /* print the whole stack of a sample */
};

/* An event, ready to be rendered. */
struct view_event {
	struct view_format_program program;
	char *name; /* as printed: padded; in JSON, the member "event", then the fields' keys */
	uint32_t name_bytes;
	struct view_key {
		uint32_t at, bytes; /* in `name`: "\"len\":" */
	} * keys;
};

/* The data that all lines of a dump share. It is constant once made, so threads can share it. */
struct view_lines {
	const struct burin_trace *trace;
	struct burin_profile *profile; /* NULL: the trace has no samples */
	struct view_call_names calls;
	struct view_style style;
	int64_t begin_ns;
	unsigned second_digits, cpu_digits, pid_digits, tid_digits, thread_columns;
	struct view_event *events; /* by id - 1; the events of the names ring follow */
	unsigned event_count;
};

/* A thread as its lines print it. */
struct view_thread_label {
	uint32_t tid, pid;
	uint32_t task; /* of samples; 0: the thread announced itself */
	bool used;
	bool has_pid;
	uint64_t from, until;
	uint32_t bytes;
	char text[VIEW_LABEL_BYTES];
};

/* The caches of one rendering thread. */
struct view_line_formatter {
	const struct view_lines *lines;
	struct view_thread_label labels[VIEW_THREAD_LABELS];
	int64_t second; /* rendered last */
	bool has_second;
	uint32_t second_bytes;
	char second_text[VIEW_ABSOLUTE];
};

/* view_absolute - "2026-11-21 07:45:35.123456789", without a NUL. @out: VIEW_ABSOLUTE bytes. Return: behind it. */
char *view_absolute(char *out, int64_t second, uint32_t ns);

/* The trace must stay open until view_lines_free(). Return: 0 or -ENOMEM. */
int view_lines_make(struct view_lines *lines, const struct burin_trace *trace,
		    const struct view_style *style);
void view_lines_free(struct view_lines *lines);

/* The thread that wrote a record, or that a sample was taken of. */
const struct view_thread_label *view_line_formatter_label(struct view_line_formatter *formatter,
							  const struct burin_record *record);
/*
 * A time as lines print it: seconds since the first record, or a date and time. @out: VIEW_TIME bytes. Return: behind it.
 */
char *view_line_formatter_time(struct view_line_formatter *formatter, uint64_t time, char *out);
/* Appends the rest of a line: the event, its context and fields, or a sample's function; no newline. */
void view_line_formatter_message(struct view_line_formatter *formatter, const struct burin_record *record,
				 struct view_buffer *out);
/* Appends a record and a newline to a buffer. */
void view_line_formatter_render(struct view_line_formatter *formatter, const struct burin_record *record,
				struct view_buffer *out);

/* ---- json_line.c */
/* Renders the shared parts of an event's lines; view_lines_free() frees them. Return: 0 or -ENOMEM. */
int view_json_prepare(struct view_event *event, const struct burin_event *of);
void view_json_render(const struct view_lines *lines, const struct view_event *event,
		      const struct view_thread_label *label, const struct burin_record *record,
		      struct view_buffer *out);
/* The members of a thread; NULL: unknown. @text: VIEW_LABEL_BYTES bytes. Return: the bytes written. */
size_t view_json_label(char *text, const struct burin_thread *thread, uint32_t tid);

#endif
