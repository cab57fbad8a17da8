/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of JSON, one object each; docs/json.md has its members:
 *
 *	{"time_ns":1700000000000000000,"cpu":0,"pid":1,"tid":2,"thread":"x","event":"net.rx","fields":{"len":5}}
 */
#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "read/trace.h"
#include "view/json.h"
#include "view/records/call_values_text.h"
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
	json_begin(&json, &out, 0);
	json_object(&json, NULL);
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

	json_begin(&json, &out, 0);
	json_object(&json, NULL);
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

static void render_string(struct json *json, const char *text, size_t bytes)
{
	if (bytes == sizeof(WIRE_NULL) - 1 && !memcmp(text, WIRE_NULL, bytes))
		json_null(json, NULL);
	else
		json_bytes(json, NULL, text, bytes);
}

/* An integer, or its name. */
static void render_integer(struct json *json, const struct burin_field *field, uint64_t bits, bool has_sign)
{
	const char *label = has_sign || bits <= INT64_MAX ? burin_field_label(field, (int64_t)bits) : NULL;

	if (label)
		json_text(json, NULL, label);
	else if (has_sign)
		json_i64(json, NULL, (int64_t)bits);
	else
		json_u64(json, NULL, bits);
}

/* A number at `at`, behind which 8 bytes can be read, see format_program.c. */
static void render_number(struct json *json, const struct burin_field *field, unsigned type,
			  const unsigned char *at)
{
	const bool has_sign = type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64;
	const unsigned shift = 64 - 8 * format_type_bytes(type);
	const uint64_t bits = number_load64(at) << shift;
	float single;
	double value;

	switch (type) {
	case BURIN_TYPE_BOOL:
		json_bool(json, NULL, *at);
		break;
	case BURIN_TYPE_F32:
		memcpy(&single, at, sizeof(single));
		json_double(json, NULL, (double)single, 9);
		break;
	case BURIN_TYPE_F64:
		memcpy(&value, at, sizeof(value));
		json_double(json, NULL, value, 17);
		break;
	default:
		render_integer(json, field, has_sign ? (uint64_t)((int64_t)bits >> shift) : bits >> shift,
			       has_sign);
	}
}

static void render_array(struct json *json, const struct burin_field *field, const unsigned char *at)
{
	const unsigned size = format_type_bytes(field->element), count = number_load16(at);

	at += 2;
	if (field->element == BURIN_TYPE_CHAR) {
		json_bytes(json, NULL, (const char *)at, count);
		return;
	}
	json_array(json, NULL);
	for (unsigned n = 0; n < count; n++)
		render_number(json, field, field->element, at + (size_t)n * size);
	json_end(json);
}

void view_json_value(struct json *json, const struct burin_record *record, unsigned number)
{
	const struct burin_field *field = burin_event_field(record->event, number);
	const uint32_t from = record->offsets[number], bytes = record->offsets[number + 1] - from;
	const unsigned char *at = record->payload + from;

	switch (field->type) {
	case BURIN_TYPE_STR:
		render_string(json, (const char *)at, bytes - 1);
		break;
	case BURIN_TYPE_CHAR:
		render_string(json, (const char *)at, 1);
		break;
	case BURIN_TYPE_ARRAY:
		render_array(json, field, at);
		break;
	case BURIN_TYPE_BYTES:
		json_hex(json, NULL, at + 2, bytes - 2);
		break;
	default:
		render_number(json, field, field->type, at);
	}
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

	json_begin(&json, out, 0);
	json_object(&json, NULL);
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
