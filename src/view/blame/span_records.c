/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records within a span; see span_records.h.
 *
 * A line is made when its record is read. How long a span in it took is known at its end, so lines are kept until then. An end belongs to the
 * innermost open begin of its name; begins above it have no end.
 */
#include "view/blame/span_records.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "view/records/field_json.h"

enum {
	NESTED_MAX = 16, /* spans in each other whose ends are looked for */
};

struct span_line {
	const struct burin_event *event;
	uint32_t tid;
	uint64_t begin, end; /* ticks; end 0: it has none */
	unsigned depth;
	struct view_buffer text, more; /* of its begin, and of its end */
};

struct span_lines {
	struct view_line_formatter *formatter;
	struct span_line lines[SPAN_RECORDS_TEXT];
	unsigned count;
	unsigned open[NESTED_MAX]; /* numbers of lines */
	unsigned depth;
	bool unpushed; /* a begin has no line: it is not known whose end an end is from then on */
	uint64_t left;
};

/* ---- Which records */

/* Whether a file is one of a ring of the program. Files of a chunk are in its directory. */
static bool is_of_program(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;

	return strncmp(name, "kernel", strlen("kernel")) != 0 &&
	       strncmp(name, "samples", strlen("samples")) != 0;
}

/* Whether an event of the kernel is a probe in a program, whose arguments are those of the program. */
static bool is_probe(const char *name)
{
	static const char *const prefixes[] = { "kernel.u:", "kernel.uret:", "kernel.usdt:" };

	for (unsigned n = 0; n < sizeof(prefixes) / sizeof(prefixes[0]); n++)
		if (!strncmp(name, prefixes[n], strlen(prefixes[n])))
			return true;
	return false;
}

static bool belongs(const struct view_lines *lines, const struct span_picked *span,
		    const struct burin_record *record)
{
	struct burin_call call;

	return (record->tid == span->tid || record->tid == span->end_tid) && record->ring != UINT32_MAX &&
	       (is_of_program(record->file) || is_probe(record->event->name)) &&
	       (!lines->calls.calls || burin_calls_call(lines->calls.calls, record, &call) != 0);
}

/* Call a function for each record of a span. Return: 0; its first other result; -ENOMEM. */
static int each_record(const struct view_lines *lines, const struct span_picked *span,
		       int (*take)(void *data, const struct burin_record *record), void *data)
{
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = span->begin,
						      .to = span->end + 1 };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, lines->trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0)
		result = belongs(lines, span, record) ? take(data, record) : 0;
	burin_cursor_close(cursor);
	return result;
}

/* ---- Text */

/* Whether two events are the ends of one span: "NAME.begin" and "NAME.end". */
static bool are_ends(const struct burin_event *begin, const struct burin_event *end)
{
	const size_t bytes = strlen(end->name) - strlen("end");

	return strlen(begin->name) == bytes + strlen("begin") && !strncmp(begin->name, end->name, bytes);
}

/* Return: the line of the span that ends; NULL: it has none. */
static struct span_line *close_line(struct span_lines *lines, const struct burin_record *end)
{
	for (unsigned n = lines->unpushed ? 0 : lines->depth; n; n--)
		if (lines->lines[lines->open[n - 1]].tid == end->tid &&
		    are_ends(lines->lines[lines->open[n - 1]].event, end->event)) {
			lines->depth = n - 1;
			return &lines->lines[lines->open[n - 1]];
		}
	return NULL;
}

static int take_line(void *data, const struct burin_record *record)
{
	struct span_lines *lines = data;
	struct span_line *line = record->event->kind == BURIN_KIND_END ? close_line(lines, record) : NULL;

	if (line) {
		line->end = record->time;
		if (record->event->fields)
			view_line_formatter_message(lines->formatter, record, &line->more);
		return line->more.failed ? -ENOMEM : 0;
	}
	lines->unpushed |= record->event->kind == BURIN_KIND_BEGIN &&
			   (lines->count == SPAN_RECORDS_TEXT || lines->depth == NESTED_MAX);
	if (lines->count == SPAN_RECORDS_TEXT) {
		lines->left++;
		return 0;
	}
	line = &lines->lines[lines->count];
	*line = (struct span_line){
		.event = record->event, .tid = record->tid, .begin = record->time, .depth = lines->depth
	};
	view_line_formatter_message(lines->formatter, record, &line->text);
	if (record->event->kind == BURIN_KIND_BEGIN && lines->depth < NESTED_MAX)
		lines->open[lines->depth++] = lines->count;
	lines->count++;
	return line->text.failed ? -ENOMEM : 0;
}

static void put_line(const struct span_lines *lines, const struct span_line *line, uint64_t begin,
		     struct view_buffer *out)
{
	const struct burin_trace *trace = lines->formatter->lines->trace;
	char at[TEXT_SHORT], time[TEXT_SHORT] = "";

	if (line->end)
		text_duration(time, call_ns(trace, line->end - line->begin));
	view_buffer_print(out, "    %10s  %10s  %*s", text_duration(at, call_ns(trace, line->begin - begin)),
			  time, 2 * (int)line->depth, "");
	view_buffer_add(out, &line->text);
	if (line->more.used) {
		view_buffer_print(out, "; ");
		view_buffer_add(out, &line->more);
	}
	view_buffer_print(out, "\n");
}

int span_records_text(struct view_line_formatter *formatter, const struct span_picked *span,
		      struct view_buffer *out)
{
	struct span_lines lines = { .formatter = formatter };
	int error = each_record(formatter->lines, span, take_line, &lines);
	char count[TEXT_SHORT];

	if (!error && lines.count)
		view_buffer_print(out, "         BEGIN        TIME  RECORD\n");
	for (unsigned n = 0; n < lines.count && !error; n++)
		put_line(&lines, &lines.lines[n], span->begin, out);
	if (!error && lines.left)
		view_buffer_print(out, "    %s more record%s; see --json\n", text_count(count, lines.left),
				  text_plural(lines.left));
	for (unsigned n = 0; n < lines.count; n++) {
		view_buffer_free(&lines.lines[n].text);
		view_buffer_free(&lines.lines[n].more);
	}
	return error;
}

/* ---- JSON */

struct json_records {
	const struct burin_trace *trace;
	struct json *json;
	uint64_t count;
};

static int take_json(void *data, const struct burin_record *record)
{
	struct json_records *records = data;
	struct json *json = records->json;

	if (records->count++ >= SPAN_RECORDS_JSON)
		return 0;
	json_object(json, NULL);
	json_i64(json, "time_ns", burin_trace_ns(records->trace, record->time));
	json_u64(json, "tid", record->tid);
	json_text(json, "event", record->event->name);
	json_object(json, "fields");
	for (unsigned n = 0; n < record->event->fields; n++) {
		json_key(json, burin_event_field(record->event, n)->name);
		view_json_value(json, record, n);
	}
	json_end(json);
	json_end(json);
	return 0;
}

int span_records_json(struct view_line_formatter *formatter, const struct span_picked *span,
		      struct json *json)
{
	struct json_records records = { .trace = formatter->lines->trace, .json = json };
	int error;

	json_array(json, "records");
	error = each_record(formatter->lines, span, take_json, &records);
	json_end(json);
	json_u64(json, "more_records",
		 records.count > SPAN_RECORDS_JSON ? records.count - SPAN_RECORDS_JSON : 0);
	return error;
}
