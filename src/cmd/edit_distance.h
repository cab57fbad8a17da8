/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How far a name is from one that was meant. */
#ifndef BURIN_CMD_EDIT_DISTANCE_H
#define BURIN_CMD_EDIT_DISTANCE_H

/*
 * edit_distance - how many bytes must be inserted, removed or replaced, or neighbours swapped, to make one name of the other.
 * Of longer names the first 128 bytes are compared.
 */
unsigned edit_distance(const char *one, const char *other);

#endif
