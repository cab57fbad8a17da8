/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of the fields of a context; see wire_context.h. */
#include <string.h>

#include "wire/wire_context.h"

static const char *const names[] = { "correlation", "depth" };

enum {
	NAMES = sizeof(names) / sizeof(names[0]),
};

bool context_parse(const char *text, uint32_t *context)
{
	uint32_t found = 0;

	for (size_t bytes;; text += bytes + 1) {
		unsigned n = 0;

		bytes = strcspn(text, ",");
		while (n < NAMES && (strlen(names[n]) != bytes || memcmp(names[n], text, bytes) != 0))
			n++;
		if (n == NAMES)
			return false;
		found |= 1u << n;
		if (!text[bytes])
			break;
	}
	*context = found;
	return true;
}

const char *context_text(uint32_t context, char *text)
{
	text[0] = 0;
	for (unsigned n = 0; n < NAMES; n++)
		if (context & 1u << n)
			strcat(strcat(text, *text ? "," : ""), names[n]);
	return text;
}
