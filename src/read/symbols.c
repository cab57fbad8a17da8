/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is known of places: functions, files and lines; the table `symbols`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "read/profile.h"

static int take_text(struct burin_profile *profile, struct read_entry *entry)
{
	size_t bytes;
	const char *text = read_entry_text(entry, false, &bytes), **kept;

	if (entry->reason)
		return 0;
	kept = read_vector_add(&profile->texts, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = arena_keep(&profile->arena, text, bytes);
	return *kept ? 0 : -ENOMEM;
}

static int take_place(struct burin_profile *profile, struct read_entry *entry)
{
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint64_t offset = read_entry_number(entry, UINT64_MAX, "");
	uint64_t begin = read_entry_number(entry, UINT64_MAX, ""),
		 size = read_entry_number(entry, UINT64_MAX, "");
	uint64_t frames = read_entry_number(entry, (uint64_t)(entry->end - entry->at) / 3,
					    "more functions than fit the block");
	size_t first = profile->functions.count;
	struct read_place *place;
	uint32_t number;

	for (uint64_t n = 0; n < frames && !entry->reason; n++) {
		struct read_function *function = read_vector_add(&profile->functions, sizeof(*function));

		if (!function)
			return -ENOMEM;
		function->name = read_entry_u32(entry, "a text's number has more than 32 bits");
		function->file = read_entry_u32(entry, "a text's number has more than 32 bits");
		function->line = read_entry_u32(entry, "a line's number has more than 32 bits");
	}
	if (entry->reason)
		return 0;
	number = read_place_find(profile, image, offset);
	if (!number)
		return -ENOMEM;
	place = read_place_at(profile, number);
	place->begin = begin;
	place->size = size;
	place->frame = (uint32_t)first;
	place->frames = (uint32_t)frames;
	return 0;
}

static int take_state(struct burin_profile *profile, struct read_entry *entry)
{
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint32_t state = (uint32_t)read_entry_number(entry, WIRE_SYMBOLS_STATES - 1,
						     "an unknown state of an image's names");
	struct read_image_state *kept;
	const char *remedy;
	size_t bytes;

	remedy = read_entry_text(entry, false, &bytes);
	if (entry->reason)
		return 0;
	kept = read_vector_add(&profile->states, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct read_image_state){ image, state, arena_keep(&profile->arena, remedy, bytes) };
	return kept->remedy ? 0 : -ENOMEM;
}

static int take_range(struct burin_profile *profile, struct read_entry *entry)
{
	struct read_range range = { .frame = (uint32_t)profile->functions.count }, *kept;
	struct read_function function = { 0 }, *named;

	range.image = read_entry_u32(entry, "the image's number has more than 32 bits");
	range.begin = read_entry_number(entry, UINT64_MAX, "");
	range.size = read_entry_number(entry, UINT64_MAX, "");
	function.name = read_entry_u32(entry, "a text's number has more than 32 bits");
	range.frames = function.name != 0;
	if (entry->reason)
		return 0;
	kept = read_vector_add(&profile->ranges, sizeof(*kept));
	named = range.frames ? read_vector_add(&profile->functions, sizeof(*named)) : &function;
	if (!kept || !named)
		return -ENOMEM;
	*kept = range;
	*named = function;
	return 0;
}

static int take_symbol(void *data, struct read_entry *entry)
{
	switch (read_entry_number(entry, UINT64_MAX, "")) {
	case WIRE_SYMBOLS_TEXT:
		return take_text(data, entry);
	case WIRE_SYMBOLS_PLACE:
		return take_place(data, entry);
	case WIRE_SYMBOLS_IMAGE:
		return take_state(data, entry);
	case WIRE_SYMBOLS_FUNCTION:
		return take_range(data, entry);
	default:
		if (!entry->reason)
			entry->reason = "it is neither a text nor a place, an image or a function";
		return 0;
	}
}

static const char *text_at(const struct burin_profile *profile, uint32_t number)
{
	return ((const char **)profile->texts.items)[number - 1];
}

/* Finds texts that are there twice, so that a number is a name. */
static int join_texts(struct burin_profile *profile)
{
	size_t room = 64, count = profile->texts.count;
	uint32_t *index;

	while (room < 2 * count)
		room *= 2;
	index = calloc(room, sizeof(*index));
	profile->text_same = calloc(count + 1, sizeof(*profile->text_same));
	if (!index || !profile->text_same) {
		free(index);
		return -ENOMEM;
	}
	for (uint32_t number = 1; number <= count; number++) {
		const char *text = text_at(profile, number);
		size_t at = hash_text(text) & (room - 1);

		while (index[at] && strcmp(text_at(profile, index[at]), text) != 0)
			at = (at + 1) & (room - 1);
		if (!index[at])
			index[at] = number;
		profile->text_same[number] = *text ? index[at] : 0;
	}
	free(index);
	return 0;
}

/* Names by their first number; those of texts that do not exist are unknown. */
static void settle_functions(struct burin_profile *profile)
{
	struct read_function *functions = profile->functions.items;
	uint64_t wrong = 0;

	for (size_t n = 0; n < profile->functions.count; n++) {
		uint32_t *numbers[] = { &functions[n].name, &functions[n].file };

		for (unsigned which = 0; which < 2; which++) {
			wrong += *numbers[which] > profile->texts.count;
			*numbers[which] = *numbers[which] > profile->texts.count
						  ? 0
						  : profile->text_same[*numbers[which]];
		}
	}
	if (wrong)
		read_fault(profile->trace, BURIN_FAULT_TABLE, ".burin/symbols", 0,
			   "%llu names or files are numbers of texts that are not there",
			   (unsigned long long)wrong);
}

static int compare_ranges(const void *one, const void *other)
{
	const struct read_range *a = one, *b = other;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* The last range that begins at the place or before it; NULL: none. */
static const struct read_range *find_range(const struct read_vector *ranges, const struct read_place *place)
{
	const struct read_range *items = ranges->items;
	const struct read_range wanted = { .image = place->image, .begin = place->offset };
	size_t low = 0, high = ranges->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_ranges(&items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && items[low - 1].image == place->image ? &items[low - 1] : NULL;
}

/* Places without an entry of their own are named by the function that they are in. */
static void settle_places(struct burin_profile *profile)
{
	struct read_place *places = profile->places.items;

	if (!profile->ranges.count)
		return;
	qsort(profile->ranges.items, profile->ranges.count, sizeof(struct read_range), compare_ranges);
	for (size_t n = 0; n < profile->places.count; n++) {
		const struct read_range *range;

		if (places[n].size || places[n].frames)
			continue;
		range = find_range(&profile->ranges, &places[n]);
		if (!range || places[n].offset - range->begin >= range->size)
			continue;
		places[n].begin = range->begin;
		places[n].size = range->size;
		places[n].frame = range->frame;
		places[n].frames = range->frames;
	}
}

int read_symbols_load(struct burin_profile *profile)
{
	const struct read_table table = { ".burin/symbols", WIRE_TABLE_SYMBOLS, 2, 0, 0, take_symbol };
	uint32_t count;
	int result = read_table_load(profile->trace, &table, profile, NULL, &count);

	if (!result)
		result = join_texts(profile);
	if (!result)
		settle_functions(profile);
	if (!result)
		settle_places(profile);
	return result;
}

int burin_profile_frame(const struct burin_profile *profile, uint32_t place, uint32_t n,
			struct burin_frame *frame)
{
	const struct read_place *entry = read_place_at(profile, place);
	const struct read_function *function;

	if (!entry || n >= entry->frames)
		return -ENOENT;
	function = (const struct read_function *)profile->functions.items + entry->frame + n;
	*frame = (struct burin_frame){ .name = function->name,
				       .function = function->name ? text_at(profile, function->name) : NULL,
				       .file = function->file ? text_at(profile, function->file) : NULL,
				       .line = function->line };
	return 0;
}
