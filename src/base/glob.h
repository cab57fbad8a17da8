/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shell-like patterns for names of events: `*` any bytes, `?` one byte, `[a-z]` one byte of a set, `[!a-z]` or `[^a-z]`
 * one byte not of it. All other bytes stand for themselves, also a `[` without `]`.
 */
#ifndef BURIN_BASE_GLOB_H
#define BURIN_BASE_GLOB_H

#include <stdbool.h>

/*
 * glob_match - whether the whole text matches the pattern, case-sensitive.
 *
 * Context: any, signal-safe; allocates nothing. Takes at most strlen(pattern) * strlen(text) steps for any pattern.
 */
bool glob_match(const char *pattern, const char *text);

#endif
