/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments and results for uftrace; see uftrace_values.h. */
#include "export/uftrace/uftrace_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/uftrace/uftrace_directory.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

enum {
	PART = 4, /* each value begins at a multiple of this */
	FIRST_FIELD = 4,
	RESULT_FIELDS = 2,
};

static bool has_result(const struct burin_event *event)
{
	return event->fields >= FIRST_FIELD + RESULT_FIELDS &&
	       strcmp(burin_event_field(event, event->fields - 1)->name, "retval") == 0;
}

/* ---- the text of info */

/* "/x32" */
static void uftrace_values_put_type(struct view_buffer *out, const struct burin_field *field)
{
	const unsigned bits = 8 * format_type_bytes(field->type);
	const bool has_sign = field->type >= BURIN_TYPE_I8 && field->type <= BURIN_TYPE_I64;

	if (field->type == BURIN_TYPE_STR)
		view_buffer_print(out, "/s");
	else if (field->type == BURIN_TYPE_PTR)
		view_buffer_print(out, "/p");
	else if (field->type == BURIN_TYPE_CHAR)
		view_buffer_print(out, "/c");
	else if (field->type == BURIN_TYPE_F32 || field->type == BURIN_TYPE_F64)
		view_buffer_print(out, "/f%u", bits);
	else
		view_buffer_print(out, "/%c%u", field->conversion == 'x' ? 'x' : has_sign ? 'i' : 'u', bits);
}

static void uftrace_values_put_argument(struct view_buffer *out, const struct burin_field *field,
					unsigned number)
{
	if (field->type == BURIN_TYPE_F32 || field->type == BURIN_TYPE_F64) {
		view_buffer_print(out, "fparg%u/%u", number, 8 * format_type_bytes(field->type));
		return;
	}
	view_buffer_print(out, "arg%u", number);
	uftrace_values_put_type(out, field);
}

void uftrace_values_spec(const struct burin_event *event, const char *function, struct view_buffer *arguments,
			 struct view_buffer *results)
{
	const unsigned end = event->fields - (has_result(event) ? RESULT_FIELDS : 0);

	/* These separate the parts of the text. */
	if (!function || strpbrk(function, "@;\n"))
		return;
	for (unsigned n = FIRST_FIELD; n < end; n++) {
		if (n == FIRST_FIELD)
			uftrace_put_name(arguments, function);
		view_buffer_print(arguments, n == FIRST_FIELD ? "@" : ",");
		uftrace_values_put_argument(arguments, burin_event_field(event, n), n - FIRST_FIELD + 1);
	}
	if (end > FIRST_FIELD)
		view_buffer_print(arguments, ";");
	if (!has_result(event))
		return;
	uftrace_put_name(results, function);
	view_buffer_print(results, "@retval");
	uftrace_values_put_type(results, burin_event_field(event, event->fields - 1));
	view_buffer_print(results, ";");
}

/* ---- the bytes of a call */

/* "burin.call.open-2": another function of that name has other arguments, and uftrace knows them by the name. */
static bool has_namesake(const struct burin_event *event)
{
	const size_t bytes = strlen(event->name);

	return bytes > 2 && event->name[bytes - 2] == '-' && event->name[bytes - 1] >= '2' &&
	       event->name[bytes - 1] <= '9';
}

struct bytes {
	uint8_t at[UFTRACE_VALUES_WORDS * 8];
	size_t used;
	bool full;
};

static void uftrace_values_put(struct bytes *out, const void *from, size_t bytes)
{
	if (out->used + bytes > sizeof(out->at)) {
		out->full = true;
		return;
	}
	memcpy(out->at + out->used, from, bytes);
	out->used += bytes;
}

static void uftrace_values_align(struct bytes *out, size_t to)
{
	static const uint8_t zeros[8];

	uftrace_values_put(out, zeros, -out->used % to);
}

/* A text has its length before it; that of a NULL pointer is four bytes. One that could not be read is "<0x10>", as in uftrace. */
static void uftrace_values_put_text(struct bytes *out, const char *text, size_t bytes)
{
	static const uint8_t none[] = { 0xff, 0xff, 0xff, 0xff };
	const size_t mark = sizeof(WIRE_NULL) - 1;
	const bool is_null = bytes >= mark && memcmp(text, WIRE_NULL, mark) == 0;
	const uint16_t length = (uint16_t)(!is_null	   ? bytes
					   : bytes == mark ? sizeof(none)
							   : bytes - mark + 2);

	uftrace_values_put(out, &length, sizeof(length));
	if (!is_null) {
		uftrace_values_put(out, text, bytes);
	} else if (bytes == mark) {
		uftrace_values_put(out, none, sizeof(none));
	} else {
		uftrace_values_put(out, "<", 1);
		uftrace_values_put(out, text + mark, bytes - mark);
		uftrace_values_put(out, ">", 1);
	}
}

static void uftrace_values_put_value(struct bytes *out, const struct burin_record *record, unsigned field)
{
	const uint32_t from = record->offsets[field];
	const char *text;
	size_t bytes;

	if (!burin_record_string(record, field, &text, &bytes))
		uftrace_values_put_text(out, text, bytes);
	else
		uftrace_values_put(out, record->payload + from, record->offsets[field + 1] - from);
	uftrace_values_align(out, PART);
}

int uftrace_values_make(const struct burin_calls *calls, const struct burin_record *record,
			struct uftrace_values **values)
{
	struct burin_call_values found;
	struct bytes out;
	size_t arguments;

	*values = NULL;
	if (burin_calls_values(calls, record, &found) || record->event->fields == found.first ||
	    has_namesake(record->event))
		return 0;
	out.used = 0;
	out.full = false;
	for (unsigned n = 0; n < found.arguments; n++)
		uftrace_values_put_value(&out, record, found.first + n);
	uftrace_values_align(&out, 8);
	arguments = out.used;
	if (found.result >= 0)
		uftrace_values_put_value(&out, record, (unsigned)found.result);
	uftrace_values_align(&out, 8);
	if (out.full)
		return 0;
	*values = malloc(sizeof(**values) + out.used);
	if (!*values)
		return -ENOMEM;
	(*values)->arguments = (uint32_t)(arguments / 8);
	(*values)->results = (uint32_t)((out.used - arguments) / 8);
	memcpy((*values)->words, out.at, out.used);
	return 0;
}
