/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks and their locations; the table `stacks`.
 *
 * A caller's number is always smaller than that of its frame, so every walk ends, even in a damaged file. A stack
 * deeper than the format allows loses its outermost frames: that limits the time of many walks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/containers/hash.h"
#include "read/profile/profile_parts.h"
#include "wire/wire_terms.h"

uint32_t read_location_find(struct burin_profile *profile, uint32_t image, uint64_t offset)
{
	const uint64_t hash = hash_pair(offset, image);
	struct read_location *location;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&profile->location_numbers, hash, &at));) {
		location = read_location_at(profile, number);
		if (location->image == image && location->offset == offset)
			return number;
	}
	if (!hash_table_reserve(&profile->location_numbers))
		return 0;
	location = read_vector_add(&profile->locations, sizeof(*location));
	if (!location)
		return 0;
	location->image = image;
	location->offset = offset;
	number = (uint32_t)profile->locations.count;
	hash_table_add(&profile->location_numbers, hash, number);
	return number;
}

/* ---- Stacks ---- */

static int profile_locations_take_stack(void *data, struct read_entry *entry)
{
	struct burin_profile *profile = data;
	struct read_stack *stack = entry->row, *rows = stack - (entry->number - 1), *caller;
	uint64_t up = read_entry_number(entry, entry->own, "its caller would be before the first entry");
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint64_t offset = read_entry_number(entry, UINT64_MAX, "");

	if (!entry->reason && !up)
		entry->reason = "it is its own caller";
	if (entry->reason)
		return 0;
	stack->location = read_location_find(profile, image, offset);
	stack->depth = 1;
	if (up < entry->own) {
		caller = &rows[entry->number - up - 1];
		if (caller->location && caller->depth <= WIRE_DEPTH_MAX) {
			stack->caller = entry->number - (uint32_t)up;
			stack->depth = caller->depth + 1;
		} else if (profile->trace->strict) {
			read_fault(profile->trace, BURIN_FAULT_TABLE, profile->files->stacks, entry->number,
				   "entry %u: %s", entry->number,
				   caller->location ? "the stack is deeper than 1024 frames"
						    : "its caller cannot be read");
		}
	}
	return stack->location ? 0 : -ENOMEM;
}

int read_stacks_load(struct burin_profile *profile)
{
	const struct read_table table = {
		profile->files->stacks,	      WIRE_TABLE_STACKS,  3, sizeof(struct read_stack), 0,
		profile_locations_take_stack, read_profile_memory
	};

	return read_tables_load(profile->trace, &table, profile, (void **)&profile->stacks,
				&profile->stack_bases, &profile->stack_count);
}

/* ---- Public functions ---- */

uint32_t burin_profile_stacks(const struct burin_profile *profile)
{
	return profile->stack_count;
}

uint32_t burin_profile_locations(const struct burin_profile *profile)
{
	return (uint32_t)profile->locations.count;
}

int burin_profile_stack(const struct burin_profile *profile, uint32_t number, struct burin_stack *stack)
{
	const struct read_stack *entry;

	if (number - 1 >= profile->stack_count || !profile->stacks[number - 1].location)
		return -ENOENT;
	entry = &profile->stacks[number - 1];
	*stack = (struct burin_stack){ entry->location, entry->caller, entry->depth };
	return 0;
}

int burin_profile_location(const struct burin_profile *profile, uint32_t number,
			   struct burin_location *location)
{
	const struct read_location *entry = read_location_at(profile, number);

	if (!entry)
		return -ENOENT;
	*location = (struct burin_location){ .image = entry->image,
					     .truncation = entry->image ? BURIN_TRUNCATION_NONE
							   : entry->offset < BURIN_TRUNCATIONS
								   ? (unsigned)entry->offset
								   : BURIN_TRUNCATIONS,
					     .offset = entry->offset,
					     .begin = entry->begin,
					     .size = entry->size,
					     .frames = entry->frames };
	return 0;
}

const char *burin_truncation_name(unsigned truncation)
{
	return truncation < BURIN_TRUNCATIONS ? wire_truncation_terms[truncation].text : "?";
}

char *burin_profile_address(const struct burin_profile *profile, uint32_t location, char *text, size_t size)
{
	const struct read_location *entry = read_location_at(profile, location);
	const char *name;

	if (!entry) {
		snprintf(text, size, "[unknown]");
	} else if (!entry->image) {
		snprintf(text, size, "[%s]",
			 burin_truncation_name(entry->offset < BURIN_TRUNCATIONS ? (unsigned)entry->offset
										 : BURIN_TRUNCATIONS));
	} else {
		name = burin_image_name(burin_profile_image(profile, entry->image));
		/* An address in memory that is made at run time means nothing in another run. */
		if (!strncmp(name, WIRE_IMAGE_MADE, sizeof(WIRE_IMAGE_MADE) - 1))
			snprintf(text, size, "%s", name);
		else
			snprintf(text, size, "%s+0x%" PRIx64, name,
				 entry->size ? entry->begin : entry->offset);
	}
	return text;
}
