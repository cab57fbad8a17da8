/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The summary as one JSON object. */
#include <inttypes.h>

#include "read/trace.h"
#include "view/profile.h"
#include "view/summary.h"

static const char *const loss_keys[] = { "full", "busy", "size", "overwritten", "corrupt", "unread" };

static void json_key(struct view_buffer *out, const char *key, const char *value)
{
	view_buffer_print(out, "\"%s\":", key);
	if (value)
		view_buffer_json(out, value);
	else
		view_buffer_print(out, "null");
	view_buffer_print(out, ",");
}

static void json_recording(const struct burin_trace *trace, struct view_buffer *out)
{
	const char *key, *value;

	view_buffer_print(out, "\"recording\":{");
	for (unsigned n = 0; !burin_trace_recording_at(trace, n, &key, &value); n++) {
		if (n)
			view_buffer_print(out, ",");
		view_buffer_json(out, key);
		view_buffer_print(out, ":");
		view_buffer_json(out, value);
	}
	view_buffer_print(out, "},");
}

static void json_events(const struct burin_trace *trace, const struct read_counts *counts,
			struct view_buffer *out)
{
	static const char *const kinds[] = { "event", "begin", "end", "counter" };
	bool first = true;

	view_buffer_print(out, "\"events\":[");
	for (uint32_t id = 1; id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (!event)
			continue;
		view_buffer_print(out, "%s{\"id\":%u,", first ? "" : ",", id);
		first = false;
		json_key(out, "name", event->name);
		json_key(out, "format", event->format);
		json_key(out, "kind", event->kind < 4 ? kinds[event->kind] : "?");
		json_key(out, "file", event->file);
		view_buffer_print(out, "\"line\":%u,\"count\":%" PRIu64 ",\"refused\":%u,\"fields\":[",
				  event->line, counts->events[id], event->refused);
		for (unsigned n = 0; n < event->fields; n++) {
			view_buffer_print(out, "%s", n ? "," : "");
			view_buffer_json(out, burin_event_field(event, n)->name);
		}
		view_buffer_print(out, "]}");
	}
	view_buffer_print(out, "],\"unknown_events\":%" PRIu64 ",", counts->unknown);
}

static void json_threads(const struct burin_trace *trace, const struct read_counts *counts,
			 struct view_buffer *out)
{
	const struct burin_process *process;

	view_buffer_print(out, "\"processes\":[");
	for (size_t n = 0; (process = burin_trace_process_at(trace, n)); n++) {
		view_buffer_print(out, "%s{\"pid\":%u,\"parent\":%u,", n ? "," : "", process->pid,
				  process->parent);
		json_key(out, "exe", process->exe);
		json_key(out, "command", process->command);
		view_buffer_print(out, "\"time_ns\":%" PRId64 "}", burin_trace_ns(trace, process->time));
	}
	view_buffer_print(out, "],\"threads\":[");
	for (size_t n = 0; n < counts->thread_count; n++) {
		const struct read_thread_count *entry = &counts->threads[n];

		view_buffer_print(out, "%s{\"tid\":%u,\"pid\":", n ? "," : "", entry->tid);
		if (entry->thread)
			view_buffer_print(out, "%u,", entry->thread->pid);
		else
			view_buffer_print(out, "null,");
		json_key(out, "name", entry->thread ? entry->thread->name : NULL);
		view_buffer_print(out, "\"count\":%" PRIu64 "}", entry->count);
	}
	view_buffer_print(out, "],");
}

static void json_rings(const struct burin_trace *trace, const struct read_counts *counts,
		       struct view_buffer *out)
{
	view_buffer_print(out, "\"rings\":[");
	for (unsigned n = 0; n < burin_trace_rings(trace); n++) {
		const struct burin_ring *ring = burin_trace_ring(trace, n);

		view_buffer_print(out,
				  "%s{\"name\":\"%s\",\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64
				  ",\"records\":%" PRIu64 ",\"lost\":{",
				  n ? "," : "", ring->name, ring->packets, ring->bytes, counts->rings[n]);
		for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
			view_buffer_print(out, "%s\"%s\":%" PRIu64, cause ? "," : "", loss_keys[cause],
					  ring->lost[cause]);
		view_buffer_print(out, "}}");
	}
	view_buffer_print(out, "],\"lost\":{");
	for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
		view_buffer_print(out, "%s\"%s\":%" PRIu64, cause ? "," : "", loss_keys[cause],
				  burin_trace_lost(trace, cause));
	view_buffer_print(out, "},");
}

static void json_samples(const struct burin_trace *trace, struct view_buffer *out)
{
	struct burin_profile *profile;

	if (burin_profile_open(&profile, trace))
		return;
	view_buffer_print(out, "\"samples\":");
	view_ledger_json(profile, out);
	view_buffer_print(out, ",");
	burin_profile_close(profile);
}

void view_summary_json(const struct burin_trace *trace, const struct read_counts *counts,
		       struct view_buffer *out)
{
	struct burin_skipped skipped;
	uint64_t begin, end;
	bool unfinished;

	view_buffer_print(out, "{");
	json_key(out, "state", view_state(trace, &unfinished));
	json_recording(trace, out);
	view_buffer_print(out, "\"records\":%" PRIu64 ",", counts->records);
	if (!burin_trace_range(trace, &begin, &end))
		view_buffer_print(out, "\"begin_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",",
				  burin_trace_ns(trace, begin), burin_trace_ns(trace, end));
	json_events(trace, counts, out);
	json_threads(trace, counts, out);
	json_rings(trace, counts, out);
	json_samples(trace, out);
	burin_trace_skipped(trace, &skipped);
	view_buffer_print(out,
			  "\"faults\":%" PRIu64 ",\"skipped_packets\":%" PRIu64
			  ",\"skipped_records\":%" PRIu64 "}\n",
			  burin_trace_faults(trace), skipped.packets, skipped.records);
}
