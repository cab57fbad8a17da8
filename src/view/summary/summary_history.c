/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Changes while a trace was recorded, and how long events were off. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/print.h"
#include "base/text.h"
#include "read/trace.h"
#include "view/calls/call_durations.h"
#include "view/summary/summary.h"

enum {
	HISTORY_SHOWN = 40, /* changes in text; JSON has all */
};

static const char *const bold = print_styles[PRINT_BOLD], *const warn = print_styles[PRINT_WARN],
			 *const off = print_styles[PRINT_OFF];

static bool is_state(const struct read_change *change)
{
	return read_change_is(change, WIRE_CHANGE_STATE);
}

/* Counts the events that a change concerns. *name: of the first. */
static unsigned events_of(const struct burin_trace *trace, const struct read_change *change,
			  const char **name)
{
	const char *at = NULL;
	uint32_t first, last;
	unsigned count = 0;

	*name = NULL;
	while (read_change_next(change, &at, &first, &last)) {
		const struct burin_event *event = burin_trace_event(trace, first);

		count += last <= trace->event_count ? last - first + 1 : 0;
		if (!*name && event)
			*name = event->name;
	}
	return count;
}

static void print_count(struct view_buffer *out, unsigned count, const char *first)
{
	char number[TEXT_SHORT];

	if (count == 1 && first)
		view_buffer_escape(out, first);
	else
		view_buffer_print(out, "%s events", text_count(number, count));
}

/* "burin disable -http.* (process 123 of user 0)" */
static void print_author(struct view_buffer *out, const struct read_change *change)
{
	view_buffer_print(out, "%s%s%s%s%s (process %" PRIu32 " of user %" PRIu32 ")", change->program,
			  *change->command ? " " : "", change->command, *change->text ? " " : "",
			  change->text, change->pid, change->uid);
}

static void print_kind(const struct burin_trace *trace, const struct read_change *change,
		       struct view_buffer *out)
{
	static const struct {
		enum wire_change_kind kind;
		const char *text;
	} kinds[] = { { WIRE_CHANGE_ON, " on" },
		      { WIRE_CHANGE_OFF, " off" },
		      { WIRE_CHANGE_FILTER, " filtered, sampled or limited" },
		      { WIRE_CHANGE_PLAIN, " recorded without a filter" },
		      { WIRE_CHANGE_UNFIT, " off: the filter for later events does not apply" } };
	const char *name;
	unsigned count = events_of(trace, change, &name);
	char size[TEXT_SHORT];

	for (unsigned n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		if (!read_change_is(change, kinds[n].kind))
			continue;
		print_count(out, count, name);
		view_buffer_print(out, "%s", kinds[n].text);
		return;
	}
	if (read_change_is(change, WIRE_CHANGE_PAUSE))
		view_buffer_print(out, "tracing paused");
	else if (read_change_is(change, WIRE_CHANGE_RESUME))
		view_buffer_print(out, "tracing resumed");
	else if (read_change_is(change, WIRE_CHANGE_SIZE))
		view_buffer_print(out, "%s for each ring", text_size(size, change->value));
	else if (read_change_is(change, WIRE_CHANGE_CALLS))
		view_buffer_print(out, "calls of %s function%s, and of later ones",
				  text_count(size, change->value), text_plural(change->value));
	else if (read_change_is(change, WIRE_CHANGE_RULE))
		view_buffer_print(out, "for events that are registered later");
	else
		view_buffer_escape(out, change->kind);
}

static void summary_history_print_time(const struct burin_trace *trace, uint64_t time,
				       struct view_buffer *out)
{
	const int64_t ns = burin_trace_ns(trace, time);
	const time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	char when[32] = "?";
	struct tm parts;

	if (localtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "%H:%M:%S", &parts);
	view_buffer_print(out, "%12s.%03u  ", when, (unsigned)((ns - seconds * 1000000000) / 1000000));
}

