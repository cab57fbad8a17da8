/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A hash table of numbers from 1, by which its user numbers entries of its own. The table knows their hashes, and the
 * user compares the entries: a look-up goes through the numbers whose hashes are equal. Open addressing with linear
 * probing; numbers are removed only all at once. Keys that others choose need a hash with the secret (base/containers/hash.h).
 */
#ifndef BURIN_BASE_CONTAINERS_HASH_TABLE_H
#define BURIN_BASE_CONTAINERS_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash, number; /* number 0: free */
};

/* All 0 at first. */
struct hash_table {
	struct hash_slot *slots;
	size_t room, count; /* room: a power of two, or 0; at most half are used */
};

/*
 * hash_table_next - go through the numbers with a hash.
 * @at: 0 at first
 * Return: 0: there are no more.
 */
static inline uint32_t hash_table_next(const struct hash_table *table, uint64_t hash, size_t *at)
{
	const uint32_t folded = (uint32_t)(hash ^ hash >> 32);
	const struct hash_slot *slot;

	if (!table->room)
		return 0;
	do
		slot = &table->slots[(folded + (*at)++) & (table->room - 1)];
	while (slot->number && slot->hash != folded);
	return slot->number;
}

/* hash_table_reserve - make room for one more number. Return: false: no memory, and nothing has changed. */
bool hash_table_reserve(struct hash_table *table);

/* hash_table_add - add a number, for which there is room. */
void hash_table_add(struct hash_table *table, uint64_t hash, uint32_t number);

/* hash_table_clear - remove all numbers; there is room for as many as before. */
void hash_table_clear(struct hash_table *table);

void hash_table_free(struct hash_table *table);

#endif
