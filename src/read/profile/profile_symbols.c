/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions, files and lines of locations; the table `symbols`.
 *
 * Entries have four kinds: texts, which the others refer to by number; locations, with the functions inlined
 * there; images, with the state of their names; functions, as ranges of an image. A location without an entry
 * of its own gets the name of the range that it lies in (name_locations()), which saves an entry for each.
 *
 * Each chunk counts its texts from 1, so ->text_base moves the numbers. Texts of several chunks are mostly
 * the same: join_texts() finds equal ones once, and afterwards equal names have equal numbers, so views
 * compare numbers.
 *
 * A reference may come before its text in a damaged file. So references are resolved when all chunks are
 * read; one to a text that does not exist is 0, "unknown".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "base/number.h"
#include "read/profile/profile_parts.h"

static int profile_symbols_take_text(struct burin_profile *profile, struct read_entry *entry)
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

/* The number of a text among those of all chunks. */
static uint32_t take_text_number(const struct burin_profile *profile, struct read_entry *entry)
{
	const uint64_t number = read_entry_u32(entry, "a text's number has more than 32 bits");

	return number && number + profile->text_base <= UINT32_MAX ? (uint32_t)(number + profile->text_base)
								   : 0;
}

static int profile_symbols_take_location(struct burin_profile *profile, struct read_entry *entry)
{
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint64_t offset = read_entry_number(entry, UINT64_MAX, "");
	uint64_t begin = read_entry_number(entry, UINT64_MAX, ""),
		 size = read_entry_number(entry, UINT64_MAX, "");
	/* A function takes three bytes at least: a forged count allocates no more than the block can fill. */
	uint64_t frames = read_entry_number(entry, (uint64_t)(entry->end - entry->at) / 3,
					    "more functions than fit the block");
	size_t first = profile->functions.count;
	struct read_location *location;
	uint32_t number;

	for (uint64_t n = 0; n < frames && !entry->reason; n++) {
		struct read_function *function = read_vector_add(&profile->functions, sizeof(*function));

		if (!function)
			return -ENOMEM;
		function->name = take_text_number(profile, entry);
		function->file = take_text_number(profile, entry);
		function->line = read_entry_u32(entry, "a line's number has more than 32 bits");
	}
	if (entry->reason)
		return 0;
	number = read_location_find(profile, image, offset);
	if (!number)
		return -ENOMEM;
	location = read_location_at(profile, number);
	location->begin = begin;
	location->size = size;
	location->frame = (uint32_t)first;
	location->frames = (uint32_t)frames;
	return 0;
}

static int profile_symbols_take_state(struct burin_profile *profile, struct read_entry *entry)
{
	uint32_t image = read_entry_u32(entry, "the image's number has more than 32 bits");
	uint32_t state = (uint32_t)read_entry_number(entry, WIRE_SYMBOLS_STATES - 1,
						     "an unknown state of an image's names");
	struct read_image_state *kept;
	const char *hint;
	size_t bytes;

	hint = read_entry_text(entry, false, &bytes);
	if (entry->reason)
		return 0;
	kept = read_vector_add(&profile->states, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct read_image_state){ image, state, arena_keep(&profile->arena, hint, bytes) };
	return kept->hint ? 0 : -ENOMEM;
}

