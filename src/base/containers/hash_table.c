/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A hash table of numbers; see hash_table.h. */
#include <stdlib.h>

#include "base/containers/hash_table.h"

enum {
	ROOM_MIN = 64,
};

static void hash_table_insert(struct hash_table *table, struct hash_slot slot)
{
	size_t at = slot.hash & (table->room - 1);

	while (table->slots[at].number)
		at = (at + 1) & (table->room - 1);
	table->slots[at] = slot;
}

bool hash_table_reserve(struct hash_table *table)
{
	struct hash_table larger = { .room = table->room ? 2 * table->room : ROOM_MIN,
				     .count = table->count };

	if (table->count < table->room / 2)
		return true;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t n = 0; n < table->room; n++)
		if (table->slots[n].number)
			hash_table_insert(&larger, table->slots[n]);
	free(table->slots);
	*table = larger;
	return true;
}

void hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number)
{
	hash_table_insert(table, (struct hash_slot){ (uint32_t)(hash ^ hash >> 32), number });
	table->count++;
}

void hash_table_clear(struct hash_table *table)
{
	for (size_t n = 0; n < table->room; n++)
		table->slots[n].number = 0;
	table->count = 0;
}

void hash_table_free(struct hash_table *table)
{
	free(table->slots);
	*table = (struct hash_table){ 0 };
}
