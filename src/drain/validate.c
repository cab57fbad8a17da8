/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Validating records; see validate.h.
 *
 * The order of the checks matters. Each one makes the next one safe: the header is read from bytes that are
 * there, the length is within the piece, the id is of a known event, then the payload is parsed by that
 * event's types, and then its function is looked up. The first record that fails ends the piece, since where
 * the next one begins is not known.
 *
 * A record of an unknown event or function may be sound: it may have been registered since the tables were
 * read. So it is reported apart, in ->unknown, and the caller reads the tables again and tries once more.
 *
 * ->time is the full time of the last record. A compact record has 32 bits of it, so each record's time
 * depends on all before it: one whose time cannot be right is damage.
 */
#include "base/number.h"
#include "drain/validate.h"
#include "wire/wire_head.h"

/* The padding fills a record up to a multiple of 8 bytes. */
static bool padding_is_zero(const char *record, uint32_t length)
{
	for (uint32_t n = length; n < wire_stride(length); n++)
		if (record[n] != 0)
			return false;
	return true;
}

/* The longest valid record. A compact one must be eight bytes shorter, since it may be rewritten as an extended one. */
static uint32_t validate_longest(const struct wire_head *record)
{
	return WIRE_LENGTH_MAX - (record->extended ? 0 : WIRE_ALIGN);
}

/* 2^32 ticks or more after the base, writers put an extended record (wire/wire_packet.h). */
static bool base_reaches(const struct wire_head *record, uint64_t base)
{
	return record->extended || record->time - base < UINT64_C(1) << 32;
}

/* Add a valid record. @early: it is before the window */
static void validate_count(struct validated *out, uint64_t time, uint32_t length, bool early)
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

struct validated validate_records(const struct event_table *table, const char *packet, uint32_t begin,
				  uint32_t end, uint64_t time, uint64_t base, uint64_t now,
				  struct window window)
{
	struct validated out = { .end = begin, .begin = begin, .content = begin, .sound = true };

	out.time = time;
	out.base = base;
	if (time > now) /* no record can follow the future */
		out.sound = false;
	while (time <= now && end - out.end >= WIRE_ALIGN) {
		const char *at = packet + out.end;
		uint32_t left = end - out.end;
		struct wire_head record;

		if (number_load16(at) == WIRE_ID_CLOSED) /* behind it, the packet is unused */
			break;
		out.sound = false;
		if (wire_head_read(at, left, table->context_bytes, out.time, now, &record) != WIRE_GOOD ||
		    record.length > validate_longest(&record) || wire_stride(record.length) > left)
			break;
		if (record.id > table->count) {
			out.unknown = record.id;
			break;
		}
		if (!event_table_payload_fits(table, record.id, at + record.bytes,
					      record.length - record.bytes) ||
		    !padding_is_zero(at, record.length) || !base_reaches(&record, out.base))
			break;
		if (!event_table_has_function(table, record.id, at + record.bytes)) {
			out.unknown = record.id;
			break;
		}
		out.sound = true;
		out.past_window = record.time > window.until;
		if (out.past_window)
			break;
		if (record.extended)
			out.base = record.time;
		validate_count(&out, record.time, record.length, record.time < window.since);
	}
	return out;
}
