/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The summary as one JSON object; docs/json.md has its members. */
#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/losses.h"
#include "view/profile/profile_view.h"
#include "view/summary/summary.h"
#include "wire/wire_terms.h"

static bool summary_json_is_number(const char *key)
{
	static const char *const numbers[] = {
		"clock_hz", "clock_offset_ns", "packet_bytes", "ring_packets",	  "cpus",
		"locked",   "lost_late",       "lost_names",   "lost_unreported", "clock_steps"
	};

	for (unsigned n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		if (!strcmp(key, numbers[n]))
			return true;
	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++)
		if (!strcmp(key, wire_call_terms[cause].key))
			return true;
	return false;
}

/* A file of text, where numbers may be anything: null. */
static void json_recording(const struct burin_trace *trace, struct json *json)
{
	const char *key, *value;
	char *end;

	json_object(json, "recording");
	for (unsigned n = 0; !burin_trace_recording_at(trace, n, &key, &value); n++) {
		if (burin_trace_recording(trace, key) != value) /* it is there twice */
			continue;
		if (!summary_json_is_number(key))
			json_text(json, key, value);
		else if (strtoll(value, &end, 10), end != value && !*end)
			json_i64(json, key, strtoll(value, NULL, 10));
		else
			json_null(json, key);
	}
	json_end(json);
}

/* The numbers of the chunks; null: the trace is not split. */
static void json_chunks(const struct burin_trace *trace, struct json *json)
{
	const unsigned count = burin_trace_chunks(trace);

	if (!count) {
		json_null(json, "chunks");
		return;
	}
	json_array(json, "chunks");
	for (unsigned n = 0; n < count; n++)
		json_u64(json, NULL, burin_trace_chunk(trace, n));
	json_end(json);
}

static void json_refused(const struct burin_trace *trace, struct json *json)
{
	struct read_refusal refusal;
	const char *at = NULL;

	json_array(json, "refused");
	while (read_refusal_next(trace, &at, &refusal)) {
		json_object(json, NULL);
		json_text(json, "name", refusal.name);
		json_text(json, "file", refusal.file);
		json_text(json, "why", refusal.why);
		json_u64(json, "line", refusal.line);
		json_u64(json, "times", refusal.times);
		json_end(json);
	}
	json_end(json);
}

void view_field_json(struct json *json, const char *name, unsigned type)
{
	json_object(json, NULL);
	json_text(json, "name", name);
	json_text(json, "type", wire_type_keys[type]);
	json_end(json);
}

static void json_events(const struct burin_trace *trace, const struct read_counts *counts, struct json *json)
{
	json_array(json, "events");
	for (uint32_t id = 1; id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (!event)
			continue;
		json_object(json, NULL);
		json_u64(json, "id", id);
		json_text(json, "name", event->name);
		json_text(json, "format", event->format);
		json_text(json, "kind", wire_kind_keys[event->kind]);
		json_text(json, "file", event->file);
		json_u64(json, "line", event->line);
		json_u64(json, "count", counts->events[id]);
		json_u64(json, "refused", event->refused);
		json_array(json, "fields");
		for (unsigned n = 0; n < event->fields; n++)
			view_field_json(json, burin_event_field(event, n)->name,
					burin_event_field(event, n)->type);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_refused(trace, json);
	json_u64(json, "unknown_events", counts->unknown);
}

static void json_threads(const struct burin_trace *trace, const struct read_counts *counts, struct json *json)
{
	const struct burin_process *process;

	json_array(json, "processes");
	for (size_t n = 0; (process = burin_trace_process_at(trace, n)); n++) {
		json_object(json, NULL);
		json_u64(json, "pid", process->pid);
		json_u64(json, "parent", process->parent);
		json_text(json, "exe", process->exe);
		json_text(json, "command", process->command);
		json_i64(json, "time_ns", burin_trace_ns(trace, process->time));
		json_end(json);
	}
	json_end(json);
	json_array(json, "threads");
	for (size_t n = 0; n < counts->thread_count; n++) {
		const struct read_thread_count *entry = &counts->threads[n];

		json_object(json, NULL);
		json_u64(json, "tid", entry->tid);
		if (entry->thread)
			json_u64(json, "pid", entry->thread->pid);
		else
			json_null(json, "pid");
		json_text(json, "name", entry->thread ? entry->thread->name : NULL);
		json_u64(json, "count", entry->count);
		json_end(json);
	}
	json_end(json);
}

static void json_rings(const struct burin_trace *trace, const struct read_counts *counts, struct json *json)
{
	json_array(json, "rings");
	for (unsigned n = 0; n < burin_trace_rings(trace); n++) {
		const struct burin_ring *ring = burin_trace_ring(trace, n);

		json_object(json, NULL);
		json_text(json, "name", ring->name);
		json_u64(json, "packets", ring->packets);
		json_u64(json, "size_bytes", ring->bytes);
		json_u64(json, "records", counts->rings[n]);
		json_object(json, "lost");
		for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
			json_u64(json, wire_loss_terms[cause].key, ring->lost[cause]);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_object(json, "lost");
	for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
		json_u64(json, wire_loss_terms[cause].key, burin_trace_lost(trace, cause));
	json_end(json);
}

static void json_samples(const struct burin_trace *trace, struct json *json)
{
	struct burin_profile *profile;

	json->out->failed |= burin_profile_open(&profile, trace) == -ENOMEM;
	if (!profile)
		return;
	view_ledger_json(profile, json, "samples");
	burin_profile_close(profile);
}

static void json_calls(const struct burin_trace *trace, const struct read_counts *counts, struct json *json)
{
	struct view_calls_sum sum;
	const int result = view_calls_sum(trace, counts, &sum);

	json->out->failed |= result == -ENOMEM;
	if (result)
		return;
	json_object(json, "calls");
	json_u64(json, "recorded", sum.calls);
	json_u64(json, "functions", sum.functions);
	json_u64(json, "open", sum.open);
	json_u64(json, "counted", sum.counted);
	json_object(json, "lost");
	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++)
		json_u64(json, wire_call_terms[cause].key, view_recorded(trace, wire_call_terms[cause].key));
	json_end(json);
	json_end(json);
}

void view_summary_json(const struct burin_trace *trace, const struct read_counts *counts,
		       struct view_buffer *out)
{
	struct burin_skipped skipped;
	uint64_t begin, end;
	bool unfinished;
	struct json json;

	json_begin_object(&json, out, 2);
	json_text(&json, "state", view_state(trace, &unfinished));
	json_recording(trace, &json);
	json_chunks(trace, &json);
	json_u64(&json, "records", counts->records);
	if (!burin_trace_range(trace, &begin, &end)) {
		json_i64(&json, "begin_ns", burin_trace_ns(trace, begin));
		json_i64(&json, "end_ns", burin_trace_ns(trace, end));
	}
	json_events(trace, counts, &json);
	json_threads(trace, counts, &json);
	json_rings(trace, counts, &json);
	json_samples(trace, &json);
	json_calls(trace, counts, &json);
	view_history_json(trace, &json);
	burin_trace_skipped(trace, &skipped);
	json_u64(&json, "faults", burin_trace_faults(trace));
	json_u64(&json, "skipped_packets", skipped.packets);
	json_u64(&json, "skipped_records", skipped.records);
	json_end(&json);
}
