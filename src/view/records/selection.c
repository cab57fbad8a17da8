/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Selection by name; see selection.h. */
#include <string.h>

#include "base/glob.h"
#include "view/records/selection.h"

bool view_globs_match(const struct view_globs *globs, const char *text)
{
	for (size_t n = 0; n < globs->count; n++)
		if (!strcmp(globs->globs[n], text) || glob_match(globs->globs[n], text))
			return true;
	return !globs->count;
}