static int profile_symbols_take_range(struct burin_profile *profile, struct read_entry *entry)
{
	struct read_range range = { .frame = (uint32_t)profile->functions.count }, *kept;
	struct read_function function = { 0 }, *named;

	range.image = read_entry_u32(entry, "the image's number has more than 32 bits");
	range.begin = read_entry_number(entry, UINT64_MAX, "");
	range.size = read_entry_number(entry, UINT64_MAX, "");
	function.name = take_text_number(profile, entry);
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

static int profile_symbols_take_symbol(void *data, struct read_entry *entry)
{
	switch (read_entry_number(entry, UINT64_MAX, "")) {
	case WIRE_SYMBOLS_TEXT:
		return profile_symbols_take_text(data, entry);
	case WIRE_SYMBOLS_LOCATION:
		return profile_symbols_take_location(data, entry);
	case WIRE_SYMBOLS_IMAGE:
		return profile_symbols_take_state(data, entry);
	case WIRE_SYMBOLS_FUNCTION:
		return profile_symbols_take_range(data, entry);
	default:
		if (!entry->reason)
			entry->reason = "it is neither a text nor a location, an image or a function";
		return 0;
	}
}

static const char *profile_symbols_text_at(const struct burin_profile *profile, uint32_t number)
{
	return ((const char **)profile->texts.items)[number - 1];
}

/* Finds equal texts, so that equal names have equal numbers. */
static int join_texts(struct burin_profile *profile)
{
	const size_t count = profile->texts.count;
	struct hash_table numbers = { 0 };
	bool room = true;

	profile->text_same = calloc(count + 1, sizeof(*profile->text_same));
	for (uint32_t number = 1; profile->text_same && room && number <= count; number++) {
		const char *text = profile_symbols_text_at(profile, number);
		const uint64_t hash = hash_text(text);
		size_t at = 0;
		uint32_t same;

		while ((same = hash_table_next(&numbers, hash, &at)) &&
		       strcmp(profile_symbols_text_at(profile, same), text))
			;
		room = same || hash_table_reserve(&numbers);
		if (!same && room)
			hash_table_add(&numbers, hash, number);
		profile->text_same[number] = !*text ? 0 : same ? same : number;
	}
	hash_table_free(&numbers);
	return profile->text_same && room ? 0 : -ENOMEM;
}

/* Replaces the number of each name and file by that of the first equal text, or by 0 if there is no such text. */
static void resolve_functions(struct burin_profile *profile)
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
		read_fault(profile->trace, BURIN_FAULT_TABLE, profile->files->symbols, 0,
			   "%llu names or files are numbers of texts that do not exist",
			   (unsigned long long)wrong);
}

static int compare_ranges(const void *one, const void *other)
{
	const struct read_range *a = one, *b = other;

	return number_order(a->image, b->image) ?: number_order(a->begin, b->begin);
}

/* The last range that begins at or before the location; NULL: none. */
static const struct read_range *find_range(const struct read_vector *ranges,
					   const struct read_location *location)
{
	const struct read_range *items = ranges->items;
	const struct read_range wanted = { .image = location->image, .begin = location->offset };
	size_t low = 0, high = ranges->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_ranges(&items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && items[low - 1].image == location->image ? &items[low - 1] : NULL;
}

/* Locations without an entry of their own get the name of the function that contains them. */
static void name_locations(struct burin_profile *profile)
{
	struct read_location *locations = profile->locations.items;

	if (!profile->ranges.count)
		return;
	qsort(profile->ranges.items, profile->ranges.count, sizeof(struct read_range), compare_ranges);
	for (size_t n = 0; n < profile->locations.count; n++) {
		const struct read_range *range;

		if (locations[n].size || locations[n].frames)
			continue;
		range = find_range(&profile->ranges, &locations[n]);
		if (!range || locations[n].offset - range->begin >= range->size)
			continue;
		locations[n].begin = range->begin;
		locations[n].size = range->size;
		locations[n].frame = range->frame;
		locations[n].frames = range->frames;
	}
}

int read_symbols_load(struct burin_profile *profile)
{
	const struct read_table table = { profile->files->symbols,     WIRE_TABLE_SYMBOLS, 2, 0, 0,
					  profile_symbols_take_symbol, read_profile_memory };
	int result = 0;

	for (unsigned chunk = 0; chunk < profile->trace->chunk_count && !result; chunk++) {
		uint32_t count;

		profile->text_base = profile->texts.count;
		result = read_table_load(profile->trace, &table, chunk, profile, NULL, &count);
	}

	if (!result)
		result = join_texts(profile);
	if (!result)
		resolve_functions(profile);
	if (!result)
		name_locations(profile);
	return result;
}

int burin_profile_frame(const struct burin_profile *profile, uint32_t location, uint32_t n,
			struct burin_frame *frame)
{
	const struct read_location *entry = read_location_at(profile, location);
	const struct read_function *function;

	if (!entry || n >= entry->frames)
		return -ENOENT;
	function = (const struct read_function *)profile->functions.items + entry->frame + n;
	*frame = (struct burin_frame){
		.name = function->name,
		.function = function->name ? profile_symbols_text_at(profile, function->name) : NULL,
		.file = function->file ? profile_symbols_text_at(profile, function->file) : NULL,
		.line = function->line
	};
	return 0;
}
