/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How far a name is from one that was meant; see edit_distance.h. */
#include <string.h>

#include "base/edit_distance.h"

enum {
	BYTES_MOST = 128, /* of a name that are compared */
	CLOSE_MOST = 3,	  /* bytes that differ in a slip, ... */
	CLOSE_PART = 3,	  /* ... and one in so many */
};

static unsigned edit_distance_least(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

/* Row n has the distances of n bytes of the one name from each begin of the other. */
unsigned edit_distance(const char *one, const char *other)
{
	unsigned rows[3][BYTES_MOST + 1];
	const size_t length = strnlen(one, BYTES_MOST), width = strnlen(other, BYTES_MOST);

	for (unsigned at = 0; at <= width; at++)
		rows[0][at] = at;
	for (unsigned n = 1; n <= length; n++) {
		const unsigned *before = rows[(n + 2) % 3], *earlier = rows[(n + 1) % 3];
		unsigned *row = rows[n % 3];

		row[0] = n;
		for (unsigned at = 1; at <= width; at++) {
			row[at] = edit_distance_least(edit_distance_least(row[at - 1], before[at]) + 1,
						      before[at - 1] + (one[n - 1] != other[at - 1]));
			if (n > 1 && at > 1 && one[n - 1] == other[at - 2] && one[n - 2] == other[at - 1])
				row[at] = edit_distance_least(row[at], earlier[at - 2] + 1);
		}
	}
	return rows[length % 3][width];
}

/* Whether so many bytes more or less are no slip: then nothing has to be compared. */
static bool is_far(const char *name, const char *other)
{
	const size_t one = strnlen(name, BYTES_MOST), two = strnlen(other, BYTES_MOST);

	return (one > two ? one - two : two - one) > CLOSE_MOST;
}

bool edit_distance_nearer(const char *name, const char *other, unsigned *best)
{
	const unsigned distance = is_far(name, other) ? BYTES_MOST : edit_distance(name, other);

	if (distance > CLOSE_MOST || distance * CLOSE_PART > strlen(name) || (*best && distance >= *best))
		return false;
	*best = distance;
	return true;
}
