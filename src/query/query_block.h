/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Blocks of rows in columns, into which records are decoded. A column has cells of 64 bits, a bit for each that has a value, and only those
 * columns are there that a query asks for. Cells are
 *
 *	integers; doubles, as their bits; pointers to texts that last as long as the query; of other texts and blobs, where their bytes
 *	begin in those of the items, and, in the upper half, how many they are
 */
#ifndef BURIN_QUERY_QUERY_BLOCK_H
#define BURIN_QUERY_QUERY_BLOCK_H

#include "query/query.h"
#include "view/read_ahead.h"

struct block_column {
	uint64_t nulls;
	uint64_t valid[QUERY_BATCH_ROWS / 64];
	uint64_t cells[QUERY_BATCH_ROWS];
};

enum {
	BLOCK_ROW, /* the slot of the numbers of rows; those of columns are behind it */
};

struct query_block {
	size_t rows;
	struct block_column columns[]; /* by slot */
};

/* A file of the trace, by the address of its name, and its number among those of all rings. */
struct block_file {
	const char *name;
	uint64_t number;
};

/* Which column of a table is where in a block. */
struct query_layout {
	const struct query *query;
	const struct query_table *table;
	const struct query_bounds *bounds;
	unsigned slots[QUERY_COLUMNS]; /* 0: not asked for */
	enum query_type types[QUERY_COLUMNS];
	unsigned slot_count;
	size_t bytes;		  /* of a block */
	struct block_file *files; /* in order of their addresses: query_layout_files() */
	size_t file_count;
};

void query_layout_make(struct query_layout *layout, const struct query_scan *scan);
/* query_layout_files - number the files, for rows that are records. Return: 0; -ENOMEM. Call query_layout_free() in any case. */
int query_layout_files(struct query_layout *layout);
void query_layout_free(struct query_layout *layout);
/* Begins a block. */
void query_block_clear(const struct query_layout *layout, struct query_block *block);
/* Makes a cell NULL. */
void query_block_null(struct block_column *column, size_t row);
/* The column of a table in a block. */
struct query_column query_block_column(const struct query_layout *layout, const struct query_block *block,
				       const char *bytes, unsigned column);
/* The value of a cell. */
void query_column_value(const struct query_column *column, size_t row, struct query_value *value);

/* The n-th block of items. */
static inline struct query_block *query_block_at(const struct query_layout *layout,
						 const struct read_ahead_items *items, size_t n)
{
	return (struct query_block *)((char *)items->items + n * layout->bytes);
}

/* query_block_decode - the wanted records of a cursor, from the next one on, as blocks. Return: 1: @most are full; 0: the end; -ENOMEM. */
int query_block_decode(const struct query_layout *layout, struct burin_cursor *cursor,
		       struct read_ahead_items *items, size_t most);

/* A file by its number, as the upper bits of a row's number have it, and its ring; NULL: there is none. */
enum {
	ROW_FILE_SHIFT = 40, /* bits of an offset in the number of a row */
};
const struct read_stream *query_row_file(const struct burin_trace *trace, uint64_t number, unsigned *file);

#endif
