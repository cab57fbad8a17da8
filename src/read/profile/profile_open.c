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

#include "read/profile/profile_parts.h"

static const struct read_profile_files sample_files = { ".burin/images", ".burin/stacks", ".burin/symbols" },
				       call_files = { ".burin/calls.images", ".burin/calls.functions",
						      ".burin/calls.symbols" };

static int profile_open_load(struct burin_profile *profile)
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

/* Of calls there are the functions, which are stacks of one frame, with their images and names. */
static int load_calls(struct burin_profile *profile)
{
	int result = read_stacks_load(profile);

	if (!result && !profile->stack_count)
		return -ENODATA;
	profile->newest = read_table_newest(profile->trace, profile->files->images);
	if (!result)
		result = read_symbols_load(profile);
	return result ? result : read_images_load(profile);
}

static int open_files(struct burin_profile **profile, const struct burin_trace *trace,
		      const struct read_profile_files *files)
{
	struct burin_profile *made = calloc(1, sizeof(*made));
	int result;

	*profile = NULL;
	if (!made)
		return -ENOMEM;
	made->trace = trace;
	made->files = files;
	result = files == &call_files ? load_calls(made) : profile_open_load(made);
	if (result)
		burin_profile_close(made);
	else
		*profile = made;
	return result;
}

int burin_profile_open(struct burin_profile **profile, const struct burin_trace *trace)
{
	return open_files(profile, trace, &sample_files);
}

int read_call_functions_open(struct burin_profile **profile, const struct burin_trace *trace)
{
	return open_files(profile, trace, &call_files);
}
