/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Telling records from other bytes; see sift.h. */
#include <string.h>

#include "drain/sift.h"
#include "wire/record.h"

bool sift_header(const char *at, uint32_t length, uint32_t context, uint64_t before, struct parsed *out)
{
	struct wire_compact compact;
	struct wire_extended extended;

	memcpy(&compact, at, sizeof(compact));
	if (compact.id != WIRE_ID_EXTENDED) {
		out->id = compact.id;
		out->tid = compact.tid;
		out->header = (uint32_t)sizeof(compact) + context;
		out->time = before + (uint32_t)(compact.time - (uint32_t)before);
		return length >= out->header;
	}
	if (length < sizeof(extended))
		return false;
	memcpy(&extended, at, sizeof(extended));
	out->id = extended.id;
	out->tid = extended.tid;
	out->header = (uint32_t)sizeof(extended) + context;
	out->time = (uint64_t)extended.time_high << 32 | extended.time_low;
	return length >= out->header && out->time >= before;
}

/* The bytes that fill a record up to a multiple of 8. */
static bool padding_is_zero(const char *record, uint32_t length)
{
	for (uint32_t n = length; n < wire_stride(length); n++)
		if (record[n] != 0)
			return false;
	return true;
}

/* A sound record at the end of what was walked. */
static void count(struct sifted *out, uint64_t time, uint32_t length, bool early)
{
	if (!early && out->count == 0)
		out->first = time;
	out->time = time;
	out->count += !early;
	out->before += early;
	out->content = out->end + length;
	out->end += wire_stride(length);
	if (early)
		out->begin = out->end;
}

struct sifted sift(const struct table *table, const char *packet, uint32_t begin, uint32_t end, uint64_t time,
		   uint64_t now, struct window window)
{
	struct sifted out = { .end = begin, .begin = begin, .content = begin, .time = time, .sound = true };

	if (time > now) /* nothing can follow that */
		out.sound = false;
	while (time <= now && end - out.end >= WIRE_ALIGN) {
		const char *at = packet + out.end;
		uint32_t left = end - out.end;
		struct parsed record;
		uint16_t head[2];

		memcpy(head, at, sizeof(head));
		if (head[0] == WIRE_ID_CLOSED)
			break;
		out.sound = false;
		if (head[1] < sizeof(struct wire_compact) || wire_stride(head[1]) > left ||
		    !sift_header(at, head[1], table->context_bytes, out.time, &record) || record.time > now)
			break;
		if (record.id > table->count) {
			out.unknown = record.id;
			break;
		}
		if (!table_payload_fits(table, record.id, at + record.header, head[1] - record.header) ||
		    !padding_is_zero(at, head[1]))
			break;
		out.sound = true;
		out.cut = record.time > window.until;
		if (out.cut)
			break;
		count(&out, record.time, head[1], record.time < window.since);
	}
	return out;
}
