/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's records; see kernel_raw.h. */
#include <string.h>

#include "base/number.h"
#include "source/kernel/in_kernel/kernel_registers.h"
#include "source/kernel/programs/kernel_raw.h"

struct raw {
	const char *bytes;
	unsigned count;
};

static void kernel_raw_copy(char *out, const struct raw *raw, unsigned offset, unsigned bytes)
{
	memset(out, 0, bytes);
	if (offset < raw->count)
		memcpy(out, raw->bytes + offset, bytes < raw->count - offset ? bytes : raw->count - offset);
}

/* A text of at most @room bytes, with its NUL; a longer one ends in a mark. Return: its bytes. */
static unsigned kernel_raw_copy_text(char *out, const struct raw *raw, unsigned offset, unsigned bytes,
				     unsigned room)
{
	const unsigned there = offset < raw->count ? raw->count - offset : 0;
	const char *text = there ? raw->bytes + offset : "";
	unsigned length = (unsigned)strnlen(text, bytes < there ? bytes : there);
	const bool cut = length >= room;

	if (cut)
		length = room - 1;
	memcpy(out, text, length);
	out[length] = 0;
	if (cut && room >= sizeof(WIRE_TRUNCATED))
		memcpy(out + room - sizeof(WIRE_TRUNCATED), WIRE_TRUNCATED, sizeof(WIRE_TRUNCATED));
	return length + 1;
}

static unsigned kernel_raw_put_field(char *out, const struct raw *raw, const struct tracepoint_field *field)
{
	char place[4];
	uint16_t count;

	switch (field->kind) {
	case TRACEPOINT_ARRAY:
		count = (uint16_t)(field->size / field->element);
		memcpy(out, &count, sizeof(count));
		kernel_raw_copy(out + sizeof(count), raw, field->offset, field->size);
		return (unsigned)sizeof(count) + field->size;
	case TRACEPOINT_CHARS:
		return kernel_raw_copy_text(out, raw, field->offset, field->size, field->size);
	case TRACEPOINT_TEXT:
		kernel_raw_copy(place, raw, field->offset, sizeof(place));
		return kernel_raw_copy_text(out, raw, number_load16(place), number_load16(place + 2),
					    TRACEPOINT_TEXT_MAX);
	case TRACEPOINT_CALL:
		memcpy(out, &(int16_t){ KERNEL_CALL_UNKNOWN }, sizeof(int16_t));
		return sizeof(int16_t);
	case TRACEPOINT_INTERRUPT:
		*out = -1; /* unknown */
		return 1;
	default:
		kernel_raw_copy(out, raw, field->offset, field->bytes);
		return field->bytes;
	}
}

unsigned kernel_raw_convert(const struct tracepoint *point, const char *raw, unsigned bytes, char *out)
{
	const struct raw record = { raw, bytes };
	unsigned used = 0;

	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded)
			used += kernel_raw_put_field(out + used, &record, &point->fields[n]);
	return used;
}
