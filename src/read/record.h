/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One step from record to record within a packet (docs/format.md, "Record"): the only place where headers of
 * records are taken apart. Inline, because counting and merging spend their time here.
 */
#ifndef BURIN_READ_RECORD_H
#define BURIN_READ_RECORD_H

#include "base/number.h"
#include "read/trace.h"
#include "wire/record.h"

/* What is wrong with a record's header. */
enum read_bad {
	READ_GOOD,
	READ_BAD_CUT,	 /* the content ends within the header */
	READ_BAD_ID,	 /* 0, 65534, or an extended one of no event */
	READ_BAD_LENGTH, /* shorter than header and context, or beyond the content */
	READ_BAD_BACK,	 /* an extended time before the record before */
	READ_BAD_LATE,	 /* later than the packet's timestamp_end, or than any clock */
};

struct read_head {
	uint32_t id, tid;
	uint32_t length; /* of the record, without padding */
	uint32_t bytes;	 /* in front of the payload: of the header and the context */
	bool extended;
	uint64_t time;
};

/*
 * Takes the header apart that begins at `at`, of which `left` bytes of content are left, and behind which there
 * are `context` bytes before the payload. `time` is that of the record before (for the first: the packet's
 * begin), `last` the packet's end.
 */
static inline enum read_bad read_head(const unsigned char *at, size_t left, uint32_t context, uint64_t time,
				      uint64_t last, struct read_head *head)
{
	if (__builtin_expect(left < sizeof(struct wire_compact), 0))
		return READ_BAD_CUT;
	head->id = number_load16(at);
	head->length = number_load16(at + 2);
	head->time = (time & ~(uint64_t)UINT32_MAX) | number_load32(at + 4);
	head->tid = number_load32(at + 8);
	head->bytes = (uint32_t)sizeof(struct wire_compact) + context;
	head->extended = false;
	if (head->time < time)
		head->time += (uint64_t)1 << 32;
	if (__builtin_expect(head->id - 1 >= WIRE_ID_MAX, 0)) {
		if (head->id != WIRE_ID_EXTENDED)
			return READ_BAD_ID;
		if (left < sizeof(struct wire_extended))
			return READ_BAD_CUT;
		head->bytes = (uint32_t)sizeof(struct wire_extended) + context;
		head->extended = true;
		head->id = number_load32(at + 4);
		head->time = number_load64(at + 8);
		head->tid = number_load32(at + 16);
		if (head->id - 1 >= WIRE_ID_MAX)
			return READ_BAD_ID;
	}
	if (__builtin_expect(head->length < head->bytes || head->length > left, 0))
		return READ_BAD_LENGTH;
	if (__builtin_expect(head->time < time, 0))
		return READ_BAD_BACK;
	return head->time > last ? READ_BAD_LATE : READ_GOOD;
}

/* Reports what read_head() found; offset is that of the record in its file. */
void read_bad_report(const struct burin_trace *trace, const char *file, uint64_t offset, enum read_bad bad);

#endif
