/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which functions to leave out of a recording of calls: those whose calls make most of the records. */
#ifndef BURIN_VIEW_CALLS_SUGGEST_H
#define BURIN_VIEW_CALLS_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

#include "view/buffer.h"

struct call_suggest {
	const char *name;  /* NULL: unknown */
	const char *image; /* path */
	uint64_t offset, calls;
};

/*
 * call_suggest_print - print the options --no-calls of `burin record` that would save most records, one for each line,
 * with the share of calls that it saves. Few enough that the rest is readable: functions with less than 5 % are not named.
 * @functions: is sorted; functions with equal names are added up
 * @limit: at most so many options
 */
void call_suggest_print(struct call_suggest *functions, size_t count, unsigned limit,
			struct view_buffer *out);

#endif
