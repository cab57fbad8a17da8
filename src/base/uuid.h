/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* UUIDs as text. */
#ifndef BURIN_BASE_UUID_H
#define BURIN_BASE_UUID_H

#include <stdint.h>

enum {
	UUID_TEXT = 37, /* bytes of the text, NUL included */
};

static inline void uuid_text(const uint8_t *uuid, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned n = 0; n < 16; n++) {
		if (n == 4 || n == 6 || n == 8 || n == 10)
			*text++ = '-';
		*text++ = digits[uuid[n] >> 4];
		*text++ = digits[uuid[n] & 15];
	}
	*text = 0;
}

#endif
