/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of stacks; see query_stacks.h. */
#include "query/query_stacks.h"

#include <stdlib.h>

#include "burin/profile.h"
#include "query/query_kinds.h"
#include "view/sched/sched_stacks.h"

const char *query_location_function(const struct query *query, uint32_t location, char *text, size_t bytes)
{
	struct burin_location found;

	if (!query->profile || burin_profile_location(query->profile, location, &found))
		return NULL;
	return sched_frame_name(query->profile, location, text, bytes);
}

const char *query_stack_function(const struct query *query, uint32_t stack, bool waiting, char *text,
				 size_t bytes)
{
	const struct view_pair pair = { .stack = stack, .state = waiting ? VIEW_WAITING : VIEW_RUNNING };
	struct burin_stack frame;

	if (!query->profile ||
	    burin_profile_stack(query->profile, view_own_frame(query->profile, &pair), &frame))
		return NULL;
	return query_location_function(query, frame.location, text, bytes);
}

/* Frames are numbered from the innermost one, and each has its depth. */
void query_stack_text(const struct query *query, uint32_t stack, struct view_buffer *out)
{
	struct burin_stack frame;
	uint32_t *locations;
	char text[QUERY_NAME];
	size_t count = 0, room;

	if (!query->profile || burin_profile_stack(query->profile, stack, &frame))
		return;
	room = frame.depth;
	locations = calloc(room + 1, sizeof(*locations));
	out->failed |= !locations;
	for (uint32_t number = stack; locations && count < room; number = frame.caller) {
		if (burin_profile_stack(query->profile, number, &frame))
			break;
		locations[count++] = frame.location;
	}
	while (count) {
		const char *name = query_location_function(query, locations[--count], text, sizeof(text));

		name = name ? name : "?";
		view_buffer_put(out, name, strlen(name));
		if (count)
			view_buffer_put(out, ";", 1);
	}
	free(locations);
}
