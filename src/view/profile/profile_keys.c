/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Keys of frames (image, symbol, line), computed once for each location.
 *
 * Reports group frames by the parts that were chosen. A key is one combination of these, as numbers of
 * strings; parts that were not chosen are 0, so they do not separate rows. Equal keys have one number, which
 * rows and trees compare.
 *
 * A location has one key for each function inlined there, the innermost first; with @fold only that of the
 * function around them. They lie one behind the other in ->lists, and are made when the location is met
 * first. Location 0 is that of a sample without a stack.
 *
 * Memory that is missing is noted (->failed), and the caller looks at it once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "view/profile/profile_view.h"

enum {
	ADDRESS_BYTES = 512,
	LINE_BYTES = 4200,
};

uint32_t view_string(struct view_strings *strings, const char *text)
{
	const uint64_t hash = hash_text(text);
	uint32_t number;

	if (strings->failed || (!*text && strings->count))
		return 0;
	for (size_t at = 0; (number = hash_table_next(&strings->numbers, hash, &at));)
		if (!strcmp(strings->texts[number], text))
			return number;
	strings->failed = !array_reserve(strings->texts, strings->room, (size_t)strings->count + 2) ||
			  !hash_table_reserve(&strings->numbers);
	if (strings->failed)
		return 0;
	if (!strings->count)
		strings->texts[strings->count++] = "";
	if (!*text)
		return 0;
	strings->texts[strings->count] = arena_keep(&strings->copies, text, strlen(text));
	strings->failed = !strings->texts[strings->count];
	if (strings->failed)
		return 0;
	hash_table_add(&strings->numbers, hash, strings->count);
	return strings->count++;
}

void view_strings_free(struct view_strings *strings)
{
	arena_free(&strings->copies);
	free(strings->texts);
	hash_table_free(&strings->numbers);
	*strings = (struct view_strings){ .count = 0 };
}

const char *view_part_name(enum view_part part)
{
	static const char *const names[] = { "program", "thread", "pid", "tid", "image", "symbol", "line" };

	return part < VIEW_PARTS ? names[part] : "?";
}

unsigned view_report_parts(const struct view_report *report)
{
	unsigned parts = 0;

	for (unsigned n = 0; n < report->by_count; n++)
		parts |= 1u << report->by[n];
	return parts;
}

void view_report_names(const struct view_report *report, struct table *table)
{
	static_assert((int)VIEW_PARTS <= (int)TABLE_NAMES_MAX, "each part may be a column");

	for (unsigned n = 0; n < report->by_count; n++) {
		const enum view_part part = report->by[n];
		const char *name = view_part_name(part);

		table->names[table->name_count++] = (struct column){
			.key = name,
			.title = name,
			.kind = part == VIEW_SYMBOL		       ? COLUMN_SYMBOL
				: part == VIEW_PID || part == VIEW_TID ? COLUMN_DIGITS
								       : COLUMN_TEXT,
			.part = part,
		};
	}
	table->color = report->color;
}

/* Finds or adds a key. Return: its number; 0: no memory. */
static uint32_t key_find(struct view_keys *keys, const struct view_frame *key, bool truncated)
{
	const uint64_t hash = hash_pair((uint64_t)key->parts[VIEW_IMAGE] << 32 | key->parts[VIEW_SYMBOL],
					key->parts[VIEW_LINE]);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&keys->numbers, hash, &at));)
		if (!memcmp(&keys->keys[number], key, sizeof(*key)))
			return number;
	number = keys->count ? keys->count : 1;
	if (!array_reserve(keys->keys, keys->room, (size_t)number + 1) ||
	    !array_reserve(keys->truncated, keys->truncated_room, (size_t)number + 1) ||
	    !hash_table_reserve(&keys->numbers))
		return 0;
	keys->keys[number] = *key;
	keys->truncated[number] = truncated;
	hash_table_add(&keys->numbers, hash, number);
	keys->count = number + 1;
	return number;
}

static int list_add(struct view_keys *keys, const struct view_frame *key, bool truncated)
{
	uint32_t number = key_find(keys, key, truncated);

	if (!number)
		return -ENOMEM;
	if (!array_reserve(keys->lists, keys->list_room, keys->list_count + 1))
		return -ENOMEM;
	keys->lists[keys->list_count++] = number;
	return 0;
}

static bool part_selected(const struct view_keys *keys, enum view_part part)
{
	return keys->parts & 1u << part;
}

