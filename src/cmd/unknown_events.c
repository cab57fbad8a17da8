/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of events that there are not; see unknown_events.h. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/unknown_events.h"
#include "source/perf/rings/perf.h"

enum {
	BYTES_MOST = 128, /* of a name that are compared */
	CLOSE_MOST = 3,	  /* bytes that differ in a slip, ... */
	CLOSE_PART = 3,	  /* ... and one in so many */
};

static unsigned least(unsigned one, unsigned other)
{
	return one < other ? one : other;
}

/*
 * How many bytes must be inserted, removed or replaced, or neighbours swapped, to make one name of the other. Row n has the
 * distances of n bytes of the one from each begin of the other.
 */
static unsigned distance_of(const char *one, const char *other)
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
			row[at] = least(least(row[at - 1], before[at]) + 1,
					before[at - 1] + (one[n - 1] != other[at - 1]));
			if (n > 1 && at > 1 && one[n - 1] == other[at - 2] && one[n - 2] == other[at - 1])
				row[at] = least(row[at], earlier[at - 2] + 1);
		}
	}
	return rows[length % 3][width];
}

/* Return: the name that was meant; NULL: none is near. */
static const char *nearest(const struct listing *listing, const char *name)
{
	const char *found = NULL;
	unsigned best = CLOSE_MOST + 1;

	for (unsigned n = 0; n < listing->count; n++) {
		const unsigned distance = distance_of(name, listing->events[n].name);

		if (distance < best && distance * CLOSE_PART <= strlen(name)) {
			best = distance;
			found = listing->events[n].name;
		}
	}
	return found;
}

static bool is_known(const struct listing *listing, const char *name)
{
	for (unsigned n = 0; n < listing->count; n++)
		if (strcmp(listing->events[n].name, name) == 0)
			return true;
	return strpbrk(name, "*?[") || strncmp(name, "burin.", 6) == 0;
}

static void report(const struct listing *listing, const char *name, const char *who, const char *later)
{
	const char *meant = nearest(listing, name);
	struct perf_choice choice;
	char why[256];

	if (meant)
		cmd_failed("%s: %s has no event of this name; did you mean %s?", name, who, meant);
	else if (strchr(name, ':'))
		cmd_failed("%s: %s has no event of this name; for one of the kernel: burin record -k %s",
			   name, who, name);
	else if (perf_event_find(&choice, name, why, sizeof(why)) == 0)
		cmd_failed("%s: %s has no event of this name; for samples: burin record --sample-event %s",
			   name, who, name);
	else if (later)
		cmd_failed("%s: %s has no event of this name; if it is registered later, %s", name, who,
			   later);
	else
		cmd_failed("%s: %s had no event of this name; burin info lists them", name, who);
}

unsigned unknown_events(const struct listing *listing, const char *const *names, const char *who,
			const char *later)
{
	unsigned count = 0;

	for (; *names; names++) {
		if (is_known(listing, *names))
			continue;
		report(listing, *names, who, later);
		count++;
	}
	return count;
}

unsigned unknown_events_of(struct session *session, const char *const *names, const char *who,
			   const char *later)
{
	struct listing listing;
	unsigned count;

	if (listing_read(&listing, session) != 0)
		return 0;
	count = unknown_events(&listing, names, who, later);
	listing_free(&listing);
	return count;
}
