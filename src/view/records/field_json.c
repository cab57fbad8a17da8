/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fields as JSON; see field_json.h. */
#include "view/records/field_json.h"

#include <string.h>

#include "base/number.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

static void render_string(struct json *json, const char *text, size_t bytes)
{
	if (bytes == sizeof(WIRE_NULL) - 1 && !memcmp(text, WIRE_NULL, bytes))
		json_null(json, NULL);
	else
		json_bytes(json, NULL, text, bytes);
}

/* An integer, or its name. */
static void field_json_render_integer(struct json *json, const struct burin_field *field, uint64_t bits,
				      bool has_sign)
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
		field_json_render_integer(
			json, field, has_sign ? (uint64_t)((int64_t)bits >> shift) : bits >> shift, has_sign);
	}
}

static void field_json_render_array(struct json *json, const struct burin_field *field,
				    const unsigned char *at)
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
		field_json_render_array(json, field, at);
		break;
	case BURIN_TYPE_BYTES:
		json_hex(json, NULL, at + 2, bytes - 2);
		break;
	default:
		render_number(json, field, field->type, at);
	}
}