/* The string of a function's name. A cache by the name's number: most locations are in a function seen before. */
static uint32_t string_of_name(struct view_keys *keys, const struct burin_frame *frame)
{
	if (!array_reserve_zeroed(keys->names, keys->name_room, (size_t)frame->name + 1))
		return view_string(&keys->strings, frame->function);
	if (!keys->names[frame->name])
		keys->names[frame->name] = view_string(&keys->strings, frame->function);
	return keys->names[frame->name];
}

/* "file:line" of a function at a location; without a line the file, without a file the symbol. */
static const char *profile_keys_line_of(const struct burin_frame *frame, const char *symbol,
					char line[LINE_BYTES])
{
	if (!frame || !frame->file)
		return symbol;
	if (!frame->line)
		return frame->file;
	snprintf(line, LINE_BYTES, "%s:%u", frame->file, frame->line);
	return line;
}

/*
 * Adds the key of a function at a location.
 * @frame: NULL: the key of a location without functions
 * @inner: the frame that has the line
 */
static int key_of_frame(struct view_keys *keys, uint32_t number, const struct burin_location *location,
			const struct burin_frame *frame, const struct burin_frame *inner)
{
	const struct burin_image *image = burin_profile_image(keys->profile, location->image);
	const char *symbol = frame ? frame->function : NULL;
	struct view_frame key = { { 0 } };
	char address[ADDRESS_BYTES], line[LINE_BYTES];

	if (!symbol)
		symbol = number ? burin_profile_address(keys->profile, number, address, sizeof(address))
				: "[no stack]";
	if (part_selected(keys, VIEW_IMAGE))
		key.parts[VIEW_IMAGE] =
			view_string(&keys->strings, location->image ? burin_image_name(image) : "");
	if (part_selected(keys, VIEW_SYMBOL))
		key.parts[VIEW_SYMBOL] = frame && frame->function ? string_of_name(keys, frame)
								  : view_string(&keys->strings, symbol);
	if (part_selected(keys, VIEW_LINE))
		key.parts[VIEW_LINE] = view_string(&keys->strings, profile_keys_line_of(inner, symbol, line));
	return list_add(keys, &key, number && !location->image);
}

static int profile_keys_look_up(struct view_keys *keys, uint32_t number, struct view_location_keys *found)
{
	struct burin_location location = { .image = 0 };
	struct burin_frame frame, inner;
	uint32_t count = 0;

	found->first = (uint32_t)keys->list_count;
	if (number)
		burin_profile_location(keys->profile, number, &location);
	for (; !burin_profile_frame(keys->profile, number, count, &frame); count++) {
		if (!count)
			inner = frame;
		if (!keys->fold && key_of_frame(keys, number, &location, &frame, &frame))
			return -ENOMEM;
	}
	if (keys->fold && count && key_of_frame(keys, number, &location, &frame, &inner))
		return -ENOMEM;
	if (!count && key_of_frame(keys, number, &location, NULL, NULL))
		return -ENOMEM;
	found->count = count && !keys->fold ? count : 1;
	return 0;
}

const uint32_t *view_keys_of(struct view_keys *keys, uint32_t location, uint32_t *count)
{
	struct view_location_keys *found = &keys->locations[location];

	if (!found->count && profile_keys_look_up(keys, location, found)) {
		keys->failed = true;
		found->count = 0;
	}
	*count = found->count;
	return keys->lists + found->first;
}

uint32_t view_keys_of_stack(struct view_keys *keys, uint32_t number, uint32_t out[VIEW_STACK_KEYS_MAX])
{
	struct burin_stack stack;
	uint32_t count = 0, more;
	const uint32_t *list;

	for (; !burin_profile_stack(keys->profile, number, &stack); number = stack.caller) {
		list = view_keys_of(keys, stack.location, &more);
		for (uint32_t n = 0; n < more && count < VIEW_STACK_KEYS_MAX; n++)
			out[count++] = list[n];
	}
	if (!count) {
		list = view_keys_of(keys, 0, &more);
		for (uint32_t n = 0; n < more; n++)
			out[count++] = list[n];
	}
	return count;
}

int view_keys_make(struct view_keys *keys, const struct burin_profile *profile, unsigned parts, bool fold)
{
	*keys = (struct view_keys){ .profile = profile, .parts = parts, .fold = fold };
	keys->locations = calloc((size_t)burin_profile_locations(profile) + 1, sizeof(*keys->locations));
	view_string(&keys->strings, "");
	return keys->locations && !keys->strings.failed ? 0 : -ENOMEM;
}

void view_keys_free(struct view_keys *keys)
{
	view_strings_free(&keys->strings);
	free(keys->keys);
	free(keys->truncated);
	hash_table_free(&keys->numbers);
	free(keys->locations);
	free(keys->lists);
	free(keys->names);
	*keys = (struct view_keys){ .profile = NULL };
}
