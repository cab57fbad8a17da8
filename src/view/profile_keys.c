/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What frames are told apart by, found out once for each place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "view/profile.h"

enum {
	ADDRESS_BYTES = 512,
	LINE_BYTES = 4200,
};

/* Room in an array of numbered things and in the index that finds them. */
static int grow(void **things, size_t bytes, uint32_t count, uint32_t *room, uint32_t **index,
		size_t *index_room)
{
	uint32_t more = *room ? 2 * *room : 256;
	void *grown;
	uint32_t *fresh;

	if (count < *room)
		return 0;
	grown = reallocarray(*things, more, bytes);
	if (!grown)
		return -ENOMEM;
	*things = grown;
	fresh = calloc(2 * (size_t)more, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	*room = more;
	free(*index);
	*index = fresh;
	*index_room = 2 * (size_t)more;
	return 1; /* the index is to be filled anew */
}

static void string_enter(struct view_strings *strings, uint32_t number)
{
	size_t at = hash_text(strings->texts[number]) & (strings->index_room - 1);

	while (strings->index[at])
		at = (at + 1) & (strings->index_room - 1);
	strings->index[at] = number;
}

uint32_t view_string(struct view_strings *strings, const char *text)
{
	int grown = grow((void **)&strings->texts, sizeof(*strings->texts), strings->count, &strings->room,
			 &strings->index, &strings->index_room);

	if (grown < 0)
		return 0;
	if (!strings->count)
		strings->texts[strings->count++] = "";
	for (uint32_t n = 1; grown && n < strings->count; n++)
		string_enter(strings, n);
	if (!*text)
		return 0;
	for (size_t at = hash_text(text) & (strings->index_room - 1); strings->index[at];
	     at = (at + 1) & (strings->index_room - 1)) {
		if (!strcmp(strings->texts[strings->index[at]], text))
			return strings->index[at];
	}
	strings->texts[strings->count] = arena_keep(&strings->copies, text, strlen(text));
	if (!strings->texts[strings->count])
		return 0;
	string_enter(strings, strings->count);
	return strings->count++;
}

void view_strings_free(struct view_strings *strings)
{
	arena_free(&strings->copies);
	free(strings->texts);
	free(strings->index);
	*strings = (struct view_strings){ .count = 0 };
}

const char *view_part_name(enum view_part part)
{
	static const char *const names[] = { "program", "thread", "image", "symbol", "line" };

	return part < VIEW_PARTS ? names[part] : "?";
}

static size_t key_hash(const struct view_frame *key)
{
	uint64_t hash = key->parts[VIEW_IMAGE];

	hash = hash * UINT64_C(0x9e3779b97f4a7c15) + key->parts[VIEW_SYMBOL];
	hash = hash * UINT64_C(0x9e3779b97f4a7c15) + key->parts[VIEW_LINE];
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static void key_enter(struct view_keys *keys, uint32_t number)
{
	size_t at = key_hash(&keys->keys[number]) & (keys->index_room - 1);

	while (keys->index[at])
		at = (at + 1) & (keys->index_room - 1);
	keys->index[at] = number;
}

/* The number of a key, new or known; 0: no memory. */
static uint32_t key_find(struct view_keys *keys, const struct view_frame *key, bool cut)
{
	int grown;
	bool *cuts;

	if (!keys->count)
		keys->count = 1;
	grown = grow((void **)&keys->keys, sizeof(*keys->keys), keys->count, &keys->room, &keys->index,
		     &keys->index_room);
	if (grown < 0)
		return 0;
	if (grown) {
		cuts = reallocarray(keys->cut, keys->room, sizeof(*cuts));
		if (!cuts)
			return 0;
		keys->cut = cuts;
		for (uint32_t n = 1; n < keys->count; n++)
			key_enter(keys, n);
	}
	for (size_t at = key_hash(key) & (keys->index_room - 1); keys->index[at];
	     at = (at + 1) & (keys->index_room - 1)) {
		if (!memcmp(&keys->keys[keys->index[at]], key, sizeof(*key)))
			return keys->index[at];
	}
	keys->keys[keys->count] = *key;
	keys->cut[keys->count] = cut;
	key_enter(keys, keys->count);
	return keys->count++;
}

static int list_add(struct view_keys *keys, const struct view_frame *key, bool cut)
{
	uint32_t number = key_find(keys, key, cut);

	if (!number)
		return -ENOMEM;
	if (keys->list_count == keys->list_room) {
		size_t room = keys->list_room ? 2 * keys->list_room : 1024;
		uint32_t *lists = reallocarray(keys->lists, room, sizeof(*lists));

		if (!lists)
			return -ENOMEM;
		keys->lists = lists;
		keys->list_room = room;
	}
	keys->lists[keys->list_count++] = number;
	return 0;
}

static bool wants(const struct view_keys *keys, enum view_part part)
{
	return keys->wanted & 1u << part;
}

/* The string of a function's name. Most places are in a function that was there before. */
static uint32_t string_of_name(struct view_keys *keys, const struct burin_frame *frame)
{
	if (frame->name >= keys->name_room) {
		size_t room = 2 * (size_t)frame->name + 1024;
		uint32_t *names = reallocarray(keys->names, room, sizeof(*names));

		if (!names)
			return view_string(&keys->strings, frame->function);
		memset(names + keys->name_room, 0, (room - keys->name_room) * sizeof(*names));
		keys->names = names;
		keys->name_room = room;
	}
	if (!keys->names[frame->name])
		keys->names[frame->name] = view_string(&keys->strings, frame->function);
	return keys->names[frame->name];
}

/* The line of a function at a place, or what else there is. */
static const char *line_of(const struct burin_frame *frame, const char *symbol, char line[LINE_BYTES])
{
	if (!frame || !frame->file)
		return symbol;
	if (!frame->line)
		return frame->file;
	snprintf(line, LINE_BYTES, "%s:%u", frame->file, frame->line);
	return line;
}

/* Function n of a place, or the place itself if it has none. */
static int key_of_frame(struct view_keys *keys, uint32_t number, const struct burin_place *place,
			const struct burin_frame *frame)
{
	const struct burin_image *image = burin_profile_image(keys->profile, place->image);
	const char *symbol = frame ? frame->function : NULL;
	struct view_frame key = { { 0 } };
	char address[ADDRESS_BYTES], line[LINE_BYTES];

	if (!symbol)
		symbol = number ? burin_profile_address(keys->profile, number, address, sizeof(address))
				: "[no stack]";
	if (wants(keys, VIEW_IMAGE))
		key.parts[VIEW_IMAGE] =
			view_string(&keys->strings, place->image ? burin_image_name(image) : "");
	if (wants(keys, VIEW_SYMBOL))
		key.parts[VIEW_SYMBOL] = frame && frame->function ? string_of_name(keys, frame)
								  : view_string(&keys->strings, symbol);
	if (wants(keys, VIEW_LINE))
		key.parts[VIEW_LINE] = view_string(&keys->strings, line_of(frame, symbol, line));
	return list_add(keys, &key, number && !place->image);
}

static int look_at(struct view_keys *keys, uint32_t number, struct view_place_keys *found)
{
	struct burin_place place = { .image = 0 };
	struct burin_frame frame;
	uint32_t count = 0;

	found->first = (uint32_t)keys->list_count;
	if (number)
		burin_profile_place(keys->profile, number, &place);
	for (; !burin_profile_frame(keys->profile, number, count, &frame); count++) {
		if (key_of_frame(keys, number, &place, &frame))
			return -ENOMEM;
	}
	if (!count && key_of_frame(keys, number, &place, NULL))
		return -ENOMEM;
	found->count = count ? count : 1;
	return 0;
}

const uint32_t *view_keys_of(struct view_keys *keys, uint32_t place, uint32_t *count)
{
	struct view_place_keys *found = &keys->places[place];

	if (!found->count && look_at(keys, place, found)) {
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
		list = view_keys_of(keys, stack.place, &more);
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

int view_keys_make(struct view_keys *keys, const struct burin_profile *profile, unsigned wanted)
{
	*keys = (struct view_keys){ .profile = profile, .wanted = wanted };
	keys->places = calloc((size_t)burin_profile_places(profile) + 1, sizeof(*keys->places));
	view_string(&keys->strings, "");
	return keys->places && keys->strings.texts ? 0 : -ENOMEM;
}

void view_keys_free(struct view_keys *keys)
{
	view_strings_free(&keys->strings);
	free(keys->keys);
	free(keys->cut);
	free(keys->index);
	free(keys->places);
	free(keys->lists);
	free(keys->names);
	*keys = (struct view_keys){ .profile = NULL };
}
