/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unsigned LEB128: numbers of variable length, seven bits a byte, the lowest first. */
#ifndef BURIN_BASE_LEB128_H
#define BURIN_BASE_LEB128_H

#include <stddef.h>
#include <stdint.h>

enum {
	LEB128_MAX = 10, /* bytes of a number */
};

/* Return: the position behind the last byte. */
static inline unsigned char *leb128_put(unsigned char *out, uint64_t value)
{
	while (value >= 0x80) {
		*out++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*out++ = (unsigned char)value;
	return out;
}

/* Return: the position behind the last byte; NULL: there is no number of at most 64 bits before `end`. */
static inline const unsigned char *leb128_get(const unsigned char *at, const unsigned char *end,
					      uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		const uint64_t bits = *at & 0x7f;

		if (shift == 63 && bits > 1)
			return NULL;
		*value |= bits << shift;
		if (!(*at++ & 0x80))
			return at;
	}
	return NULL;
}

/* Map a signed number, modulo 2^64, to an unsigned one, so that numbers near 0 are small; and back. */
static inline uint64_t leb128_fold(uint64_t value)
{
	return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t leb128_unfold(uint64_t folded)
{
	return folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);
}

#endif
