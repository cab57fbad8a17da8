/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The payload of a record: offsets and values of its fields. A cursor returns a record only if its payload fits
 * its event's types exactly, so the functions here do not check its length again.
 */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "read/trace.h"
#include "wire/wire_context.h"

_Static_assert((int)BURIN_TYPE_BOOL == WIRE_BOOL && (int)BURIN_TYPE_U64 == WIRE_U64 &&
		       (int)BURIN_TYPE_BYTES == WIRE_BYTES && (int)BURIN_TYPE_CHAR == WIRE_CHAR &&
		       (int)BURIN_TYPE_ARRAY == WIRE_ARRAY,
	       "the numbers of types are those of the format");
_Static_assert((int)BURIN_KIND_COUNTER == WIRE_KIND_COUNTER && (int)BURIN_KIND_SPAN_END == WIRE_KIND_SPAN_END,
	       "and those of kinds");
_Static_assert((int)BURIN_CONTEXT_CORRELATION == WIRE_CONTEXT_CORRELATION &&
		       (int)BURIN_CONTEXT_DEPTH == WIRE_CONTEXT_DEPTH,
	       "and those of contexts");
_Static_assert((int)BURIN_LOST_CAUSES == WIRE_LOST_CAUSES, "and those of causes");

const char *read_layout(const struct read_event *event, const unsigned char *payload, uint32_t bytes,
			uint32_t offsets[WIRE_ARGS_MAX + 1])
{
	uint32_t at = event->offsets[event->fixed], count = event->open.fields;

	if (at > bytes)
		return "shorter than its fields";
	memcpy(offsets, event->offsets, sizeof(event->offsets)); /* all: that is a few instructions */
	for (uint32_t n = event->fixed; n < count; n++) {
		const struct format_field *field = &event->fields[n].parsed;
		const struct format_type type = { field->type, field->element };
		const uint32_t size = type.type == WIRE_STR
					      ? format_text_bytes(payload + at, bytes - at)
					      : format_argument_bytes(type, payload + at, bytes - at);

		offsets[n] = at;
		if (size == 0)
			return type.type == WIRE_STR ? "a string without an end" : "shorter than its fields";
		at += size;
	}
	offsets[count] = at;
	return at == bytes ? NULL : "longer than its fields";
}

/* An integer, sign-extended to 64 bits if its type has a sign. Return: false: another type. */
static inline __attribute__((always_inline)) bool field_integer(unsigned type, const unsigned char *at,
								uint64_t *value)
{
	switch (type) {
	case BURIN_TYPE_I8:
		*value = (uint64_t)(int8_t)*at;
		return true;
	case BURIN_TYPE_I16:
		*value = (uint64_t)(int16_t)number_load16(at);
		return true;
	case BURIN_TYPE_I32:
		*value = (uint64_t)(int32_t)number_load32(at);
		return true;
	case BURIN_TYPE_BOOL:
	case BURIN_TYPE_U8:
	case BURIN_TYPE_CHAR:
		*value = *at;
		return true;
	case BURIN_TYPE_U16:
		*value = number_load16(at);
		return true;
	case BURIN_TYPE_U32:
		*value = number_load32(at);
		return true;
	case BURIN_TYPE_I64:
	case BURIN_TYPE_U64:
	case BURIN_TYPE_PTR:
		*value = number_load64(at);
		return true;
	default:
		return false;
	}
}

bool read_run_integers(const struct read_run *run, unsigned field, uint64_t *values)
{
	const struct burin_field *info = burin_event_field(run->only, field);
	bool is = info != NULL;

	for (size_t n = 0; is && n < run->count; n++)
		is = field_integer(info->type, run->records[n].payload + run->records[n].offsets[field],
				   &values[n]);
	return is;
}

/* The type of a field, or 0. */
static unsigned field_type(const struct burin_record *record, unsigned field)
{
	const struct burin_field *info = burin_event_field(record->event, field);

	return info ? info->type : 0;
}

