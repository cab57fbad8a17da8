/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Serialize records with strings or byte arrays before they are appended.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_FIELDS_SERIALIZE_H
#define BURIN_SOURCE_TRACEPOINT_FIELDS_SERIALIZE_H

#include <stdint.h>

/* The session's limit for strings and byte arrays, in bytes without NUL; set by process.c. */
extern __attribute__((visibility("hidden"))) uint32_t burin_string_max;

/*
 * serialize_careful - never read beyond the end of a string; slower.
 * For tools such as valgrind, which report reads in the rest of a page. Call it before the first record. A missing rseq
 * is a good hint that such a tool runs.
 */
void serialize_careful(void);

#endif
