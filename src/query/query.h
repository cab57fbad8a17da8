/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace as tables: typed columns, and scans that leave out what constraints exclude. It knows no engine of queries; engines ask a scan for
 * the values of its row. Nothing is imported.
 *
 *	query_tables.c    the tables of a trace, and scans of any of them; query_columns.c: their columns
 *	query_records.c   events, counters, and one table for each event: rows are records, decoded ahead by several threads into
 *	                  columns: query_block.c
 *	query_store.c     the others: rows are made of many records, once, when a table is read first
 *	query_spans.c     spans, syscalls, calls          query_samples.c  samples, stacks, frames
 *	query_tasks.c     threads, processes, losses      query_sched.c    sched
 *
 * Rows are in the order of their first column, which is an integer. So bounds of it are found without reading the rows before.
 */
#ifndef BURIN_QUERY_QUERY_H
#define BURIN_QUERY_QUERY_H

#include <string.h>

#include "read/trace.h"
#include "view/losses.h"
#include "view/profile/profile_view.h"

enum {
	QUERY_NAME = 512, /* bytes of a name of a table, with its end */
	QUERY_EQUALS = 8,
	QUERY_COLUMNS = 64,	 /* of a table, at most */
	QUERY_BATCH_ROWS = 2048, /* at most; a vector of DuckDB has as many */
	QUERY_BYTES_BEHIND = 16, /* may be read behind each text, whatever they are */
};

enum query_type {
	QUERY_NULL,
	QUERY_INTEGER, /* unsigned numbers above INT64_MAX have the same bits */
	QUERY_REAL,
	QUERY_TEXT,
	QUERY_BLOB,
};

struct query_value {
	enum query_type type;
	int64_t integer;
	double real;
	const void *bytes; /* of text and blobs; valid until the scan moves */
	size_t size;
	bool lasting; /* the bytes are valid as long as the query */
};

struct query_field {
	const char *name;
	enum query_type type;
};

/* A column that must have a value: an integer, or a text compared by its bytes. */
struct query_equal {
	unsigned column;
	struct query_value value;
};

/* Rows outside of these are left out, so a caller need not check them again. */
struct query_bounds {
	int64_t from, to; /* of the first column; both are included */
	struct query_equal equals[QUERY_EQUALS];
	unsigned equal_count;
	bool has_row;
	int64_t row;	  /* its number */
	uint64_t columns; /* whose values will be asked for: a bit for each */
	/* The caller is one of several threads that scan, and does not ask for numbers of rows: nothing is decoded ahead. */
	bool alone;
};

/* A column of a batch of rows. */
struct query_column {
	enum query_type type; /* QUERY_NULL: not asked for */
	bool lasting;	      /* its texts are valid as long as the query */
	uint64_t nulls;	      /* how many */
	const uint64_t
		*cells; /* integers; doubles, as their bits; of texts and blobs: query_column_bytes() */
	const uint64_t *valid; /* a bit for each that is not NULL */
	const char *bytes;
};

struct query_batch {
	struct query_column columns[QUERY_COLUMNS];
};

static inline bool query_column_has(const struct query_column *column, size_t row)
{
	return !column->nulls || (column->valid[row / 64] >> row % 64 & 1);
}

/* A text or blob. Equal cells of a batch have equal bytes. */
static inline const char *query_column_bytes(const struct query_column *column, size_t row, size_t *size)
{
	const uint64_t cell = column->cells[row];

	*size = column->lasting ? strlen((const char *)(uintptr_t)cell) : cell >> 32;
	return column->lasting ? (const char *)(uintptr_t)cell : column->bytes + (uint32_t)cell;
}

struct query;
struct query_scan;
struct query_table;

/* Rows that were made. Each begins with an int64_t, its first column. */
struct query_store {
	void *rows;
	size_t count, room;
	bool made;
};

/* Tables of one kind have the same columns. Those of an event have its fields behind them. */
struct query_kind {
	const struct query_field *fields;
	unsigned field_count;
	bool counters; /* rows are the records of counters */
	/* Makes all rows, in any order, by query_store_add(). Return: 0; -ENOMEM. NULL: rows are records. */
	int (*make)(struct query *query, const struct query_table *table, struct query_store *store);
	size_t row_bytes;
	void (*value)(const struct query *query, const void *row, unsigned column, struct query_value *value);
};

struct query_table {
	char name[QUERY_NAME]; /* unique in its trace, without regard to case */
	const struct query_kind *kind;
	const struct burin_event *event; /* NULL: of all events */
	unsigned columns;
	unsigned choice; /* the kind's */
	struct query_store store;
};

struct query {
	const struct burin_trace *trace;
	struct burin_profile *profile; /* NULL: the trace has no samples */
	struct query_table *tables;
	unsigned count;
	unsigned threads;	     /* that may read */
	struct view_strings names;   /* of tables, in lower case */
	struct view_strings strings; /* of rows that were made */
};

struct query_scan {
	const struct query *query;
	const struct query_table *table;
	const struct query_bounds *bounds; /* the caller's, for as long as it scans */
	bool done;			   /* behind the last row */
	const char *row;		   /* of a store */
	size_t last;			   /* its last row */
	struct query_records *records;	   /* NULL: of a store */
	struct query_block *block;	   /* of a store: a batch */
	struct query_layout *layout;
};

/* Return: 0 or -ENOMEM. Call query_free() in any case. */
int query_make(struct query *query, const struct burin_trace *trace, unsigned threads);
void query_free(struct query *query);

/* The name and type of a column, unique in its table without regard to case. */
enum query_type query_column(const struct query_table *table, unsigned column, char name[QUERY_NAME]);
enum query_type query_column_type(const struct query_table *table, unsigned column);

/* About how many rows a table has. */
double query_rows(const struct query *query, const struct query_table *table);

static inline struct query_bounds query_all(void)
{
	return (struct query_bounds){ .from = INT64_MIN, .to = INT64_MAX, .columns = UINT64_MAX };
}

/*
 * Several threads may scan at the same time, each a scan of its own, while no row is made: rows of some tables are made when they are read first.
 * query_prepare() makes them before. These have one reader at a time.
 *
 * query_prepare - Return: 0 or -ENOMEM.
 * query_parts - cut a scan of records into parts of its first column, which hold about as many rows; the scan of another table is one part.
 * @parts: free() it. Return: their number, 0 if there are no rows; -ENOMEM.
 */
struct query_part {
	int64_t from, to; /* both are included */
};

int query_prepare(struct query *query, struct query_table *table);
ssize_t query_parts(const struct query *query, const struct query_table *table,
		    const struct query_bounds *bounds, struct query_part **parts);

/* Moves to the first row. Return: 0 or -ENOMEM. Call query_scan_end() in any case. */
int query_scan_begin(struct query_scan *scan, struct query *query, struct query_table *table,
		     const struct query_bounds *bounds);
int query_scan_next(struct query_scan *scan);
void query_scan_end(struct query_scan *scan);
/*
 * query_scan_batch - instead of the two functions below and query_scan_next(): the next rows in columns.
 * @batch: valid until the scan moves or ends
 * Return: how many rows; 0: there are no more; -ENOMEM.
 */
ssize_t query_scan_batch(struct query_scan *scan, struct query_batch *batch);
void query_scan_value(const struct query_scan *scan, unsigned column, struct query_value *value);
/* The number of the row: the same in each scan, whatever its bounds. */
int64_t query_scan_row(const struct query_scan *scan);

#endif
