/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of text:
 *
 *	  0.000123456 [000]  1234/1235  worker       net.rx       len=5 proto=tcp
 *
 * Widths are computed once, from the whole trace, so that columns are aligned from the first line on.
 */
#include "view/records/line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "read/trace.h"
#include "view/records/sample_text.h"

enum {
	THREAD_COLUMNS_MAX = 16,
	NAME_COLUMNS_MAX = 32,
	PREFIX_BYTES = 192, /* of time, CPU and context, at most */
	NS_PER_S = 1000000000,
};

static const char color_name[] = "\033[1;36m", color_dim[] = "\033[2m", color_off[] = "\033[0m";

static unsigned line_digits_of(uint64_t value)
{
	char text[NUMBER_DIGITS_MAX];

	return (unsigned)(number_decimal(text, value) - text);
}

static void measure_name(struct view_lines *lines, const char *text)
{
	char name[4 * THREAD_COLUMNS_MAX + 1];
	size_t columns = text_columns(text_escape_line(name, sizeof(name), text));

	if (columns > lines->thread_columns)
		lines->thread_columns = (unsigned)columns;
}

void view_lines_begin(struct view_lines *lines, uint64_t ticks)
{
	uint64_t begin, end;

	burin_trace_range(lines->trace, &begin, &end);
	lines->begin_ns = burin_trace_ns(lines->trace, ticks);
	lines->second_digits =
		line_digits_of((uint64_t)(burin_trace_ns(lines->trace, end) - lines->begin_ns) / NS_PER_S);
	if (lines->second_digits < 3)
		lines->second_digits = 3;
}

static void line_measure(struct view_lines *lines)
{
	const struct burin_trace *trace = lines->trace;
	const struct burin_thread *thread;
	const struct burin_task *task;
	uint32_t pid = 0, tid = 0, cpu = 0;
	uint64_t begin, end;

	burin_trace_range(trace, &begin, &end);
	view_lines_begin(lines, begin);
	for (size_t n = 0; (thread = burin_trace_thread_at(trace, n)); n++) {
		pid = thread->pid > pid ? thread->pid : pid;
		tid = thread->tid > tid ? thread->tid : tid;
		measure_name(lines, thread->name);
	}
	for (uint32_t n = 1; lines->profile && n <= burin_profile_tasks(lines->profile); n++) {
		task = burin_profile_task(lines->profile, n);
		if (!task)
			continue;
		pid = task->pid > pid ? task->pid : pid;
		tid = task->tid > tid ? task->tid : tid;
		measure_name(lines, task->name);
	}
	if (lines->thread_columns > THREAD_COLUMNS_MAX)
		lines->thread_columns = THREAD_COLUMNS_MAX;
	for (unsigned n = 0; n < burin_trace_rings(trace); n++)
		if (burin_trace_ring(trace, n)->cpu > cpu)
			cpu = burin_trace_ring(trace, n)->cpu;
	lines->pid_digits = line_digits_of(pid);
	lines->tid_digits = line_digits_of(tid);
	lines->cpu_digits = line_digits_of(cpu) < 3 ? 3 : line_digits_of(cpu);
}

/* The event's name as its lines print it. */
static int prepare_text(const struct view_lines *lines, struct view_event *event, const char *name,
			unsigned columns)
{
	event->name = malloc(strlen(name) + columns + sizeof(color_name) + sizeof(color_off) + 2);
	if (!event->name)
		return -ENOMEM;
	event->name_bytes = (uint32_t)sprintf(event->name, "%s%s%s%*s ", lines->style.color ? color_name : "",
					      name, lines->style.color ? color_off : "",
					      columns > strlen(name) ? (int)(columns - strlen(name)) : 0, "");
	return 0;
}

static const struct burin_event *event_at(const struct view_lines *lines, unsigned n)
{
	const struct read_event *event;

	if (n < lines->event_count)
		return burin_trace_event(lines->trace, n + 1);
	event = read_event_find(lines->trace, WIRE_STREAM_NAMES, n - lines->event_count + 1);
	return event ? &event->open : NULL;
}

