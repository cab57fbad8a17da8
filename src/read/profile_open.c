/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opening what the samples of a trace refer to, in the order that matters, and closing it.
 *
 * Beside a recorder that is still writing, a table is read before those that it refers to, since these may only
 * have become longer meanwhile: spots, then stacks, tasks and symbols, then images.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/profile.h"

static int load(struct burin_profile *profile)
{
	static int (*const tables[])(struct burin_profile *) = { read_spots_load, read_stacks_load,
								 read_tasks_load, read_symbols_load,
								 read_images_load };
	int result = read_profile_values_load(profile);
	bool samples = profile->told;

	if (!result)
		result = read_sample_events_load(profile);
	for (unsigned n = 0; n < profile->trace->event_count && !result; n++)
		samples |= profile->events[n].sample;
	if (!result && !samples)
		return -ENODATA;
	for (unsigned n = 0; n < sizeof(tables) / sizeof(*tables) && !result; n++)
		result = tables[n](profile);
	return result;
}

int burin_profile_open(struct burin_profile **profile, const struct burin_trace *trace)
{
	struct burin_profile *made = calloc(1, sizeof(*made));
	int result;

	*profile = NULL;
	if (!made)
		return -ENOMEM;
	made->trace = trace;
	result = load(made);
	if (result)
		burin_profile_close(made);
	else
		*profile = made;
	return result;
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
	free(profile->spots);
	free(profile->places.items);
	free(profile->place_index);
	free(profile->functions.items);
	free(profile->texts.items);
	free(profile->text_same);
	free(profile->states.items);
	free(profile->ranges.items);
	free(profile);
}
