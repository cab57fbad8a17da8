/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads and checks a table of the profile (docs/format.md, "Samples"): blocks, entries, numbers and texts. The
 * file of each table interprets its entries.
 */
#ifndef BURIN_READ_PROFILE_TABLES_H
#define BURIN_READ_PROFILE_TABLES_H

#include "base/containers/arena.h"
#include "read/trace.h"

enum {
	READ_COLUMNS_MAX = 2, /* of a block */
};

/* An array that grows. Zero it before use; the caller frees the items. */
struct read_vector {
	void *items;
	size_t count, room;
};

/* Adds a zeroed item. Return: the item; NULL: no memory. */
void *read_vector_add(struct read_vector *vector, size_t bytes);

/* The entry that is being read. */
struct read_entry {
	const unsigned char *at, *end; /* from here on, up to the end of its block */
	uint32_t number;	       /* among those of all chunks */
	uint32_t own;		       /* in its table */
	const char *reason;	       /* why it is wrong; NULL: it is not */
	void *row;		       /* where its content goes: zeroed, struct read_table.row_bytes long */
	uint32_t columns;	       /* of the block; 0: no columns, `at` moves from field to field */
	uint32_t column;	       /* the next one */
	struct {
		const unsigned char *at;
		uint64_t highest; /* number so far */
	} in[READ_COLUMNS_MAX];
};

/*
 * The next number or text of the entry. Once a reason is set, they are 0 and empty, so callers check it once, at
 * the end. A text points into the block: it is valid until the entry is done, and has no NUL.
 */
uint64_t read_entry_number(struct read_entry *entry, uint64_t max, const char *what);
const char *read_entry_text(struct read_entry *entry, bool raw, size_t *bytes);

/* A copy of the text in the arena, with a NUL; NULL: no memory. */
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
	uint32_t entry_bytes_min; /* detects a header that claims too many entries */
	size_t row_bytes;	  /* 0: no rows */
	uint32_t columns;	  /* of a block, if it has columns */
	/* Reads an entry. Return: 0 or -ENOMEM; a fault of the entry goes into entry->reason. */
	int (*take)(void *data, struct read_entry *entry);
	uint64_t (*memory)(const void *data); /* bytes of all entries that were read */
};

/*
 * Reads a table until its blocks, or the memory for their entries, exceed the trace's limits. A wrong entry is
 * reported. Its row and the later ones of its block stay zero; entries of other blocks keep their numbers.
 * @chunk: whose table
 * @rows: an array that the caller frees, rows[0] is entry 1, of *count rows: the table's are added; NULL: no rows
 * Return: 0; -ENOMEM: the rows have been freed.
 */
int read_table_load(const struct burin_trace *trace, const struct read_table *table, unsigned chunk,
		    void *data, void **rows, uint32_t *count);
/* The same for all chunks. @bases: receives, by chunk and one more, how many entries the earlier chunks have */
int read_tables_load(const struct burin_trace *trace, const struct read_table *table, void *data, void **rows,
		     uint32_t **bases, uint32_t *count);
/* The newest chunk with such a file: a table that goes on from chunk to chunk has there all entries. */
unsigned read_table_newest(const struct burin_trace *trace, const char *file);

#endif
