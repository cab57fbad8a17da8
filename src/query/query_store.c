/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows that are made of many records. They are made when a table is read first, and kept: a query may read them many times. Bounds of the
 * first column are found by binary search.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "query/query_block.h"
#include "query/query_kinds.h"

void *query_store_add(struct query_store *store, size_t row_bytes)
{
	char *row;

	if (!array_reserve_items(&store->rows, &store->room, store->count + 1, row_bytes, SIZE_MAX, false))
		return NULL;
	row = (char *)store->rows + store->count++ * row_bytes;
	return memset(row, 0, row_bytes);
}

static int64_t store_key(const void *row)
{
	int64_t key;

	memcpy(&key, row, sizeof(key));
	return key;
}

static int store_order(const void *a, const void *b)
{
	const int64_t one = store_key(a), other = store_key(b);

	return (one > other) - (one < other);
}

/* Most rows are made in their order already. */
static void store_sort(struct query_store *store, size_t bytes)
{
	const char *rows = store->rows;

	for (size_t n = 1; n < store->count; n++)
		if (store_order(rows + (n - 1) * bytes, rows + n * bytes) > 0) {
			qsort(store->rows, store->count, bytes, store_order);
			return;
		}
}

int query_store_make(struct query *query, struct query_table *table)
{
	struct query_store *store = &table->store;
	int error;

	if (store->made)
		return 0;
	error = table->kind->make(query, table, store);
	if (!error && query->strings.failed)
		error = -ENOMEM;
	if (error) {
		free(store->rows);
		*store = (struct query_store){ .rows = NULL };
		return error;
	}
	store_sort(store, table->kind->row_bytes);
	store->made = true;
	return 0;
}

/* The first row whose key is at least @key, or, @behind, above it. */
static size_t store_find(const struct query_store *store, size_t bytes, int64_t key, bool behind)
{
	size_t low = 0, high = store->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int64_t found = store_key((const char *)store->rows + middle * bytes);

		if (found < key || (behind && found == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool store_row_is_wanted(const struct query_scan *scan)
{
	for (unsigned n = 0; n < scan->bounds->equal_count; n++) {
		const struct query_equal *equal = &scan->bounds->equals[n];
		struct query_value value;

		scan->table->kind->value(scan->query, scan->row, equal->column, &value);
		if (!query_value_is(&value, &equal->value))
			return false;
	}
	return true;
}

static void store_settle(struct query_scan *scan, const char *end)
{
	while (scan->row < end && !store_row_is_wanted(scan))
		scan->row += scan->table->kind->row_bytes;
	scan->done = scan->row >= end;
}

int query_store_begin(struct query_scan *scan, struct query *query, struct query_table *table)
{
	const struct query_bounds *bounds = scan->bounds;
	const size_t bytes = table->kind->row_bytes;
	const int error = query_store_make(query, table);
	size_t first, last;

	if (error)
		return error;
	first = store_find(&table->store, bytes, bounds->from, false);
	last = store_find(&table->store, bytes, bounds->to, true);
	if (bounds->has_row) {
		const size_t row = bounds->row < 1 ? 0 : (size_t)bounds->row;

		first = row > first ? row - 1 : first;
		last = row < last ? row : last;
	}
	scan->last = last;
	scan->done = first >= last;
	if (scan->done)
		return 0;
	scan->row = (const char *)table->store.rows + first * bytes;
	store_settle(scan, (const char *)table->store.rows + last * bytes);
	return 0;
}

void query_store_next(struct query_scan *scan)
{
	scan->row += scan->table->kind->row_bytes;
	store_settle(scan, (const char *)scan->table->store.rows + scan->last * scan->table->kind->row_bytes);
}

/* ---- Batches */

/* The block of a scan, which is made for its first batch. */
static bool store_block_make(struct query_scan *scan)
{
	if (scan->block)
		return true;
	scan->layout = malloc(sizeof(*scan->layout));
	if (!scan->layout)
		return false;
	query_layout_make(scan->layout, scan);
	scan->block = malloc(scan->layout->bytes);
	return scan->block != NULL;
}

/* Adds the row of the scan to its block. */
static void store_block_add(const struct query_scan *scan)
{
	const size_t at = scan->block->rows++;

	for (unsigned n = 0; n < scan->table->columns; n++) {
		struct block_column *column = &scan->block->columns[scan->layout->slots[n]];
		struct query_value value;

		if (!scan->layout->slots[n])
			continue;
		scan->table->kind->value(scan->query, scan->row, n, &value);
		if (value.type != scan->layout->types[n])
			query_block_null(column, at);
		else if (value.type == QUERY_INTEGER)
			column->cells[at] = (uint64_t)value.integer;
		else if (value.type == QUERY_REAL)
			memcpy(&column->cells[at], &value.real, sizeof(value.real));
		else
			column->cells[at] = (uintptr_t)value.bytes;
	}
}

ssize_t query_store_batch(struct query_scan *scan, struct query_batch *batch)
{
	if (scan->done)
		return 0;
	if (!store_block_make(scan))
		return -ENOMEM;
	query_block_clear(scan->layout, scan->block);
	for (; !scan->done && scan->block->rows < QUERY_BATCH_ROWS; query_store_next(scan))
		store_block_add(scan);
	for (unsigned n = 0; n < scan->table->columns; n++)
		batch->columns[n] = query_block_column(scan->layout, scan->block, NULL, n);
	return (ssize_t)scan->block->rows;
}