void view_history_text(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	const struct read_history *history = &trace->history;
	char number[TEXT_SHORT];
	unsigned changes = 0;

	for (size_t n = 0; n < history->count; n++) {
		const struct read_change *change = &history->changes[n];

		if (is_state(change) || ++changes > HISTORY_SHOWN)
			continue;
		if (changes == 1)
			view_buffer_print(out, "\n%sHistory%s\n", color ? bold : "", color ? off : "");
		summary_history_print_time(trace, change->time, out);
		print_kind(trace, change, out);
		view_buffer_print(out, ": ");
		print_author(out, change);
		view_buffer_print(out, "\n");
	}
	if (changes > HISTORY_SHOWN)
		view_buffer_print(out, "%16s  and %s more changes; see --json\n", "",
				  text_count(number, changes - HISTORY_SHOWN));
}

static void summary_history_print_off(const struct burin_trace *trace, const struct read_off *entry,
				      uint64_t span, bool color, struct view_buffer *out)
{
	const struct burin_event *event = entry->event ? burin_trace_event(trace, entry->event) : NULL;
	const struct read_change *change = entry->off ? entry->off : entry->on;
	char time[TEXT_SHORT], all[TEXT_SHORT];

	view_buffer_print(out, "%s", color ? warn : "");
	if (entry->event)
		print_count(out, entry->count, event ? event->name : NULL);
	else
		view_buffer_print(out, "tracing");
	view_buffer_print(out, " %s %s for %s of %s%s", entry->count == 1 || !entry->event ? "was" : "were",
			  entry->event ? "off" : "paused", text_duration(time, call_ns(trace, entry->ticks)),
			  text_duration(all, call_ns(trace, span)), color ? off : "");
	if (!change || is_state(change)) {
		view_buffer_print(out, "\n");
		return;
	}
	view_buffer_print(out, entry->off ? ": " : ", until ");
	print_author(out, change);
	view_buffer_print(out, "\n");
}

void view_off_text(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	const uint64_t dropped = read_history_dropped(trace);
	struct read_off *offs;
	char number[TEXT_SHORT];
	uint64_t span;
	ssize_t count = read_history_off(trace, &offs, &span);

	for (ssize_t n = 0; n < count; n++)
		summary_history_print_off(trace, &offs[n], span, color, out);
	if (dropped)
		view_buffer_print(out, "%s%s changes are unknown%s; more events may have been off\n",
				  color ? warn : "", text_count(number, dropped), color ? off : "");
	free(offs);
}

static void json_change(const struct burin_trace *trace, const struct read_change *change, struct json *json)
{
	json_object(json, NULL);
	json_u64(json, "number", change->number);
	json_i64(json, "time_ns", burin_trace_ns(trace, change->time));
	json_u64(json, "pid", change->pid);
	json_u64(json, "uid", change->uid);
	json_text(json, "kind", change->kind);
	if (is_state(change))
		json_bool(json, "paused", change->value);
	if (!strcmp(change->kind, "size"))
		json_u64(json, "ring_bytes", change->value);
	if (read_change_is(change, WIRE_CHANGE_CALLS))
		json_u64(json, "functions", change->value);
	json_text(json, "program", change->program);
	json_text(json, "command", change->command);
	json_text(json, "text", change->text);
	json_text(json, "events", change->events);
	json_end(json);
}

void view_history_json(const struct burin_trace *trace, struct json *json)
{
	struct read_off *offs;
	uint64_t span;
	ssize_t count = read_history_off(trace, &offs, &span);

	json_array(json, "history");
	for (size_t n = 0; n < trace->history.count; n++)
		json_change(trace, &trace->history.changes[n], json);
	json_end(json);
	json_u64(json, "history_dropped", read_history_dropped(trace));
	json_array(json, "off");
	for (ssize_t n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(trace, offs[n].event);

		json_object(json, NULL);
		json_u64(json, "events", offs[n].event ? offs[n].count : 0);
		json_u64(json, "off_ns", call_ns(trace, offs[n].ticks));
		json_u64(json, "span_ns", call_ns(trace, span));
		json_text(json, "first", event ? event->name : "");
		if (offs[n].off)
			json_u64(json, "by", offs[n].off->number);
		json_end(json);
	}
	json_end(json);
	free(offs);
}
