/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sizes as people write them: "64K", "16M", "1G", or a bare number of bytes. */
#ifndef BURIN_BASE_SIZE_H
#define BURIN_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* size_parse - whether the whole text is a size; suffixes are powers of 1024. Context: any; allocates nothing. */
static inline bool size_parse(const char *text, uint64_t *out)
{
	uint64_t value = 0;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	if (*text == 'K' || *text == 'k')
		shift = 10;
	else if (*text == 'M' || *text == 'm')
		shift = 20;
	else if (*text == 'G' || *text == 'g')
		shift = 30;
	if (text[shift != 0] || value > UINT64_MAX >> shift)
		return false;
	*out = value << shift;
	return true;
}

#endif
