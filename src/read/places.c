/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks, and the places that they are made of; the table `stacks`.
 *
 * A caller's number is always smaller than that of its frame, so walks end, whatever the file says; and a stack
 * that is deeper than the format allows loses its outermost frames, so that many walks end soon.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "read/profile.h"

static size_t place_hash(uint32_t image, uint64_t offset)
{
	uint64_t hash = (offset + image * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);

	return hash ^ hash >> 32;
}

static int grow_index(struct burin_profile *profile)
{
	size_t room = profile->place_room ? 4 * profile->place_room : 1 << 14;
	const struct read_place *places = profile->places.items;
	uint32_t *index = calloc(room, sizeof(*index));

	if (!index)
		return -ENOMEM;
	for (size_t n = 0; n < profile->places.count; n++) {
		size_t at = place_hash(places[n].image, places[n].offset) & (room - 1);

		while (index[at])
			at = (at + 1) & (room - 1);
		index[at] = (uint32_t)n + 1;
	}
	free(profile->place_index);
	profile->place_index = index;
	profile->place_room = room;
	return 0;
}

uint32_t read_place_find(struct burin_profile *profile, uint32_t image, uint64_t offset)
{
	struct read_place *place;
	size_t at;

	if (2 * profile->places.count >= profile->place_room && grow_index(profile))
		return 0;
	for (at = place_hash(image, offset) & (profile->place_room - 1); profile->place_index[at];
	     at = (at + 1) & (profile->place_room - 1)) {
		place = read_place_at(profile, profile->place_index[at]);
		if (place->image == image && place->offset == offset)
			return profile->place_index[at];
	}
	place = read_vector_add(&profile->places, sizeof(*place));
	if (!place)
		return 0;
	place->image = image;
	place->offset = offset;
	profile->place_index[at] = (uint32_t)profile->places.count;
	return profile->place_index[at];
}

/* ---- Stacks ---- */

static int take_stack(void *data, struct read_entry *entry)
{
	struct burin_profile *profile = data;
	struct read_stack *stack = entry->row, *rows = stack - (entry->number - 1), *caller;
	uint64_t up = read_entry_number(entry, entry->number, "its caller would be before the first entry");
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint64_t offset = read_entry_number(entry, UINT64_MAX, "");

	if (!entry->reason && !up)
		entry->reason = "it is its own caller";
	if (entry->reason)
		return 0;
	stack->place = read_place_find(profile, image, offset);
	stack->depth = 1;
	if (up < entry->number) {
		caller = &rows[entry->number - up - 1];
		if (caller->place && caller->depth <= WIRE_DEPTH_MAX) {
			stack->caller = entry->number - (uint32_t)up;
			stack->depth = caller->depth + 1;
		} else if (profile->trace->strict) {
			read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/stacks", entry->number,
				   "entry %u: %s", entry->number,
				   caller->place ? "the stack is deeper than 1024 frames"
						 : "its caller cannot be read");
		}
	}
	return stack->place ? 0 : -ENOMEM;
}

int read_stacks_load(struct burin_profile *profile)
{
	const struct read_table table = { ".burin/stacks", WIRE_TABLE_STACKS, 3, sizeof(struct read_stack), 0,
					  take_stack };

	return read_table_load(profile->trace, &table, profile, (void **)&profile->stacks,
			       &profile->stack_count);
}

/* ---- What the public sees of it ---- */

uint32_t burin_profile_stacks(const struct burin_profile *profile)
{
	return profile->stack_count;
}

uint32_t burin_profile_places(const struct burin_profile *profile)
{
	return (uint32_t)profile->places.count;
}

int burin_profile_stack(const struct burin_profile *profile, uint32_t number, struct burin_stack *stack)
{
	const struct read_stack *entry;

	if (number - 1 >= profile->stack_count || !profile->stacks[number - 1].place)
		return -ENOENT;
	entry = &profile->stacks[number - 1];
	*stack = (struct burin_stack){ entry->place, entry->caller, entry->depth };
	return 0;
}

int burin_profile_place(const struct burin_profile *profile, uint32_t number, struct burin_place *place)
{
	const struct read_place *entry = read_place_at(profile, number);

	if (!entry)
		return -ENOENT;
	*place = (struct burin_place){ .image = entry->image,
				       .cut = entry->image		   ? BURIN_CUT_NONE
					      : entry->offset < BURIN_CUTS ? (unsigned)entry->offset
									   : BURIN_CUTS,
				       .offset = entry->offset,
				       .begin = entry->begin,
				       .size = entry->size,
				       .frames = entry->frames };
	return 0;
}

const char *burin_cut_name(unsigned cut)
{
	static const char *const names[] = {
		[BURIN_CUT_NONE] = "whole",
		[BURIN_CUT_DEPTH] = "stack too deep",
		[BURIN_CUT_STACK] = "copy of the stack ended",
		[BURIN_CUT_TABLES] = "no unwind information",
		[BURIN_CUT_MEMORY] = "address in no mapping",
		[BURIN_CUT_IMAGE] = "image unreadable",
		[BURIN_CUT_RING] = "stack lost",
	};

	return cut < BURIN_CUTS ? names[cut] : "?";
}

char *burin_profile_address(const struct burin_profile *profile, uint32_t place, char *out, size_t size)
{
	const struct read_place *entry = read_place_at(profile, place);
	const char *name;

	if (!entry) {
		snprintf(out, size, "[unknown]");
	} else if (!entry->image) {
		snprintf(out, size, "[%s]",
			 burin_cut_name(entry->offset < BURIN_CUTS ? (unsigned)entry->offset : BURIN_CUTS));
	} else {
		name = burin_image_name(burin_profile_image(profile, entry->image));
		snprintf(out, size, "%s+0x%" PRIx64, name, entry->size ? entry->begin : entry->offset);
	}
	return out;
}
