/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions for several events; see filter_conditions.h. */
#include "filter/filter_conditions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "filter/filter_compile.h"

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

const char *filter_condition_expression(const char *condition)
{
	const char *expression = condition + glob_bytes(condition);

	return expression + strspn(expression, " \t\n");
}

/* Append an expression to those before it. Return: false: they are too long. */
static bool append_condition(char *out, const char *expression)
{
	const size_t used = strlen(out), bytes = strlen(expression);
	const char *between = used ? " && " : "";

	if (used + bytes + strlen(between) + 3 > FILTER_CONDITIONS_MAX)
		return false;
	snprintf(out + used, FILTER_CONDITIONS_MAX - used, "%s(%s)", between, expression);
	return true;
}

/* One alone stays as it is: marks under errors are at its places. So does one that is wrong: in parentheses it might become a part of others. */
int filter_conditions_join(const char *const *conditions, const char *event, char *out)
{
	const char *last = NULL;
	struct filter_error fault;
	int count = 0;

	*out = 0;
	for (; *conditions; conditions++) {
		if (!filter_condition_fits(*conditions, event))
			continue;
		last = filter_condition_expression(*conditions);
		if (filter_check(last, &fault) != 0) {
			count = 1;
			break;
		}
		if (!append_condition(out, last))
			return -E2BIG;
		count++;
	}
	if (count != 1)
		return count;
	if (strlen(last) >= FILTER_CONDITIONS_MAX)
		return -E2BIG;
	strcpy(out, last);
	return 1;
}
