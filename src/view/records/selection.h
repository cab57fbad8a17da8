/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Selections of records and samples, by number and by name. An empty set or list selects everything. */
#ifndef BURIN_VIEW_RECORDS_SELECTION_H
#define BURIN_VIEW_RECORDS_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller owns the arrays. */
struct view_set {
	uint64_t *numbers;
	size_t count, room;
};

struct view_globs {
	const char **globs;
	size_t count, room;
};

static inline bool view_set_has(const struct view_set *set, uint64_t number)
{
	for (size_t n = 0; n < set->count; n++)
		if (set->numbers[n] == number)
			return true;
	return !set->count;
}

/* Whether a text is equal to one of the globs, or matches one. */
bool view_globs_match(const struct view_globs *globs, const char *text);

#endif