int view_lines_make(struct view_lines *lines, const struct burin_trace *trace, const struct view_style *style)
{
	unsigned columns = 0;
	int result = 0;

	*lines = (struct view_lines){ .trace = trace,
				      .style = *style,
				      .event_count = burin_trace_events(trace) };
	result = burin_profile_open(&lines->profile, trace);
	if (result == -ENOMEM)
		return result;
	result = view_call_names_make(&lines->calls, trace);
	if (result) {
		view_lines_free(lines);
		return result;
	}
	line_measure(lines);
	lines->events = calloc(lines->event_count + READ_NAME_EVENTS, sizeof(*lines->events));
	if (!lines->events)
		result = -ENOMEM;
	for (unsigned n = 0; n < lines->event_count && !result; n++) {
		const struct burin_event *event = event_at(lines, n);

		if (event && strlen(event->name) > columns)
			columns = (unsigned)strlen(event->name);
	}
	if (columns > NAME_COLUMNS_MAX)
		columns = NAME_COLUMNS_MAX;
	for (unsigned n = 0; n < lines->event_count + READ_NAME_EVENTS && !result; n++) {
		const struct burin_event *event = event_at(lines, n);

		if (!event)
			continue;
		if (style->json) {
			result = view_json_prepare(&lines->events[n], event);
		} else {
			result = prepare_text(lines, &lines->events[n], event->name, columns);
			if (!result)
				result = view_format_program_compile(&lines->events[n].program, event);
		}
	}
	if (result)
		view_lines_free(lines);
	return result;
}

void view_lines_free(struct view_lines *lines)
{
	for (unsigned n = 0; lines->events && n < lines->event_count + READ_NAME_EVENTS; n++) {
		view_format_program_free(&lines->events[n].program);
		free(lines->events[n].name);
		free(lines->events[n].keys);
	}
	free(lines->events);
	lines->events = NULL;
	burin_profile_close(lines->profile);
	lines->profile = NULL;
	view_call_names_free(&lines->calls);
}

static size_t label_text(const struct view_lines *lines, char *out, const struct burin_thread *thread,
			 uint32_t tid)
{
	char name[4 * THREAD_COLUMNS_MAX + 1] = "", pid[16] = "?";
	int missing;

	if (thread) {
		snprintf(pid, sizeof(pid), "%u", thread->pid);
		text_escape_line(name, sizeof(name), thread->name);
	}
	missing = (int)lines->thread_columns - (int)text_columns(name);
	return (size_t)snprintf(out, VIEW_LABEL_BYTES, " %*s/%-*u %s%*s ", (int)lines->pid_digits, pid,
				(int)lines->tid_digits, tid, name, missing > 0 ? missing : 0, "");
}

static void line_set_label(const struct view_lines *lines, struct view_thread_label *label,
			   const struct burin_thread *thread, uint32_t tid)
{
	label->used = true;
	label->tid = tid;
	label->has_pid = thread;
	label->pid = thread ? thread->pid : 0;
	if (lines->style.json)
		label->bytes = (uint32_t)view_json_label(label->text, thread, tid);
	else
		label->bytes = (uint32_t)label_text(lines, label->text, thread, tid);
}

/* The thread of a sample, by its task: the thread need not have announced itself. */
static const struct view_thread_label *sampled_label(struct view_line_formatter *formatter,
						     const struct burin_record *record, uint32_t number)
{
	struct view_thread_label *label = &formatter->labels[number & (VIEW_THREAD_LABELS - 1)];
	const struct burin_task *task = burin_profile_task(formatter->lines->profile, number);
	const struct burin_thread thread = { .tid = record->tid,
					     .pid = task ? task->pid : 0,
					     .name = task ? task->name : "" };

	if (label->used && label->task == number && number && label->tid == record->tid)
		return label;
	label->task = number;
	line_set_label(formatter->lines, label, task ? &thread : NULL, record->tid);
	return label;
}

