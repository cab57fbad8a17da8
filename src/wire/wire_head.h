/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One step from record to record within a packet (docs/format.md, "Record"). Only this function decodes record
 * headers, those of a trace and those of a ring. Inline, because counting and merging spend their time here.
 */
#ifndef BURIN_WIRE_WIRE_HEAD_H
#define BURIN_WIRE_WIRE_HEAD_H

#include <stdbool.h>

#include "wire/wire_record.h"

/* A header in bytes of any origin and alignment. */
union wire_head_bytes {
	struct wire_compact compact;
	struct wire_extended extended;
} __attribute__((packed, may_alias));

/* A fault of a record's header. */
enum wire_bad {
	WIRE_GOOD,
	WIRE_BAD_TRUNCATED, /* the content ends within the header */
	WIRE_BAD_ID,	    /* 0, 65534, or an extended one of no event */
	WIRE_BAD_LENGTH,    /* shorter than header and context, or beyond the content */
	WIRE_BAD_BACK,	    /* an extended time before the record before */
	WIRE_BAD_LATE,	    /* later than the last possible time, or than any clock */
};

struct wire_head {
	uint32_t id, tid;
	uint32_t length; /* of the record, without padding */
	uint32_t bytes;	 /* in front of the payload: of the header and the context */
	bool extended;
	uint64_t time;
};

/*
 * Decodes the header at `at`.
 * @left: bytes of the packet's content from `at` on
 * @context: bytes between header and payload
 * @time: of the record before; for the first, the packet's begin
 * @last: the last possible time: the packet's end, or the present
 */
static inline enum wire_bad wire_head_read(const void *at, size_t left, uint32_t context, uint64_t time,
					   uint64_t last, struct wire_head *head)
{
	const union wire_head_bytes *bytes = at;

	if (__builtin_expect(left < sizeof(bytes->compact), 0))
		return WIRE_BAD_TRUNCATED;
	head->id = bytes->compact.id;
	head->length = bytes->compact.length;
	head->time = (time & ~(uint64_t)UINT32_MAX) | bytes->compact.time;
	head->tid = bytes->compact.tid;
	head->bytes = (uint32_t)sizeof(bytes->compact) + context;
	head->extended = false;
	if (head->time < time)
		head->time += (uint64_t)1 << 32;
	if (__builtin_expect(head->id - 1 >= WIRE_ID_MAX, 0)) {
		if (head->id != WIRE_ID_EXTENDED)
			return WIRE_BAD_ID;
		if (left < sizeof(bytes->extended))
			return WIRE_BAD_TRUNCATED;
		head->id = bytes->extended.id;
		head->time = (uint64_t)bytes->extended.time_high << 32 | bytes->extended.time_low;
		head->tid = bytes->extended.tid;
		head->bytes = (uint32_t)sizeof(bytes->extended) + context;
		head->extended = true;
		if (head->id - 1 >= WIRE_ID_MAX)
			return WIRE_BAD_ID;
	}
	if (__builtin_expect(head->length < head->bytes || head->length > left, 0))
		return WIRE_BAD_LENGTH;
	if (__builtin_expect(head->time < time, 0))
		return WIRE_BAD_BACK;
	return head->time > last ? WIRE_BAD_LATE : WIRE_GOOD;
}

/* A walk along records. At first, `head.time` is a time that is not later than the first record's. */
struct wire_walk {
	const char *at, *end; /* the next record; the end of the content */
	uint32_t context;
	struct wire_head head; /* of the record before */
};

/* Return: the next record, whose header is walk->head; NULL: the end, or no record. */
static inline const char *wire_walk_next(struct wire_walk *walk)
{
	const char *record = walk->at;

	if (record >= walk->end || wire_head_read(record, (size_t)(walk->end - record), walk->context,
						  walk->head.time, UINT64_MAX, &walk->head) != WIRE_GOOD)
		return NULL;
	walk->at += wire_stride(walk->head.length);
	return record;
}

/* The extended form of a record's header, 8 bytes longer than the compact one. */
static inline struct wire_extended wire_head_extend(const struct wire_head *head)
{
	return (struct wire_extended){ .tag = WIRE_ID_EXTENDED,
				       .length = (uint16_t)(head->length + (head->extended ? 0 : WIRE_ALIGN)),
				       .id = head->id,
				       .time_low = (uint32_t)head->time,
				       .time_high = (uint32_t)(head->time >> 32),
				       .tid = head->tid };
}

#endif
