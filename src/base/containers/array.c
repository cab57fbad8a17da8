/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arrays that grow; see array.h. */
#include "base/containers/array.h"

#include <stdlib.h>
#include <string.h>

enum {
	BYTES_MIN = 1024, /* of an array, unless one item is larger */
};

size_t array_larger(size_t room, size_t count, size_t item_bytes)
{
	size_t larger = BYTES_MIN / item_bytes;

	if (larger < 2 * room) /* an object has at most SIZE_MAX / 2 bytes */
		larger = 2 * room;
	return larger < count ? count : larger;
}

/* The pointer is copied as bytes: its type is not known here. */
bool array_grow(void *items, size_t *room, size_t count, size_t item_bytes, size_t max, bool zeroed)
{
	size_t larger = array_larger(*room, count, item_bytes);
	char *first;

	if (count > max)
		return false;
	if (larger > max)
		larger = max;
	memcpy(&first, items, sizeof(first));
	first = reallocarray(first, larger, item_bytes);
	if (!first)
		return false;
	if (zeroed)
		memset(first + *room * item_bytes, 0, (larger - *room) * item_bytes);
	memcpy(items, &first, sizeof(first));
	*room = larger;
	return true;
}