static int load_integer(const struct burin_record *record, unsigned field, uint64_t *value, bool *has_sign)
{
	unsigned type = field_type(record, field);

	if (!type)
		return -ENOENT;
	*has_sign = type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64;
	return field_integer(type, record->payload + record->offsets[field], value) ? 0 : -EINVAL;
}

int burin_record_i64(const struct burin_record *record, unsigned field, int64_t *value)
{
	uint64_t bits;
	bool has_sign;
	int result = load_integer(record, field, &bits, &has_sign);

	if (result)
		return result;
	if (!has_sign && bits > INT64_MAX)
		return -ERANGE;
	*value = (int64_t)bits;
	return 0;
}

int burin_record_u64(const struct burin_record *record, unsigned field, uint64_t *value)
{
	uint64_t bits;
	bool has_sign;
	int result = load_integer(record, field, &bits, &has_sign);

	if (result)
		return result;
	if (has_sign && (int64_t)bits < 0)
		return -ERANGE;
	*value = bits;
	return 0;
}

int burin_record_double(const struct burin_record *record, unsigned field, double *value)
{
	unsigned type = field_type(record, field);
	uint64_t bits;
	bool has_sign;
	float single;
	int result;

	if (type == BURIN_TYPE_F64) {
		memcpy(value, record->payload + record->offsets[field], sizeof(*value));
		return 0;
	}
	if (type == BURIN_TYPE_F32) {
		memcpy(&single, record->payload + record->offsets[field], sizeof(single));
		*value = (double)single;
		return 0;
	}
	result = load_integer(record, field, &bits, &has_sign);
	if (!result)
		*value = has_sign ? (double)(int64_t)bits : (double)bits;
	return result;
}

int burin_record_string(const struct burin_record *record, unsigned field, const char **text, size_t *bytes)
{
	unsigned type = field_type(record, field);
	size_t length;

	if (type != BURIN_TYPE_STR)
		return type ? -EINVAL : -ENOENT;
	*text = read_record_text(record, field, &length);
	if (bytes)
		*bytes = length;
	return 0;
}

int burin_record_bytes(const struct burin_record *record, unsigned field, const void **data, size_t *bytes)
{
	unsigned type = field_type(record, field);

	if (type != BURIN_TYPE_BYTES)
		return type ? -EINVAL : -ENOENT;
	*data = record->payload + record->offsets[field] + 2;
	*bytes = record->offsets[field + 1] - record->offsets[field] - 2;
	return 0;
}

int burin_record_array(const struct burin_record *record, unsigned field, const void **elements,
		       size_t *count)
{
	unsigned type = field_type(record, field);

	if (type != BURIN_TYPE_ARRAY)
		return type ? -EINVAL : -ENOENT;
	*elements = record->payload + record->offsets[field] + 2;
	*count = number_load16(record->payload + record->offsets[field]);
	return 0;
}

unsigned burin_trace_context(const struct burin_trace *trace)
{
	return trace->context;
}

/* A field of the context, or NULL. The fields are in the order of their bits, the lowest first. */
static const unsigned char *context_field(const struct burin_record *record, uint32_t field)
{
	const unsigned char *context = record->payload - wire_context_bytes(record->context);

	return record->context & field ? context + wire_context_bytes(record->context & (field - 1)) : NULL;
}

int burin_record_correlation(const struct burin_record *record, uint64_t *id)
{
	const unsigned char *at = context_field(record, WIRE_CONTEXT_CORRELATION);

	if (!at)
		return -ENOENT;
	*id = number_load64(at);
	return 0;
}

int burin_record_depth(const struct burin_record *record, uint32_t *depth)
{
	const unsigned char *at = context_field(record, WIRE_CONTEXT_DEPTH);

	if (!at)
		return -ENOENT;
	*depth = number_load32(at);
	return 0;
}
