/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arrays that grow. An array is a pointer to its first item and a size_t, its room in items: NULL and 0 at first. Its
 * user counts the items and frees them. Room is doubled, so adding n items one by one takes time in proportion to n.
 */
#ifndef BURIN_BASE_CONTAINERS_ARRAY_H
#define BURIN_BASE_CONTAINERS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * array_reserve - make room for @count items in all. The items may move.
 * @items, @room: the variables themselves; they change
 * Return: false: no memory, and nothing has changed.
 *
 * array_reserve_max - the same for at most @max items. Return: also false if @count exceeds it.
 * array_reserve_zeroed - the same for an array whose unused items are zero.
 */
#define array_reserve(items, room, count) array_reserve_max(items, room, count, SIZE_MAX)
#define array_reserve_max(items, room, count, max) \
	array_reserve_items(&(items), &(room), (count), sizeof(*(items)), (max), false)
#define array_reserve_zeroed(items, room, count) \
	array_reserve_items(&(items), &(room), (count), sizeof(*(items)), SIZE_MAX, true)

/* The slow path of the function below. */
bool array_grow(void *items, size_t *room, size_t count, size_t item_bytes, size_t max, bool zeroed);

/* array_reserve_items - for items of a size that the compiler does not know. @items: points to the pointer to the first */
static inline bool array_reserve_items(void *items, size_t *room, size_t count, size_t item_bytes, size_t max,
				       bool zeroed)
{
	return count <= *room || array_grow(items, room, count, item_bytes, max, zeroed);
}

/* array_larger - the room that array_reserve() will make: for a caller that limits memory. */
size_t array_larger(size_t room, size_t count, size_t item_bytes);

#endif
