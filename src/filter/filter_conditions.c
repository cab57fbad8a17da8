/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions for several events; see filter_conditions.h. */
#include "filter/filter_conditions.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"

/*
 * The bytes of the glob, with its colon; 0: there is none. A colon ends no word of an expression, and no word in a string counts, since a
 * string does not begin an event's glob.
 */
static size_t glob_bytes(const char *condition)
{
	const size_t word = strcspn(condition, " \t\n\"");

	return word > 1 && condition[word - 1] == ':' && condition[word] != '"' ? word : 0;
}

bool filter_condition_fits(const char *condition, const char *event)
{
	const size_t bytes = glob_bytes(condition);
	char glob[FILTER_CONDITIONS_MAX];

	if (!bytes)
		return true;
	if (bytes > sizeof(glob))
		return false;
	memcpy(glob, condition, bytes - 1);
	glob[bytes - 1] = 0;
	return strcmp(glob, event) == 0 || glob_match(glob, event);
}

bool filter_conditions_join(const char *const *conditions, const char *event, char *out)
{
	const char *first = NULL;
	size_t used = 0;
	int bytes;

	*out = 0;
	for (; *conditions; conditions++) {
		const char *expression = *conditions + glob_bytes(*conditions);

		if (!filter_condition_fits(*conditions, event))
			continue;
		expression += strspn(expression, " \t\n");
		/* One alone stays as it is: marks under errors are at its places. */
		if (!first)
			bytes = snprintf(out, FILTER_CONDITIONS_MAX, "%s", expression);
		else if (used == strlen(first))
			bytes = snprintf(out, FILTER_CONDITIONS_MAX, "(%s) && (%s)", first, expression);
		else
			bytes = snprintf(out + used, FILTER_CONDITIONS_MAX - used, " && (%s)", expression);
		used = first && used != strlen(first) ? used + (size_t)bytes : (size_t)bytes;
		first = first ? first : expression;
		if (used >= FILTER_CONDITIONS_MAX)
			return false;
	}
	return true;
}
