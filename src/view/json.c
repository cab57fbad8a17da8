/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Lines of JSON, one object each:
 *
 *	{"time_ns":1700000000000000000,"cpu":0,"pid":1,"tid":2,"thread":"x","event":"net.rx","fields":{"len":5}}
 *
 * Integers, addresses too, are numbers in full; a str is a string, or null for a NULL pointer; a char a
 * string; bytes a string of hexadecimal digits; a bool true or false. cpu, pid and thread are null when
 * unknown. "correlation" and "depth" stand in front of "event" if the trace has them. A sample tells its innermost
 * function and image too, and with its stack all of them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "read/trace.h"
#include "view/line.h"
#include "view/sample.h"

enum {
	THREAD_BYTES_MAX = 32,
	VALUE_BYTES = 40,  /* of a number, at most, with what stands around it */
	FRAME_BYTES = 192, /* of time, CPU, context and brackets */
};

int view_json_prepare(struct view_event *event, const struct burin_event *of)
{
	char *name = NULL;

	event->keys = calloc(of->fields ? of->fields : 1, sizeof(*event->keys));
	if (!event->keys || asprintf(&name, ",\"event\":\"%s\",\"fields\":{", of->name) < 0)
		return -ENOMEM;
	event->name = name;
	event->name_bytes = (uint32_t)strlen(name);
	event->pattern.bound = FRAME_BYTES;
	for (unsigned n = 0; n < of->fields; n++) {
		int bytes = asprintf(&event->keys[n].text, "%s\"%s\":", n ? "," : "",
				     burin_event_field(of, n)->name);

		if (bytes < 0) {
			event->keys[n].text = NULL;
			return -ENOMEM;
		}
		event->keys[n].bytes = (uint32_t)bytes;
		event->pattern.bound += (uint32_t)bytes + VALUE_BYTES;
	}
	return 0;
}

size_t view_json_person(char *out, const struct burin_thread *thread, uint32_t tid)
{
	char *at = out;

	if (!thread)
		return (size_t)sprintf(out, ",\"pid\":null,\"tid\":%u,\"thread\":null", tid);
	at += sprintf(at, ",\"pid\":%u,\"tid\":%u,\"thread\":\"", thread->pid, tid);
	at += text_json(at, thread->name, strnlen(thread->name, THREAD_BYTES_MAX));
	*at++ = '"';
	return (size_t)(at - out);
}

static char *render_double(char *out, double value, int digits)
{
	if (isnan(value))
		return view_put_text(out, "\"NaN\"");
	if (isinf(value))
		return value < 0 ? view_put_text(out, "\"-Infinity\"") : view_put_text(out, "\"Infinity\"");
	return out + snprintf(out, VALUE_BYTES, "%.*g", digits, value);
}

static char *render_string(char *out, const char *text, size_t bytes)
{
	if (bytes == sizeof(WIRE_NULL) - 1 && !memcmp(text, WIRE_NULL, bytes))
		return view_put_text(out, "null");
	*out++ = '"';
	out += text_json(out, text, bytes);
	*out++ = '"';
	return out;
}

static char *render_value(char *out, const struct burin_record *record, unsigned field, unsigned type)
{
	uint32_t from = record->offsets[field], bytes = record->offsets[field + 1] - from;
	const unsigned char *at = record->payload + from;
	int64_t number = 0;
	uint64_t bits = 0;
	double value = 0;

	switch (type) {
	case BURIN_TYPE_BOOL:
		return *at ? view_put_text(out, "true") : view_put_text(out, "false");
	case BURIN_TYPE_I8:
	case BURIN_TYPE_I16:
	case BURIN_TYPE_I32:
	case BURIN_TYPE_I64:
		burin_record_i64(record, field, &number);
		return number_signed(out, number);
	case BURIN_TYPE_F32:
	case BURIN_TYPE_F64:
		burin_record_double(record, field, &value);
		return render_double(out, value, type == BURIN_TYPE_F32 ? 9 : 17);
	case BURIN_TYPE_STR:
		return render_string(out, (const char *)at, bytes - 1);
	case BURIN_TYPE_CHAR:
		return render_string(out, (const char *)at, 1);
	case BURIN_TYPE_BYTES:
		*out++ = '"';
		out += text_hex(out, at + 2, bytes - 2);
		*out++ = '"';
		return out;
	default:
		burin_record_u64(record, field, &bits);
		return number_decimal(out, bits);
	}
}

static char *render_context(char *out, const struct burin_record *record)
{
	uint64_t correlation;
	uint32_t depth;

	if (burin_record_correlation(record, &correlation) == 0)
		out = number_decimal(view_put_text(out, ",\"correlation\":"), correlation);
	if (burin_record_depth(record, &depth) == 0)
		out = number_decimal(view_put_text(out, ",\"depth\":"), depth);
	return out;
}

void view_json_render(const struct view_lines *lines, const struct view_event *event,
		      const struct view_person *person, const struct burin_record *record,
		      struct view_buffer *out)
{
	struct burin_sample sample;
	char *at = view_buffer_reserve(out, VIEW_PERSON_BYTES + event->name_bytes + event->pattern.bound +
						    TEXT_JSON_MAX * (size_t)record->payload_bytes);

	if (!at)
		return;
	at = view_put_text(at, "{\"time_ns\":");
	at = number_signed(at, burin_trace_ns(lines->trace, record->time));
	at = view_put_text(at, ",\"cpu\":");
	at = record->cpu == UINT32_MAX ? view_put_text(at, "null") : number_decimal(at, record->cpu);
	at = view_put(at, person->text, person->bytes);
	at = render_context(at, record);
	at = view_put(at, event->name, event->name_bytes);
	for (unsigned n = 0; n < record->event->fields; n++) {
		at = view_put(at, event->keys[n].text, event->keys[n].bytes);
		at = render_value(at, record, n, burin_event_field(record->event, n)->type);
	}
	*at++ = '}';
	view_buffer_commit(out, at);
	if (lines->profile && !burin_profile_sample(lines->profile, record, &sample))
		view_sample_json(lines->profile, &sample, lines->style.stacks, out);
	view_buffer_print(out, "}\n");
}
