/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of events that there are not; see unknown_events.h. */
#include <string.h>

#include "cmd/cmd.h"
#include "base/edit_distance.h"
#include "cmd/unknown_events.h"
#include "source/perf/rings/perf.h"

/* Return: the name that was meant; NULL: none is near. */
static const char *unknown_events_nearest(const struct listing *listing, const char *name)
{
	const char *found = NULL;
	unsigned best = 0;

	for (unsigned n = 0; n < listing->count; n++)
		if (edit_distance_nearer(name, listing->events[n].name, &best))
			found = listing->events[n].name;
	return found;
}

static bool unknown_events_is_known(const struct listing *listing, const char *name)
{
	for (unsigned n = 0; n < listing->count; n++)
		if (strcmp(listing->events[n].name, name) == 0)
			return true;
	return strpbrk(name, "*?[") || strncmp(name, "burin.", 6) == 0;
}

static void unknown_events_report(const struct listing *listing, const char *name, const char *who,
				  const char *later)
{
	const char *meant = unknown_events_nearest(listing, name);
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
		if (unknown_events_is_known(listing, *names))
			continue;
		unknown_events_report(listing, *names, who, later);
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
