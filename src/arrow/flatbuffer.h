/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A writer of flatbuffers, from the front to the back: a table comes before what it refers to. An offset is the number of bytes from itself to its
 * target; it is 0 until the target is written. A buffer begins with the offset of its root.
 *
 *	size_t root = flat_begin(out), table, item;
 *
 *	table = flat_table(out, root, (const struct flat_field[]){ FLAT_I64(rows), FLAT_OFFSET }, 2);
 *	item = flat_vector(out, flat_field(out, table, 1), count, 16, 8);
 *
 * Positions are those in the view_buffer, which has nothing else. Without memory it is `failed`, and positions are 0.
 */
#ifndef BURIN_ARROW_FLATBUFFER_H
#define BURIN_ARROW_FLATBUFFER_H

#include <stdint.h>

#include "view/buffer.h"

struct flat_field {
	uint8_t bytes; /* 0: the table lacks it */
	int64_t value;
};

#define FLAT_I64(number)    \
	{                   \
		8, (number) \
	}
#define FLAT_I32(number)    \
	{                   \
		4, (number) \
	}
#define FLAT_I16(number)    \
	{                   \
		2, (number) \
	}
#define FLAT_U8(number)     \
	{                   \
		1, (number) \
	}
#define FLAT_OFFSET  \
	{            \
		4, 0 \
	}
#define FLAT_ABSENT  \
	{            \
		0, 0 \
	}

/* Return: the position of the offset of the root. */
size_t flat_begin(struct view_buffer *out);
/* Appends a table, to which the offset at @reference points. Return: its position. */
size_t flat_table(struct view_buffer *out, size_t reference, const struct flat_field *fields, unsigned count);
/* The position of a field of a table. */
size_t flat_field(const struct view_buffer *out, size_t table, unsigned number);
/* Appends a vector of zeros. @align: of its items. Return: the position of the first. */
size_t flat_vector(struct view_buffer *out, size_t reference, size_t count, size_t item_bytes, size_t align);
void flat_text(struct view_buffer *out, size_t reference, const char *text);
/* Stores a number at a position. */
void flat_store(struct view_buffer *out, size_t position, int64_t number, unsigned bytes);
/* Appends zeros up to a multiple. */
void flat_align(struct view_buffer *out, size_t multiple);

#endif
