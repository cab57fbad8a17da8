/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Open pairs; see span_open.h.
 *
 * The table has open addressing with linear probing. Removal leaves no tombs: later entries of the same run move up to their
 * place, so look-ups stay short however many keys have come and gone.
 */
#include "view/spans/span_open.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"

enum {
	SLOTS_FIRST = 64,
};

static size_t slot_of(const struct span_open *open, const struct span_open_pair *pair)
{
	return hash_pair(hash_pair(pair->key[0], pair->key[1]), pair->definition) & (open->slot_room - 1);
}

static bool is_equal(const struct span_open_pair *one, const struct span_open_pair *other)
{
	return one->definition == other->definition && one->key[0] == other->key[0] &&
	       one->key[1] == other->key[1];
}

/* The slot of a key, or the free one in which it would be. */
static size_t find_slot(const struct span_open *open, const struct span_open_pair *pair)
{
	size_t at = slot_of(open, pair);

	while (open->slots[at] && !is_equal(&open->entries[open->slots[at] - 1], pair))
		at = (at + 1) & (open->slot_room - 1);
	return at;
}

static bool grow_slots(struct span_open *open)
{
	struct span_open larger = *open;

	if (open->slot_count * 2 < open->slot_room)
		return true;
	larger.slot_room = open->slot_room ? open->slot_room * 2 : SLOTS_FIRST;
	larger.slots = calloc(larger.slot_room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t n = 0; n < open->slot_room; n++)
		if (open->slots[n])
			larger.slots[find_slot(&larger, &open->entries[open->slots[n] - 1])] = open->slots[n];
	free(open->slots);
	*open = larger;
	return true;
}

bool span_open_push(struct span_open *open, const struct span_open_pair *pair)
{
	uint32_t number = open->free;
	size_t slot;

	if (!number &&
	    (open->count == UINT32_MAX - 1 || !array_reserve(open->entries, open->room, open->count + 1)))
		return false;
	if (!grow_slots(open))
		return false;
	if (number)
		open->free = open->entries[number - 1].next;
	else
		number = (uint32_t)++open->count;
	slot = find_slot(open, pair);
	open->slot_count += !open->slots[slot];
	open->entries[number - 1] = *pair;
	open->entries[number - 1].next = open->slots[slot];
	open->slots[slot] = number;
	return true;
}

/* Free a slot, and move up the entries behind it whose own place is not between. */
static void remove_slot(struct span_open *open, size_t hole)
{
	const size_t mask = open->slot_room - 1;

	for (size_t at = (hole + 1) & mask; open->slots[at]; at = (at + 1) & mask) {
		const size_t own = slot_of(open, &open->entries[open->slots[at] - 1]);

		if (((at - own) & mask) < ((at - hole) & mask))
			continue;
		open->slots[hole] = open->slots[at];
		hole = at;
	}
	open->slots[hole] = 0;
	open->slot_count--;
}

bool span_open_pop(struct span_open *open, struct span_open_pair *pair)
{
	struct span_open_pair *entry;
	uint32_t number;
	size_t slot;

	if (!open->slot_room)
		return false;
	slot = find_slot(open, pair);
	number = open->slots[slot];
	if (!number)
		return false;
	entry = &open->entries[number - 1];
	*pair = *entry;
	if (entry->next)
		open->slots[slot] = entry->next;
	else
		remove_slot(open, slot);
	entry->next = open->free;
	open->free = number;
	return true;
}

int span_open_each(const struct span_open *open, int (*visit)(void *data, const struct span_open_pair *pair),
		   void *data)
{
	int result = 0;

	for (size_t n = 0; n < open->slot_room && !result; n++)
		for (uint32_t entry = open->slots[n]; entry && !result; entry = open->entries[entry - 1].next)
			result = visit(data, &open->entries[entry - 1]);
	return result;
}

void span_open_free(struct span_open *open)
{
	free(open->entries);
	free(open->slots);
	*open = (struct span_open){ .entries = NULL };
}
