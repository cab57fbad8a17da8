/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What records and samples are chosen by: numbers and names. Nothing given lets all through. */
#ifndef BURIN_VIEW_CHOOSE_H
#define BURIN_VIEW_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* The arrays are the caller's. */
struct view_set {
	uint64_t *numbers;
	unsigned count;
};

struct view_globs {
	const char **globs;
	unsigned count;
};

static inline bool view_set_has(const struct view_set *set, uint64_t number)
{
	for (unsigned n = 0; n < set->count; n++) {
		if (set->numbers[n] == number)
			return true;
	}
	return !set->count;
}

/* Whether a text is one of the globs to the letter, or fits one. */
bool view_globs_match(const struct view_globs *globs, const char *text);

#endif