const struct view_thread_label *view_line_formatter_label(struct view_line_formatter *formatter,
							  const struct burin_record *record)
{
	const struct view_lines *lines = formatter->lines;
	const uint32_t tid = record->tid;
	struct view_thread_label *label = &formatter->labels[tid & (VIEW_THREAD_LABELS - 1)];
	struct burin_sample sample;

	if (__builtin_expect(lines->profile != NULL, 0) &&
	    !burin_profile_sample(lines->profile, record, &sample))
		return sampled_label(formatter, record, sample.task);
	if (__builtin_expect(label->used && !label->task && label->tid == tid &&
				     record->time >= label->from && record->time <= label->until,
			     1))
		return label;
	label->task = 0;
	line_set_label(lines, label,
		       read_thread_find(lines->trace, tid, record->time, &label->from, &label->until), tid);
	return label;
}

char *view_absolute(char *out, int64_t second, uint32_t ns)
{
	time_t when = (time_t)second;
	struct tm parts;

	if (localtime_r(&when, &parts))
		out += strftime(out, VIEW_ABSOLUTE, "%Y-%m-%d %H:%M:%S.", &parts);
	else
		out += snprintf(out, VIEW_ABSOLUTE, "@%lld.", (long long)second);
	return number_nano(out, ns);
}

static void set_second(struct view_line_formatter *formatter, int64_t second)
{
	formatter->second = second;
	formatter->has_second = true;
	formatter->second_bytes =
		(uint32_t)(view_absolute(formatter->second_text, second, 0) - formatter->second_text) -
		VIEW_NANO_DIGITS;
}

char *view_line_formatter_time(struct view_line_formatter *formatter, uint64_t time, char *out)
{
	int64_t ns = burin_trace_ns(formatter->lines->trace, time), second;
	char digits[NUMBER_DIGITS_MAX];
	uint64_t since, seconds;
	size_t count;
	bool before;

	if (formatter->lines->style.absolute) {
		second = ns / NS_PER_S - (ns % NS_PER_S < 0);
		if (!formatter->has_second || second != formatter->second)
			set_second(formatter, second);
		memcpy(out, formatter->second_text, formatter->second_bytes);
		return number_nano(out + formatter->second_bytes, (uint32_t)(ns - second * NS_PER_S));
	}
	/* Announcements and begins of calls may precede the first record. */
	before = ns < formatter->lines->begin_ns;
	since = before ? (uint64_t)(formatter->lines->begin_ns - ns)
		       : (uint64_t)(ns - formatter->lines->begin_ns);
	seconds = since / NS_PER_S;
	count = (size_t)(number_decimal(digits, seconds) - digits) + before;
	for (; count < formatter->lines->second_digits; count++)
		*out++ = ' ';
	if (before)
		*out++ = '-';
	out = number_decimal(out, seconds);
	*out++ = '.';
	return number_nano(out, (uint32_t)(since % NS_PER_S));
}

static char *render_cpu(const struct view_lines *lines, const struct burin_record *record, char *out)
{
	uint32_t cpu = record->cpu, digits = lines->cpu_digits;
	char text[NUMBER_DIGITS_MAX];
	size_t count;

	*out++ = ' ';
	*out++ = '[';
	if (cpu == UINT32_MAX) {
		memset(out, '-', digits);
		out += digits;
	} else {
		count = (size_t)(number_decimal(text, cpu) - text);
		for (; count < digits; count++)
			*out++ = '0';
		out = number_decimal(out, cpu);
	}
	*out++ = ']';
	return out;
}

/* "{correlation=42 depth=1} " */
static char *render_context(const struct burin_record *record, char *out)
{
	uint64_t correlation;
	uint32_t depth;

	if (!record->context)
		return out;
	*out++ = '{';
	if (burin_record_correlation(record, &correlation) == 0)
		out = number_decimal(view_put_text(out, "correlation="), correlation);
	if (record->context == (BURIN_CONTEXT_CORRELATION | BURIN_CONTEXT_DEPTH))
		*out++ = ' ';
	if (burin_record_depth(record, &depth) == 0)
		out = number_decimal(view_put_text(out, "depth="), depth);
	return view_put_text(out, "} ");
}

