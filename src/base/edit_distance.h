/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How far a name is from one that was meant. */
#ifndef BURIN_BASE_EDIT_DISTANCE_H
#define BURIN_BASE_EDIT_DISTANCE_H

#include <stdbool.h>

/*
 * edit_distance - how many bytes must be inserted, removed or replaced, or neighbours swapped, to make one name of the other.
 * Of longer names the first 128 bytes are compared.
 */
unsigned edit_distance(const char *one, const char *other);

/*
 * edit_distance_nearer - whether a name is so near to another one that this may be a slip of it, and nearer than those before.
 * @best: how near these were; 0 before the first
 */
bool edit_distance_nearer(const char *name, const char *other, unsigned *best);

#endif
