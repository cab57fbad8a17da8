/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Spots: which task and which stack a sample refers to; the table `spots`. */
#include <errno.h>

#include "read/profile.h"

static int take_spot(void *data, struct read_entry *entry)
{
	struct read_spot spot;

	(void)data;
	spot.task = (uint32_t)read_entry_number(entry, UINT32_MAX, "the task's number has more than 32 bits");
	spot.stack =
		(uint32_t)read_entry_number(entry, UINT32_MAX, "the stack's number has more than 32 bits");
	if (!entry->reason)
		*(struct read_spot *)entry->row = spot;
	return 0;
}

int read_spots_load(struct burin_profile *profile)
{
	const struct read_table table = { ".burin/spots", WIRE_TABLE_SPOTS, 2, sizeof(struct read_spot), 2,
					  take_spot };

	return read_table_load(profile->trace, &table, profile, (void **)&profile->spots,
			       &profile->spot_count);
}

uint32_t burin_profile_spots(const struct burin_profile *profile)
{
	return profile->spot_count;
}

int burin_profile_spot(const struct burin_profile *profile, uint32_t number, uint32_t *task, uint32_t *stack)
{
	const struct read_spot *spot;

	*task = *stack = 0;
	if (number - 1 >= profile->spot_count)
		return -ENOENT;
	spot = &profile->spots[number - 1];
	*task = spot->task;
	*stack = spot->stack;
	return 0;
}
