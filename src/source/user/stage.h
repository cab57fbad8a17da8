/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The stage: where a record with strings or byte arrays is put together before it is appended (stage.c).
 */
#ifndef BURIN_SOURCE_USER_STAGE_H
#define BURIN_SOURCE_USER_STAGE_H

#include <stdint.h>

/* The session's limit for strings and byte arrays, in bytes without NUL. Kept by emit.c. */
extern __attribute__((visibility("hidden"))) uint32_t burin_string_max;

/*
 * stage_types - a site's types as they will be recorded.
 * @format: the site's
 * @types: as the compiler saw them: every pointer to characters is a str
 *
 * Only the format tells whether a `char *` is text (%s) or an address (%p): under %p it becomes a ptr. To be
 * called, and its result stored in the site, before an event is registered and before it is switched on.
 *
 * Context: any thread; allocates nothing.
 * Return: the types; unchanged where the format is faulty, which format_parse then says.
 */
uint64_t stage_types(const char *format, uint64_t types);

/*
 * stage_careful - never read beyond the end of a string, at the price of speed.
 * For valgrind and the like, which do not know that a page's rest may be read. Call it before the first
 * record; where the kernel offers no rseq is a good hint.
 */
void stage_careful(void);

#endif
