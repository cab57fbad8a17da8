/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The memory of a profile: how much it is, and how it is freed. */
#include <stdlib.h>

#include "read/profile/profile_parts.h"

uint64_t read_profile_memory(const void *data)
{
	const struct burin_profile *profile = data;

	return profile->task_count * sizeof(*profile->tasks) +
	       profile->image_count * sizeof(*profile->images) +
	       profile->stack_count * sizeof(*profile->stacks) +
	       profile->context_count * sizeof(*profile->contexts) +
	       profile->locations.room * sizeof(struct read_location) +
	       profile->location_numbers.room * sizeof(struct hash_slot) +
	       profile->functions.room * sizeof(struct read_function) +
	       profile->texts.room *
		       (sizeof(const char *) + sizeof(*profile->text_same) + 2 * sizeof(struct hash_slot)) +
	       profile->states.room * sizeof(struct read_image_state) +
	       profile->ranges.room * sizeof(struct read_range) + profile->arena.bytes;
}

void burin_profile_close(struct burin_profile *profile)
{
	if (!profile)
		return;
	read_recording_free(&profile->values);
	arena_free(&profile->arena);
	free(profile->events);
	free(profile->tasks);
	free(profile->images);
	free(profile->stacks);
	free(profile->contexts);
	free(profile->context_bases);
	free(profile->task_bases);
	free(profile->stack_bases);
	free(profile->locations.items);
	hash_table_free(&profile->location_numbers);
	free(profile->functions.items);
	free(profile->texts.items);
	free(profile->text_same);
	free(profile->states.items);
	free(profile->ranges.items);
	free(profile);
}
