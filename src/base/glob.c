/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Match globs. Only the last star is remembered: when the pattern behind it fails, the star takes one byte more. A later
 * star makes the earlier one final: if the part between them matches at its first position, no later position can be
 * better. So there is no recursion and no exponential pattern.
 */
#include "base/glob.h"

#include <stddef.h>

/* Whether the set behind a '[' contains the byte. @end: receives the position behind its ']'; NULL: it has none. A ']'
 * directly at the beginning belongs to the set. */
static bool set_contains(const char *set, unsigned char byte, const char **end)
{
	bool negated = *set == '!' || *set == '^', found = false;

	if (negated)
		set++;
	for (const char *first = set; *set && (*set != ']' || set == first); set++) {
		unsigned char low = (unsigned char)*set, high = low;

		if (set[1] == '-' && set[2] && set[2] != ']') {
			high = (unsigned char)set[2];
			set += 2;
		}
		found |= low <= byte && byte <= high;
	}
	*end = *set ? set + 1 : NULL;
	return found != negated;
}

/*
 * Match one byte of text. Return: the pattern behind it; NULL: no match. A '[' from *open on is known to have no ']'.
 * Without this, a pattern of many '[' would be searched to its end for each of them, at each byte.
 */
static const char *match_one(const char *pattern, char byte, const char **open)
{
	const char *end;
	bool contains;

	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[' && (!*open || pattern < *open)) {
		contains = set_contains(pattern + 1, (unsigned char)byte, &end);
		if (end)
			return contains ? end : NULL;
		*open = pattern;
	}
	return *pattern == byte ? pattern + 1 : NULL;
}

bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL, *open = NULL;

	while (*text) {
		const char *next = NULL;

		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
			continue;
		}
		if (*pattern)
			next = match_one(pattern, *text, &open);
		if (next) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
