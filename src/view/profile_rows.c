/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows: self and total of what was asked for. A pair's task decides program and thread, its stack the rest. A row
 * has a sample's weight in its total once, however often it is in the stack: recursion counts once.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/profile.h"

/* A pair, and the strings that its task decides. */
struct grouped {
	uint32_t program, thread;
	const struct view_pair *pair;
};

/* Where the rows of the group at hand are, by key. */
struct place_of_key {
	size_t row;
	uint64_t group, pair; /* those that last touched it, counted from 1 */
};

struct making {
	struct view_rows *rows;
	struct place_of_key *keys;
	size_t key_room;
	uint64_t group, pair;
};

static int by_group(const void *a, const void *b)
{
	const struct grouped *one = a, *other = b;

	if (one->program != other->program)
		return one->program < other->program ? -1 : 1;
	return (one->thread > other->thread) - (one->thread < other->thread);
}

static int by_self(const void *a, const void *b)
{
	const struct view_row *one = a, *other = b;

	if (one->self.all != other->self.all)
		return one->self.all > other->self.all ? -1 : 1;
	if (one->total.all != other->total.all)
		return one->total.all > other->total.all ? -1 : 1;
	return (one->key > other->key) - (one->key < other->key);
}

static struct view_row *row_of(struct making *making, const struct grouped *grouped, uint32_t key)
{
	struct view_rows *rows = making->rows;
	struct place_of_key *place;

	if (key >= making->key_room) {
		size_t room = 2 * (size_t)key + 64;
		struct place_of_key *keys = reallocarray(making->keys, room, sizeof(*keys));

		if (!keys)
			return NULL;
		for (size_t n = making->key_room; n < room; n++)
			keys[n] = (struct place_of_key){ .row = 0 };
		making->keys = keys;
		making->key_room = room;
	}
	place = &making->keys[key];
	if (place->group == making->group)
		return &rows->rows[place->row];
	if (rows->count == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 256;
		struct view_row *more = reallocarray(rows->rows, room, sizeof(*more));

		if (!more)
			return NULL;
		rows->rows = more;
		rows->room = room;
	}
	place->group = making->group;
	place->row = rows->count;
	rows->rows[rows->count] =
		(struct view_row){ .program = grouped->program, .thread = grouped->thread, .key = key };
	return &rows->rows[rows->count++];
}

static int add_key(struct making *making, const struct grouped *grouped, uint32_t key, bool innermost)
{
	struct view_row *row = row_of(making, grouped, key);

	if (!row)
		return -ENOMEM;
	if (innermost) {
		view_cost_add(&row->self, grouped->pair);
		row->samples += grouped->pair->samples;
	}
	if (making->keys[key].pair != making->pair)
		view_cost_add(&row->total, grouped->pair);
	making->keys[key].pair = making->pair;
	return 0;
}

static int add_pair(struct making *making, const struct grouped *grouped)
{
	struct view_keys *keys = &making->rows->keys;
	struct burin_stack stack = { .place = 0 };
	uint32_t number = grouped->pair->stack, count, seen = 0;
	bool none = burin_profile_stack(keys->profile, number, &stack) != 0;

	making->pair++;
	do {
		const uint32_t *list = view_keys_of(keys, none ? 0 : stack.place, &count);

		for (uint32_t n = 0; n < count; n++) {
			uint32_t key = list[n];

			/* A mark is where a stack is cut, no function; unless there is nothing else. */
			if (keys->cut[key] && seen)
				continue;
			if (add_key(making, grouped, key, !seen++))
				return -ENOMEM;
		}
		number = none ? 0 : stack.caller;
	} while (!burin_profile_stack(keys->profile, number, &stack));
	return keys->failed ? -ENOMEM : 0;
}

static struct grouped *group(struct view_rows *rows, const struct view_profile *counted, unsigned parts)
{
	struct grouped *grouped = calloc(counted->pair_count + 1, sizeof(*grouped));
	uint32_t task = 0, program = 0, thread = 0;

	for (size_t n = 0; grouped && n < counted->pair_count; n++) {
		const struct view_pair *pair = &counted->pairs[n];

		if (!n || pair->task != task) {
			task = pair->task;
			if (parts & 1 << VIEW_PROGRAM)
				program = view_string(&rows->keys.strings,
						      view_program(counted->profile, task));
			if (parts & 1 << VIEW_THREAD)
				thread =
					view_string(&rows->keys.strings, view_thread(counted->profile, task));
		}
		grouped[n] = (struct grouped){ program, thread, pair };
	}
	if (grouped && parts & (1 << VIEW_PROGRAM | 1 << VIEW_THREAD))
		qsort(grouped, counted->pair_count, sizeof(*grouped), by_group);
	return grouped;
}

int view_rows_make(struct view_rows *rows, const struct view_profile *counted, unsigned parts)
{
	struct making making = { .rows = rows };
	struct grouped *grouped = NULL;
	int result;

	*rows = (struct view_rows){ .count = 0 };
	result = view_keys_make(&rows->keys, counted->profile, parts);
	if (!result) {
		grouped = group(rows, counted, parts);
		result = grouped ? 0 : -ENOMEM;
	}
	for (size_t n = 0; n < counted->pair_count && !result; n++) {
		if (!n || by_group(&grouped[n], &grouped[n - 1]))
			making.group++;
		result = add_pair(&making, &grouped[n]);
	}
	free(grouped);
	free(making.keys);
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_self);
	if (result)
		view_rows_free(rows);
	return result;
}

void view_rows_free(struct view_rows *rows)
{
	view_keys_free(&rows->keys);
	free(rows->rows);
	*rows = (struct view_rows){ .count = 0 };
}

const char *view_row_text(const struct view_rows *rows, const struct view_row *row, enum view_part part)
{
	if (part == VIEW_PROGRAM)
		return rows->keys.strings.texts[row->program];
	if (part == VIEW_THREAD)
		return rows->keys.strings.texts[row->thread];
	return view_key_text(&rows->keys, row->key, part);
}
