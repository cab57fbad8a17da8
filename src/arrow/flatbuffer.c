/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flatbuffers; see flatbuffer.h. Numbers are little-endian. */
#include "arrow/flatbuffer.h"

#include <string.h>

enum {
	OFFSET_BYTES = 4,
	SLOT_BYTES = 2, /* of a table's fields */
	SLOTS_HEAD = 2, /* the bytes of the slots, and those of the table */
	FIELDS_MAX = 8,
	ALIGN_MAX = 8,
};

static void flat_zeros(struct view_buffer *out, size_t bytes)
{
	char *at = view_buffer_reserve(out, bytes);

	if (!at)
		return;
	memset(at, 0, bytes);
	out->used += bytes;
}

void flat_align(struct view_buffer *out, size_t multiple)
{
	flat_zeros(out, -out->used % multiple);
}

void flat_store(struct view_buffer *out, size_t position, int64_t number, unsigned bytes)
{
	if (out->failed)
		return;
	for (unsigned n = 0; n < bytes; n++)
		out->bytes[position + n] = (char)((uint64_t)number >> 8 * n);
}

size_t flat_begin(struct view_buffer *out)
{
	flat_zeros(out, ALIGN_MAX);
	return 0;
}

static void flat_refer(struct view_buffer *out, size_t reference, size_t target)
{
	flat_store(out, reference, (int64_t)(target - reference), OFFSET_BYTES);
}

/* The place of each field in its table, behind the offset of its slots. Return: the bytes of the table. */
static size_t flat_places(const struct flat_field *fields, unsigned count, size_t places[FIELDS_MAX])
{
	size_t end = OFFSET_BYTES;

	for (unsigned n = 0; n < count; n++) {
		if (fields[n].bytes)
			end += -end % fields[n].bytes;
		places[n] = fields[n].bytes ? end : 0;
		end += fields[n].bytes;
	}
	return end;
}

/* The slots say where each field is. They lie before the table, which is at a multiple of eight. */
size_t flat_table(struct view_buffer *out, size_t reference, const struct flat_field *fields, unsigned count)
{
	const size_t slots_bytes = (SLOTS_HEAD + count) * SLOT_BYTES;
	size_t places[FIELDS_MAX], slots, table;
	const size_t bytes = flat_places(fields, count, places);

	flat_align(out, SLOT_BYTES);
	slots = out->used;
	flat_zeros(out, slots_bytes);
	flat_align(out, ALIGN_MAX);
	table = out->used;
	flat_zeros(out, bytes);
	flat_store(out, slots, (int64_t)slots_bytes, SLOT_BYTES);
	flat_store(out, slots + SLOT_BYTES, (int64_t)bytes, SLOT_BYTES);
	flat_store(out, table, (int64_t)(table - slots), OFFSET_BYTES);
	for (unsigned n = 0; n < count; n++) {
		flat_store(out, slots + (SLOTS_HEAD + n) * SLOT_BYTES, (int64_t)places[n], SLOT_BYTES);
		flat_store(out, table + places[n], fields[n].value, fields[n].bytes);
	}
	flat_refer(out, reference, table);
	return table;
}

size_t flat_field(const struct view_buffer *out, size_t table, unsigned number)
{
	uint32_t back;
	uint16_t place;

	if (out->failed)
		return 0;
	memcpy(&back, out->bytes + table, sizeof(back));
	memcpy(&place, out->bytes + table - back + (SLOTS_HEAD + number) * SLOT_BYTES, sizeof(place));
	return table + place;
}

size_t flat_vector(struct view_buffer *out, size_t reference, size_t count, size_t item_bytes, size_t align)
{
	/* The count is before the items, which are aligned. */
	flat_align(out, OFFSET_BYTES);
	while ((out->used + OFFSET_BYTES) % (align ? align : 1) && !out->failed)
		flat_zeros(out, 1);
	flat_zeros(out, OFFSET_BYTES + count * item_bytes);
	if (out->failed)
		return 0;
	const size_t first = out->used - count * item_bytes;

	flat_store(out, first - OFFSET_BYTES, (int64_t)count, OFFSET_BYTES);
	flat_refer(out, reference, first - OFFSET_BYTES);
	return first;
}

/* A text has a NUL behind it, which is not counted. */
void flat_text(struct view_buffer *out, size_t reference, const char *text)
{
	const size_t length = strlen(text), first = flat_vector(out, reference, length, 1, 1);

	flat_zeros(out, 1);
	if (!out->failed)
		memcpy(out->bytes + first, text, length);
}
