/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads foreign bytes in order. A read beyond the end returns 0 and marks the bytes as broken, so callers check once, at
 * the end.
 */
#ifndef BURIN_IMAGE_UNWIND_UNWIND_BYTES_H
#define BURIN_IMAGE_UNWIND_UNWIND_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/leb128.h"

struct bytes {
	const unsigned char *at, *end;
	bool broken;
};

static inline uint64_t bytes_left(const struct bytes *bytes)
{
	return (uint64_t)(bytes->end - bytes->at);
}

static inline void bytes_break(struct bytes *bytes)
{
	bytes->at = bytes->end;
	bytes->broken = true;
}

/* The next @size bytes, as bytes of their own. */
static inline struct bytes bytes_take(struct bytes *bytes, uint64_t size)
{
	struct bytes part;

	if (size > bytes_left(bytes)) {
		bytes_break(bytes);
		return *bytes;
	}
	part = (struct bytes){ .at = bytes->at, .end = bytes->at + size };
	bytes->at += size;
	return part;
}

/* A number of 1, 2, 4 or 8 bytes, in this machine's order (other tables are refused at opening). */
static inline uint64_t bytes_number(struct bytes *bytes, unsigned size)
{
	const struct bytes part = bytes_take(bytes, size);
	uint8_t one;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	if (part.broken)
		return 0;
	switch (size) {
	case 1:
		memcpy(&one, part.at, 1);
		return one;
	case 2:
		memcpy(&two, part.at, 2);
		return two;
	case 4:
		memcpy(&four, part.at, 4);
		return four;
	default:
		memcpy(&eight, part.at, 8);
		return eight;
	}
}

static inline uint64_t bytes_extended(uint64_t value, unsigned size)
{
	const unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* The same, with a sign. */
static inline uint64_t bytes_signed(struct bytes *bytes, unsigned size)
{
	return bytes_extended(bytes_number(bytes, size), size);
}

static inline uint64_t bytes_uleb(struct bytes *bytes)
{
	uint64_t value;
	const unsigned char *next = leb128_get(bytes->at, bytes->end, &value);

	if (!next) {
		bytes_break(bytes);
		return 0;
	}
	bytes->at = next;
	return value;
}

/* Signed LEB128, as two's complement: the highest bit that is present is the sign. */
static inline uint64_t bytes_sleb(struct bytes *bytes)
{
	uint64_t value = 0, byte = 0x80;
	unsigned shift = 0;

	while (byte & 0x80 && shift < 64) {
		byte = bytes_number(bytes, 1);
		value |= (byte & 0x7f) << shift;
		shift += 7;
	}
	if (byte & 0x80)
		bytes_break(bytes);
	if (shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return value;
}

#endif
