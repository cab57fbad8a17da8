/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Demangling by GNU libiberty; see demangle.h. */
#include <string.h>

#include <libiberty/demangle.h>

#include "image/names/demangle.h"

static const char ellipsis[] = "…";

enum {
	FULL = DEMANGLE_OUT_MAX - sizeof(ellipsis),
	KEPT = FULL + 1, /* with the next byte, which shows whether a character ends before it */
	LIMITED_MAX = 1000,
};

struct out {
	char *text;
	size_t bytes; /* of the whole text; those after KEPT are dropped */
};

static void demangle_append(const char *text, size_t bytes, void *data)
{
	struct out *out = data;

	if (bytes && out->bytes < KEPT) { /* for 0 bytes, the library passes no address */
		const size_t room = KEPT - out->bytes;

		memcpy(out->text + out->bytes, text, bytes < room ? bytes : room);
	}
	out->bytes += bytes;
}

/* The library's own limit refuses names of more than about 1000 characters, which templates often have. */
static int options_for(size_t bytes)
{
	return DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP | (bytes > LIMITED_MAX ? DMGL_NO_RECURSE_LIMIT : 0);
}

static size_t demangle_ellipsize(struct out *out)
{
	size_t bytes = out->bytes;

	if (bytes > FULL) {
		bytes = FULL;
		while (bytes && (out->text[bytes] & 0xc0) == 0x80) /* not within a character of UTF-8 */
			bytes--;
		memcpy(out->text + bytes, ellipsis, sizeof(ellipsis) - 1);
		bytes += sizeof(ellipsis) - 1;
	}
	out->text[bytes] = 0;
	return bytes;
}

size_t demangle(char text[DEMANGLE_OUT_MAX], const char *name)
{
	const size_t bytes = strnlen(name, DEMANGLE_IN_MAX);
	const int options = options_for(bytes);
	struct out out = { .text = text };

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || bytes == DEMANGLE_IN_MAX)
		return 0;
	if (rust_demangle_callback(name, options, demangle_append, &out))
		return demangle_ellipsize(&out);
	out.bytes = 0;
	if (name[1] == 'Z' && cplus_demangle_v3_callback(name, options, demangle_append, &out))
		return demangle_ellipsize(&out);
	return 0;
}
