/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reading a table of the profile (docs/format.md, "Samples"): blocks, entries, numbers and texts, all of them
 * checked. What the entries mean is the business of each table's file.
 */
#ifndef BURIN_READ_TABLES_H
#define BURIN_READ_TABLES_H

#include "base/arena.h"
#include "read/trace.h"

enum {
	READ_COLUMNS_MAX = 2, /* of a block */
	READ_TABLE_BYTES_MAX =
		1
		<< 30, /* of all blocks of a table together, uncompressed: what more there is, is not read */
};

/* An array that grows, to be freed. Zero it before use. */
struct read_vector {
	void *items;
	size_t count, room;
};

/* Room for one more item, which is zeroed and counted; NULL: no memory. */
void *read_vector_add(struct read_vector *vector, size_t bytes);

/* The entry at hand. */
struct read_entry {
	const unsigned char *at, *end; /* from here on, up to the end of its block */
	uint32_t number;
	const char *reason; /* what is wrong with it; NULL: nothing */
	void *row;	    /* what to make of it: zeroed, of struct read_table.row_bytes */
	uint32_t columns;   /* of the block; 0: `at` goes from field to field */
	uint32_t column;    /* which is next */
	struct {
		const unsigned char *at;
		uint64_t highest; /* number so far */
	} in[READ_COLUMNS_MAX];
};

/* The next number or text of the entry; once a reason is set they are 0 and empty, so it need be asked for only
 * once. A text lies in the block: it holds until the entry is done, and ends in no NUL. */
uint64_t read_entry_number(struct read_entry *entry, uint64_t max, const char *what);
const char *read_entry_text(struct read_entry *entry, bool raw, size_t *bytes);

/* A text that stays: with a NUL behind it; NULL: no memory. */
static inline const char *read_entry_keep(struct read_entry *entry, struct arena *arena, bool raw,
					  size_t *bytes)
{
	const char *text = read_entry_text(entry, raw, bytes);

	return arena_keep(arena, text, *bytes);
}

static inline uint32_t read_entry_u32(struct read_entry *entry, const char *what)
{
	return (uint32_t)read_entry_number(entry, UINT32_MAX, what);
}

struct read_table {
	const char *file;
	uint32_t magic;
	uint32_t entry_bytes_min; /* so that a claim of many entries can be seen through */
	size_t row_bytes;	  /* 0: rows are not wanted */
	uint32_t columns;	  /* that blocks may have */
	/* Return: 0 or -ENOMEM; what is wrong goes into entry->reason. */
	int (*take)(void *data, struct read_entry *entry);
};

/*
 * Reads a table. An entry that is wrong is reported; its row, and those behind it in its block, stay zero, and
 * entries of other blocks keep their numbers.
 * @rows: receives an array, to be freed, rows[0] being entry 1; NULL if rows are not wanted
 * Return: 0 or -ENOMEM.
 */
int read_table_load(const struct burin_trace *trace, const struct read_table *table, void *data, void **rows,
		    uint32_t *count);

#endif
