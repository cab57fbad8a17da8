/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of JSON, one object each; docs/json.md has its members:
 *
 *	{"time_ns":1700000000000000000,"cpu":0,"pid":1,"tid":2,"thread":"x","event":"net.rx","fields":{"len":5}}
 */
#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/json.h"
#include "view/records/call_values_text.h"
#include "view/records/field_json.h"
#include "view/records/line.h"
#include "view/records/sample_text.h"

enum {
	THREAD_BYTES_MAX = 32,
};

int view_json_prepare(struct view_event *event, const struct burin_event *of)
{
	struct view_buffer out = { .used = 0 };
	struct json json;

	event->keys = calloc(of->fields ? of->fields : 1, sizeof(*event->keys));
	json_begin_object(&json, &out, 0);
	json_text(&json, "event", of->name);
	json_key(&json, "fields");
	event->name_bytes = (uint32_t)(json.at - out.bytes);
	json_object(&json, NULL);
	for (unsigned n = 0; event->keys && n < of->fields; n++) {
		event->keys[n].at = (uint32_t)(json.at - out.bytes);
		json_key(&json, burin_event_field(of, n)->name);
		event->keys[n].bytes = (uint32_t)(json.at - out.bytes) - event->keys[n].at;
		json_null(&json, NULL);
	}
	event->name = out.bytes;
	return event->keys && !out.failed ? 0 : -ENOMEM;
}

size_t view_json_label(char *text, const struct burin_thread *thread, uint32_t tid)
{
	struct view_buffer out = { .bytes = text, .room = VIEW_LABEL_BYTES }; /* it never has to grow */
	struct json json;

	json_begin_object(&json, &out, 0);
	if (thread)
		json_u64(&json, "pid", thread->pid);
	else
		json_null(&json, "pid");
	json_u64(&json, "tid", tid);
	if (thread)
		json_bytes(&json, "thread", thread->name, strnlen(thread->name, THREAD_BYTES_MAX));
	else
		json_null(&json, "thread");
	return (size_t)(json.at - text);
}

void view_json_render(const struct view_lines *lines, const struct view_event *event,
		      const struct view_thread_label *label, const struct burin_record *record,
		      struct view_buffer *out)
{
	struct burin_sample sample;
	struct burin_call call;
	struct burin_call_values values;
	struct json json;
	uint64_t correlation;
	uint32_t depth;
	bool is_call;

	json_begin_object(&json, out, 0);
	json_literal_key(&json, "time_ns");
	json_i64(&json, NULL, burin_trace_ns(lines->trace, record->time));
	json_literal_key(&json, "cpu");
	if (record->cpu == UINT32_MAX)
		json_null(&json, NULL);
	else
		json_u64(&json, NULL, record->cpu);
	json_copy(&json, label->text + 1, label->bytes - 1);
	if (record->context && burin_record_correlation(record, &correlation) == 0)
		json_u64(&json, "correlation", correlation);
	if (record->context && burin_record_depth(record, &depth) == 0)
		json_u64(&json, "depth", depth);
	json_copy(&json, event->name + 1, event->name_bytes - 1);
	json_object(&json, NULL);
	is_call = lines->calls.calls && !burin_calls_call(lines->calls.calls, record, &call);
	if (is_call)
		view_call_json(&lines->calls, lines->trace, &call, &json);
	if (is_call && view_values_find(lines->calls.calls, record, &values))
		view_values_json(record, &values, &json);
	for (unsigned n = 0; !is_call && n < record->event->fields; n++) {
		json_copy(&json, event->name + event->keys[n].at, event->keys[n].bytes);
		view_json_value(&json, record, n);
	}
	json_end(&json);
	if (lines->profile && !burin_profile_sample(lines->profile, record, &sample))
		view_sample_json(lines->profile, &sample, lines->style.stacks, &json);
	json_end(&json);
}
