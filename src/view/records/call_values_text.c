/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments and results of calls; see call_values_text.h. */
#include "view/records/call_values_text.h"

#include <inttypes.h>

#include "view/records/field_json.h"
#include "wire/wire_event.h"

enum {
	NULL_BYTES = sizeof(WIRE_NULL) - 1,
};

bool view_values_find(const struct burin_calls *calls, const struct burin_record *record,
		      struct burin_call_values *values)
{
	return !burin_calls_values(calls, record, values) && record->event->fields > values->first;
}

/* "abc", NULL, or the address of a text that could not be read. */
static void call_values_text_put_text(struct view_buffer *out, const char *text, size_t bytes)
{
	if (bytes >= NULL_BYTES && !memcmp(text, WIRE_NULL, NULL_BYTES)) {
		if (bytes == NULL_BYTES)
			view_buffer_print(out, "NULL");
		else
			view_buffer_print(out, "%s (unreadable)", text + NULL_BYTES);
		return;
	}
	view_buffer_print(out, "\"%s\"", text);
}

static void call_values_text_put_number(struct view_buffer *out, const struct burin_record *record,
					unsigned number, const struct burin_field *field)
{
	const bool hexadecimal = field->conversion == 'x' || field->type == BURIN_TYPE_PTR;
	double real;
	uint64_t bits;
	int64_t value;

	if (field->type == BURIN_TYPE_F32 || field->type == BURIN_TYPE_F64) {
		if (!burin_record_double(record, number, &real))
			view_buffer_print(out, "%g", real);
	} else if (!burin_record_u64(record, number, &bits)) {
		if (field->type == BURIN_TYPE_PTR && !bits)
			view_buffer_print(out, "NULL");
		else if (field->type == BURIN_TYPE_BOOL)
			view_buffer_print(out, "%s", bits ? "true" : "false");
		else
			view_buffer_print(out, hexadecimal ? "%#" PRIx64 : "%" PRIu64, bits);
	} else if (!burin_record_i64(record, number, &value)) {
		view_buffer_print(out, "%" PRId64, value);
	}
}

static void call_values_text_put_value(struct view_buffer *out, const struct burin_record *record,
				       unsigned number)
{
	const struct burin_field *field = burin_event_field(record->event, number);
	const char *text, *label;
	int64_t value;
	size_t bytes;
	char c[2] = "";

	if (!burin_record_string(record, number, &text, &bytes)) {
		call_values_text_put_text(out, text, bytes);
	} else if (field->type == BURIN_TYPE_CHAR) {
		c[0] = (char)record->payload[record->offsets[number]];
		view_buffer_print(out, "'%s'", c);
	} else {
		label = burin_record_i64(record, number, &value) ? NULL : burin_field_label(field, value);
		if (label)
			view_buffer_print(out, "%s", label);
		else
			call_values_text_put_number(out, record, number, field);
	}
}

void view_values_arguments(const struct burin_record *record, const struct burin_call_values *values,
			   struct view_buffer *out)
{
	view_buffer_print(out, "(");
	for (unsigned n = 0; n < values->arguments; n++) {
		if (n)
			view_buffer_print(out, ", ");
		call_values_text_put_value(out, record, values->first + n);
	}
	view_buffer_print(out, ")");
}

void view_values_result(const struct burin_record *record, const struct burin_call_values *values,
			struct view_buffer *out)
{
	if (values->result < 0)
		return;
	view_buffer_print(out, " = ");
	call_values_text_put_value(out, record, (unsigned)values->result);
}

void view_values_json(const struct burin_record *record, const struct burin_call_values *values,
		      struct json *json)
{
	json_object(json, "arguments");
	for (unsigned n = values->first; n < values->first + values->arguments; n++) {
		json_key(json, burin_event_field(record->event, n)->name);
		view_json_value(json, record, n);
	}
	json_end(json);
	if (values->result < 0)
		return;
	json_key(json, "retval");
	view_json_value(json, record, (unsigned)values->result);
}
