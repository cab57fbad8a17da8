/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opens the tables that the samples of a trace refer to.
 *
 * The recorder may still be writing. So a table is read before those that it refers to, which can only have
 * become longer meanwhile: contexts, then stacks, tasks and symbols, then images. Of a split recording, the entries
 * of all chunks are read, and numbered through; only the images go on from chunk to chunk, so the newest has all.
 */
#include <errno.h>
#include <stdlib.h>

#include "read/profile_parts.h"

static int load(struct burin_profile *profile)
{
	static int (*const tables[])(struct burin_profile *) = { read_sample_contexts_load, read_stacks_load,
								 read_tasks_load, read_symbols_load,
								 read_images_load };
	int result = read_profile_values_load(profile);
	bool samples = profile->has_values;

	if (!result)
		result = read_sample_events_load(profile);
	for (unsigned n = 0; n < profile->trace->event_count && !result; n++)
		samples |= profile->events[n].sample;
	if (!result && !samples)
		return -ENODATA;
	/* The recorder writes this file when it has copied the tables. */
	profile->newest = read_table_newest(profile->trace, ".burin/profile");
	for (unsigned n = 0; n < sizeof(tables) / sizeof(*tables) && !result; n++)
		result = tables[n](profile);
	if (!result)
		read_sample_contexts_join(profile);
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
