/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The record, byte for byte the same in the ring and on disk (docs/format.md, "Record").
 *
 * A record begins at a multiple of 8 bytes within its packet. `length` counts the bytes of header and payload, without
 * the zero padding up to the next multiple of 8. To a CTF reader `length` is alignment padding between the id and the
 * timestamp.
 *
 * There are two forms. The compact one has the low 32 bits of the clock. The extended one has all 64; it is for a record
 * that comes 2^32 ticks or more after the packet's time base (see wire_packet.h). The extended header is 8 bytes longer
 * and begins 8 bytes earlier, so tid and payload are at the same address for both: a writer prepares one buffer with
 * WIRE_HEADROOM bytes before the payload and chooses the form inside the append.
 */
#ifndef BURIN_WIRE_WIRE_RECORD_H
#define BURIN_WIRE_WIRE_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_ID_MAX = 65533,	  /* the largest id of an event; ids begin at 1, 0 marks unused bytes */
	WIRE_ID_CLOSED = 65534,	  /* not a record: the rest of this packet is unused (ring only) */
	WIRE_ID_EXTENDED = 65535, /* the id and the time follow in full */

	WIRE_ALIGN = 8,
	WIRE_HEADROOM = 20,	 /* bytes before the payload in a writer's buffer; the buffer is 8-aligned */
	WIRE_LENGTH_MAX = 65528, /* largest record, header included */
};

struct wire_compact {
	uint16_t id; /* 1..WIRE_ID_MAX */
	uint16_t length;
	uint32_t time; /* low 32 bits of the clock */
	uint32_t tid;
	/* payload */
};

struct wire_extended {
	uint16_t tag; /* WIRE_ID_EXTENDED */
	uint16_t length;
	uint32_t id;
	uint32_t time_low; /* two halves: the field is 4-aligned in CTF, and the payload begins at 20 */
	uint32_t time_high;
	uint32_t tid;
	/* payload */
};

static_assert(sizeof(struct wire_compact) == 12, "wire_compact");
static_assert(offsetof(struct wire_compact, length) == 2, "wire_compact.length");
static_assert(offsetof(struct wire_compact, time) == 4, "wire_compact.time");
static_assert(offsetof(struct wire_compact, tid) == 8, "wire_compact.tid");
static_assert(sizeof(struct wire_extended) == 20, "wire_extended");
static_assert(offsetof(struct wire_extended, id) == 4, "wire_extended.id");
static_assert(offsetof(struct wire_extended, time_low) == 8, "wire_extended.time_low");
static_assert(offsetof(struct wire_extended, tid) == 16, "wire_extended.tid");
static_assert(sizeof(struct wire_extended) - sizeof(struct wire_compact) == WIRE_ALIGN, "payloads coincide");
static_assert(WIRE_HEADROOM == sizeof(struct wire_extended), "headroom");

/* Bytes from the start of a record of this length to the start of the next. */
static inline uint32_t wire_stride(uint32_t length)
{
	return (length + WIRE_ALIGN - 1) & ~(uint32_t)(WIRE_ALIGN - 1);
}

#endif