/* The thread that a waker wakes. */
static void print_woken(const struct burin_record *record, struct view_buffer *out)
{
	/* Other samples have fewer fields; there are many. */
	const int field = burin_event_field(record->event, 2) ? burin_event_find(record->event, "woken") : -1;
	int64_t tid;

	if (field >= 0 && burin_record_i64(record, (unsigned)field, &tid) == 0)
		view_buffer_print(out, "wakes %" PRId64 ": ", tid);
}

/* What is not made of fields: a sample's function, and a call. */
static bool render_special(const struct view_lines *lines, const struct burin_record *record,
			   struct view_buffer *out)
{
	struct burin_sample sample;
	struct burin_call call;

	if (lines->profile && !burin_profile_sample(lines->profile, record, &sample)) {
		print_woken(record, out);
		view_sample_text(lines->profile, &sample, lines->style.stacks, out);
		return true;
	}
	if (!lines->calls.calls || burin_calls_call(lines->calls.calls, record, &call))
		return false;
	view_call_text(&lines->calls, lines->trace, &call, record, out);
	return true;
}

static size_t fields_bound(const struct view_event *event, const struct burin_record *record)
{
	return event->program.bound + event->program.per_byte * (size_t)record->payload_bytes;
}

static void line_render_text(struct view_line_formatter *formatter, const struct view_event *event,
			     const struct view_thread_label *label, const struct burin_record *record,
			     struct view_buffer *out)
{
	bool color = formatter->lines->style.color;
	char *at = view_buffer_reserve(out, PREFIX_BYTES + VIEW_LABEL_BYTES + event->name_bytes +
						    fields_bound(event, record));

	if (!at)
		return;
	if (color)
		at = view_put_text(at, color_dim);
	at = view_line_formatter_time(formatter, record->time, at);
	at = render_cpu(formatter->lines, record, at);
	if (color)
		at = view_put_text(at, color_off);
	at = view_put(at, label->text, label->bytes);
	at = view_put(at, event->name, event->name_bytes);
	at = render_context(record, at);
	view_buffer_commit(out, at);
	if (render_special(formatter->lines, record, out)) {
		view_buffer_print(out, "\n");
		return;
	}
	at = view_format_program_render(&event->program, record, at);
	while (at[-1] == ' ')
		at--;
	*at++ = '\n';
	view_buffer_commit(out, at);
}

static const struct view_event *line_event_of(const struct view_lines *lines,
					      const struct burin_record *record)
{
	return &lines->events[record->event->id - 1 + (record->ring == UINT32_MAX ? lines->event_count : 0)];
}

void view_line_formatter_message(struct view_line_formatter *formatter, const struct burin_record *record,
				 struct view_buffer *out)
{
	const struct view_event *event = line_event_of(formatter->lines, record);
	const size_t name = strlen(record->event->name);
	char *at = view_buffer_reserve(out, PREFIX_BYTES + name + fields_bound(event, record));

	if (!at)
		return;
	at = view_put(at, record->event->name, name);
	*at++ = ' ';
	at = render_context(record, at);
	view_buffer_commit(out, at);
	if (render_special(formatter->lines, record, out))
		return;
	at = view_format_program_render(&event->program, record, at);
	while (at[-1] == ' ')
		at--;
	view_buffer_commit(out, at);
}

void view_line_formatter_render(struct view_line_formatter *formatter, const struct burin_record *record,
				struct view_buffer *out)
{
	const struct view_lines *lines = formatter->lines;
	const struct view_event *event = line_event_of(lines, record);
	const struct view_thread_label *label = view_line_formatter_label(formatter, record);

	if (lines->style.json)
		view_json_render(lines, event, label, record, out);
	else
		line_render_text(formatter, event, label, record, out);
}
