/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Builds a record: our header outside, perf_event_open(2)'s format inside (wire/wire_preload.h). */
#ifndef BURIN_SOURCE_PRELOAD_RECORD_WRITER_H
#define BURIN_SOURCE_PRELOAD_RECORD_WRITER_H

#include <linux/perf_event.h>
#include <string.h>

#include "ring/ring.h"
#include "wire/wire_preload.h"

enum {
	WRITER_COUNT = 2, /* bytes of the field's length, in front of it */
	WRITER_BEGIN = WIRE_HEADROOM + WRITER_COUNT + sizeof(struct perf_event_header),
};

/* `buffer` is 8-aligned and has room for the record and 8 bytes more. */
struct writer {
	char *buffer;
	size_t used;
};

static inline struct writer writer_begin(char *buffer)
{
	return (struct writer){ buffer, WRITER_BEGIN };
}

static inline void writer_u32(struct writer *writer, uint32_t value)
{
	memcpy(writer->buffer + writer->used, &value, sizeof(value));
	writer->used += sizeof(value);
}

static inline void writer_u64(struct writer *writer, uint64_t value)
{
	memcpy(writer->buffer + writer->used, &value, sizeof(value));
	writer->used += sizeof(value);
}

/* writer_end - write the headers. @type, @misc: PERF_RECORD_* */
static inline struct ring_record writer_end(struct writer *writer, uint32_t type, uint16_t misc, uint32_t tid)
{
	const uint16_t bytes = (uint16_t)(writer->used - WIRE_HEADROOM - WRITER_COUNT);
	const struct perf_event_header header = { .type = type, .misc = misc, .size = bytes };
	const struct ring_record record = { writer->buffer, (uint32_t)(writer->used - WIRE_HEADROOM +
								       sizeof(struct wire_compact)) };
	const uint64_t zeros = 0;

	memcpy(writer->buffer + WIRE_HEADROOM, &bytes, sizeof(bytes));
	memcpy(writer->buffer + WIRE_HEADROOM + WRITER_COUNT, &header, sizeof(header));
	memcpy(writer->buffer + writer->used, &zeros, sizeof(zeros));
	ring_prepare(writer->buffer, WIRE_PRELOAD_ID, record.length, tid);
	return record;
}

#endif
