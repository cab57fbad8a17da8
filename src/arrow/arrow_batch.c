/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Columns of a batch; see arrow_batch.h. */
#include "arrow/arrow_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/text.h"

enum {
	BUFFERS_MAX = 3, /* of a column */
};

static bool type_has_bytes(enum query_type type)
{
	return type == QUERY_TEXT || type == QUERY_BLOB;
}

/* ---- Values */

/* The bits of values that are not NULL. Return: false: no memory. */
static bool column_bits(struct arrow_column *column, const struct query_column *from, size_t rows)
{
	const size_t end = column->count + rows;

	if (!array_reserve_zeroed(column->valid, column->valid_room, end / 8 + 1))
		return false;
	for (size_t at = column->count, row = 0; at < end; at++, row++)
		if (!from->nulls && at % 8 == 0 && end - at >= 8) {
			column->valid[at / 8] = 0xff;
			at += 7;
			row += 7;
		} else if (query_column_has(from, row)) {
			column->valid[at / 8] |= (uint8_t)(1u << at % 8);
		}
	column->nulls += from->nulls;
	column->count = end;
	return true;
}

static bool column_numbers(struct arrow_column *column, const struct query_column *from, size_t rows)
{
	if (!array_reserve(column->numbers, column->number_room, column->count + rows))
		return false;
	memcpy(column->numbers + column->count, from->cells, rows * sizeof(*from->cells));
	return true;
}

/* Texts of a trace need not be UTF-8, but those of Arrow are: each byte that is not becomes U+FFFD, as in JSON. */
static bool column_add_bytes(struct arrow_column *column, const char *bytes, size_t size)
{
	const bool text = column->type == QUERY_TEXT;
	const size_t most = text ? size * TEXT_UTF8_MAX : size;

	if (column->byte_count + most > INT32_MAX ||
	    !array_reserve(column->bytes, column->byte_room, column->byte_count + most + 1))
		return false;
	if (text)
		column->byte_count += text_utf8(column->bytes + column->byte_count, bytes, size);
	else if (size) {
		memcpy(column->bytes + column->byte_count, bytes, size);
		column->byte_count += size;
	}
	return true;
}

static bool column_texts(struct arrow_column *column, const struct query_column *from, size_t rows)
{
	if (!array_reserve(column->ends, column->end_room, column->count + rows + 1))
		return false;
	column->ends[0] = 0;
	for (size_t row = 0; row < rows; row++) {
		if (query_column_has(from, row)) {
			size_t size;
			const char *bytes = query_column_bytes(from, row, &size);

			if (!column_add_bytes(column, bytes, size))
				return false;
		}
		column->ends[column->count + row + 1] = (int32_t)column->byte_count;
	}
	return true;
}

bool arrow_column_add(struct arrow_column *column, const struct query_column *from, size_t rows)
{
	return (type_has_bytes(column->type) ? column_texts(column, from, rows)
					     : column_numbers(column, from, rows)) &&
	       column_bits(column, from, rows);
}

void arrow_column_free(struct arrow_column *column)
{
	free(column->valid);
	free(column->numbers);
	free(column->ends);
	free(column->bytes);
	*column = (struct arrow_column){ .type = column->type };
}

/* ---- Arrays */

/* The property of the array of a column. A consumer may move the array out of its batch, and release it before or after that. */
struct arrow_child {
	const void *buffers[BUFFERS_MAX];
	struct arrow_column column;
};

struct arrow_parent {
	const void *no_bits; /* a batch has no NULL of its own */
	struct ArrowArray *arrays;
	struct ArrowArray **children;
};

static void child_release(struct ArrowArray *array)
{
	struct arrow_child *child = array->private_data;

	arrow_column_free(&child->column);
	free(child);
	array->release = NULL;
}

static void parent_release(struct ArrowArray *array)
{
	struct arrow_parent *parent = array->private_data;

	for (int64_t n = 0; n < array->n_children; n++)
		if (array->children[n]->release)
			array->children[n]->release(array->children[n]);
	free(parent->arrays);
	free(parent->children);
	free(parent);
	array->release = NULL;
}

/* An array that owns nothing yet. */
static bool child_make(struct ArrowArray *array)
{
	struct arrow_child *child = calloc(1, sizeof(*child));

	if (child)
		*array = (struct ArrowArray){ .buffers = child->buffers,
					      .release = child_release,
					      .private_data = child };
	return child != NULL;
}

/* Moves the buffers of a column into its array. */
static void child_take(struct ArrowArray *array, struct arrow_column *column)
{
	struct arrow_child *child = array->private_data;
	const bool bytes = type_has_bytes(column->type);

	child->column = *column;
	*column = (struct arrow_column){ .type = column->type };
	array->length = (int64_t)child->column.count;
	array->null_count = (int64_t)child->column.nulls;
	array->n_buffers = bytes ? 3 : 2;
	child->buffers[0] = child->column.nulls ? child->column.valid : NULL;
	child->buffers[1] = bytes ? (const void *)child->column.ends : child->column.numbers;
	child->buffers[2] = child->column.bytes;
}

bool arrow_batch_make(struct arrow_column *columns, unsigned count, size_t rows, struct ArrowArray *batch)
{
	struct arrow_parent *parent = calloc(1, sizeof(*parent));
	bool made;

	if (!parent)
		return false;
	*batch = (struct ArrowArray){ .length = (int64_t)rows,
				      .n_buffers = 1,
				      .buffers = &parent->no_bits,
				      .release = parent_release,
				      .private_data = parent };
	parent->arrays = calloc(count, sizeof(*parent->arrays));
	parent->children = batch->children = calloc(count, sizeof(*parent->children));
	made = parent->arrays && parent->children;
	for (unsigned n = 0; made && n < count; n++) {
		parent->children[n] = &parent->arrays[n];
		made = child_make(&parent->arrays[n]);
		batch->n_children += made;
	}
	if (!made) {
		parent_release(batch);
		return false;
	}
	for (unsigned n = 0; n < count; n++)
		child_take(&parent->arrays[n], &columns[n]);
	return true;
}
