/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shell-like patterns for names of events: `*` any bytes, `?` one byte, `[a-z]` one of a set, `[!a-z]` or
 * `[^a-z]` none of it. Anything else stands for itself, a `[` that is never closed too.
 */
#ifndef BURIN_BASE_GLOB_H
#define BURIN_BASE_GLOB_H

#include <stdbool.h>

/*
 * glob_match - whether the whole text fits the pattern. Case counts.
 *
 * Context: any, signal-safe; allocates nothing. Takes at most strlen(pattern) * strlen(text) steps, whatever
 * the pattern.
 */
bool glob_match(const char *pattern, const char *text);

#endif
