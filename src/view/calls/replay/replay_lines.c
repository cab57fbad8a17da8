/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lines of a replay:
 *
 *	  0.000000123 31353/31353 indexer    1.234 us  main() {
 *	  0.000000298 31353/31353 indexer      120 ns    leaf();
 *	  0.000000357 31353/31353 indexer    1.234 us  } main()
 */
#include "base/number.h"
#include "view/calls/replay/replay_parts.h"
#include "view/json.h"

enum {
	INDENT_MAX = 64, /* levels; deeper ones have their number instead */
	LINE_BYTES = VIEW_TIME + VIEW_LABEL_BYTES + VIEW_DURATION + 2 * INDENT_MAX + 64,
};

static const char color_name[] = "\033[1;36m", color_dim[] = "\033[2m", color_off[] = "\033[0m";

/* Time and thread. */
static char *put_prefix(const struct replay_line *line, bool color, bool timed, char *at)
{
	const struct view_thread_label *label = view_line_formatter_label(line->formatter, line->record);
	char *begin;

	if (color)
		at = view_put_text(at, color_dim);
	begin = at;
	at = view_line_formatter_time(line->formatter, line->record->time, at);
	if (!timed)
		memset(begin, ' ', (size_t)(at - begin));
	if (color)
		at = view_put_text(at, color_off);
	return view_put(at, label->text, label->bytes);
}

static char *put_indent(char *at, unsigned level)
{
	if (level > INDENT_MAX) {
		char *begin = at;

		memset(at, ' ', 2 * INDENT_MAX);
		*at++ = '[';
		at = number_decimal(at, level);
		*at++ = ']';
		return at - begin > 2 * INDENT_MAX ? at : begin + 2 * INDENT_MAX;
	}
	memset(at, ' ', 2 * (size_t)level);
	return at + 2 * (size_t)level;
}

static uint64_t call_ns(const struct replay_job *job, const struct replay_call *call)
{
	return (uint64_t)(burin_trace_ns(job->trace, call->end) - burin_trace_ns(job->trace, call->begin));
}

static void replay_lines_print_json(const struct replay_job *job, const struct replay_line *line,
				    struct view_buffer *out)
{
	const struct view_thread_label *label = view_line_formatter_label(line->formatter, line->record);
	const struct replay_call *call = line->call;
	const struct view_function *function = view_function_of(&job->lines.calls, call->function);
	struct json json;

	json_begin_object(&json, out, 0);
	json_literal_key(&json, "time_ns");
	json_i64(&json, NULL, burin_trace_ns(job->trace, line->record->time));
	json_copy(&json, label->text + 1, label->bytes - 1);
	json_text(&json, "function", function->name);
	json_text(&json, "image", function->image);
	json_u64(&json, "depth", call->depth);
	if (call->flags & REPLAY_OPEN)
		json_null(&json, "duration_ns");
	else
		json_u64(&json, "duration_ns", call_ns(job, call));
	if (call->values)
		json_copy(&json, call->values + 1, strlen(call->values + 1));
	json_end(&json);
}

void replay_line_call(const struct replay_job *job, const struct replay_line *line, enum replay_form form,
		      struct view_buffer *out)
{
	const struct view_function *function = view_function_of(&job->lines.calls, line->call->function);
	const char *arguments = "", *result;
	size_t argument_bytes, result_bytes;
	const bool color = job->replay->style.color;
	char *at;

	if (job->replay->style.json) {
		if (form == REPLAY_BEGIN || form == REPLAY_LEAF)
			replay_lines_print_json(job, line, out);
		return;
	}
	if (line->call->values)
		arguments = line->call->values;
	argument_bytes = strcspn(arguments, "\n");
	result = arguments + argument_bytes + (*arguments != 0);
	result_bytes = strlen(result);
	at = view_buffer_reserve(out, LINE_BYTES + function->text_bytes + argument_bytes + result_bytes);
	if (!at)
		return;
	at = put_prefix(line, color, form != REPLAY_ABOVE, at);
	if (form == REPLAY_ABOVE)
		at = view_put_text(at, "          ");
	else if (line->call->flags & REPLAY_OPEN)
		at = view_put_text(at, "      open");
	else
		at = view_put_duration(at, call_ns(job, line->call));
	at = view_put_text(at, "  ");
	at = put_indent(at, line->level);
	if (form == REPLAY_END)
		at = view_put_text(view_put(view_put_text(at, "}"), result, result_bytes), " /* ");
	if (form == REPLAY_ABOVE)
		at = view_put_text(at, "/* ");
	if (color && form < REPLAY_END)
		at = view_put_text(at, color_name);
	at = view_put(at, function->text,
		      *arguments && form < REPLAY_END ? function->bare_bytes : function->text_bytes);
	if (color && form < REPLAY_END)
		at = view_put_text(at, color_off);
	if (form < REPLAY_END)
		at = view_put(at, arguments, argument_bytes);
	if (form == REPLAY_LEAF)
		at = view_put(at, result, result_bytes);
	if (form == REPLAY_BEGIN)
		at = view_put_text(at, " {\n");
	else if (form == REPLAY_LEAF)
		at = view_put_text(at, ";\n");
	else
		at = view_put_text(at, " */\n");
	view_buffer_commit(out, at);
}

/*
 * An event is rendered while its record can be read, and printed later, when it is known how deep it is: the bytes of its
 * prefix come first.
 */
void replay_line_event(const struct replay_job *job, const struct replay_line *line, struct view_buffer *out)
{
	const size_t begin = out->used;
	uint32_t prefix;
	char *at = view_buffer_reserve(out, sizeof(prefix) + LINE_BYTES);

	if (!at)
		return;
	at = put_prefix(line, job->replay->style.color, true, at + sizeof(prefix));
	at = view_put_text(at, "            ");
	prefix = (uint32_t)(at - out->bytes - begin - sizeof(prefix));
	memcpy(out->bytes + begin, &prefix, sizeof(prefix));
	view_buffer_commit(out, at);
	view_line_formatter_message(line->formatter, line->record, out);
	view_buffer_put(out, "\n", 1);
}

void replay_line_indent(const char *text, size_t bytes, unsigned level, struct view_buffer *out)
{
	char *at = view_buffer_reserve(out, bytes + LINE_BYTES);
	const uint32_t prefix = number_load32(text);

	if (!at)
		return;
	text += sizeof(prefix);
	bytes -= sizeof(prefix);
	at = view_put(at, text, prefix);
	at = put_indent(at, level);
	view_buffer_commit(out, view_put(at, text + prefix, bytes - prefix));
}
