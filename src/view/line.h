/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A record as one line, of text or of JSON. What is the same in all records of an event or of a thread is
 * rendered once and copied.
 */
#ifndef BURIN_VIEW_LINE_H
#define BURIN_VIEW_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "burin/profile.h"
#include "view/buffer.h"
#include "view/pattern.h"

enum {
	VIEW_PEOPLE = 256, /* threads that are remembered, a power of two */
	VIEW_PERSON_BYTES = 288,
};

struct view_style {
	bool json;
	bool absolute; /* times of day instead of seconds since the first record */
	bool color;
	bool stacks; /* of a sample its whole stack */
};

/* An event, ready to be rendered. */
struct view_event {
	struct view_pattern pattern;
	char *name; /* as it stands in the line, padded; of JSON up to the fields */
	uint32_t name_bytes;
	struct view_key {
		char *text; /* of JSON: "\"len\":", with a comma before all but the first */
		uint32_t bytes;
	} * keys;
};

/* What all lines of a dump have in common; does not change once it is made, threads share it. */
struct view_lines {
	const struct burin_trace *trace;
	struct burin_profile *profile; /* NULL: the trace has no samples */
	struct view_style style;
	int64_t begin_ns;
	unsigned second_digits, cpu_digits, pid_digits, tid_digits, thread_columns;
	struct view_event *events; /* by id; those of the names follow behind the last */
	unsigned event_count;
};

/* A thread as it stands in its lines. */
struct view_person {
	uint32_t tid, pid;
	uint32_t task; /* of samples; 0: announced by itself */
	bool used;
	bool known; /* has a pid */
	uint64_t from, until;
	uint32_t bytes;
	char text[VIEW_PERSON_BYTES];
};

/* What one rendering thread remembers. */
struct view_liner {
	const struct view_lines *lines;
	struct view_person people[VIEW_PEOPLE];
	int64_t second; /* the time of day that was rendered last */
	bool second_known;
	uint32_t second_bytes;
	char second_text[48];
};

/* What the lines of a trace need, which stays open as long. Return: 0 or -ENOMEM. */
int view_lines_make(struct view_lines *lines, const struct burin_trace *trace,
		    const struct view_style *style);
void view_lines_free(struct view_lines *lines);

/* The thread of a record: that which wrote it, or which it is a sample of. */
const struct view_person *view_liner_person(struct view_liner *liner, const struct burin_record *record);
/* Renders a record with its newline at the end of a buffer. */
void view_liner_render(struct view_liner *liner, const struct burin_record *record, struct view_buffer *out);

/* ---- json.c */
/* What is the same in all lines of an event; to be given back by view_lines_free(). Return: 0 or -ENOMEM. */
int view_json_prepare(struct view_event *event, const struct burin_event *of);
void view_json_render(const struct view_lines *lines, const struct view_event *event,
		      const struct view_person *person, const struct burin_record *record,
		      struct view_buffer *out);
/* A thread in its lines, in VIEW_PERSON_BYTES at most; NULL: unknown. Return: how many. */
size_t view_json_person(char *out, const struct burin_thread *thread, uint32_t tid);

#endif
