/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Columns that grow value by value, and become an ArrowArray. */
#ifndef BURIN_ARROW_ARROW_BATCH_H
#define BURIN_ARROW_ARROW_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "arrow/arrow_abi.h"
#include "query/query.h"

/* A column of a batch. */
struct arrow_column {
	enum query_type type;
	size_t count, nulls;
	uint8_t *valid; /* a bit for each value that is not NULL */
	size_t valid_room;
	int64_t *numbers; /* or doubles, as their bits */
	size_t number_room;
	int32_t *ends; /* of texts and blobs; ends[0] is 0 */
	size_t end_room;
	char *bytes;
	size_t byte_count, byte_room;
};

/* Return: false: no memory. */
bool arrow_column_add(struct arrow_column *column, const struct query_column *from, size_t rows);
void arrow_column_free(struct arrow_column *column);

/* The columns become an array, which then owns their buffers; they are empty again. Return: false: no memory, and nothing has changed. */
bool arrow_batch_make(struct arrow_column *columns, unsigned count, size_t rows, struct ArrowArray *batch);

#endif
