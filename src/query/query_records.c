/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tables whose rows are records. Threads decode them ahead (view/read_ahead.h), and only the columns that are asked for, into blocks
 * (query_block.h). The number of a row is that of the record's file, and its offset there.
 *
 * Bounds of time choose packets. So does a CPU, if it has one ring only, and the number of a row. Other constraints are checked when a record
 * is decoded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_block.h"
#include "query/query_kinds.h"

enum {
	PART_BYTES = 4 << 20,
};

#define RECORD_COLUMNS                                                                 \
	{ "time", QUERY_INTEGER }, { "cpu", QUERY_INTEGER }, { "tid", QUERY_INTEGER }, \
		{ "pid", QUERY_INTEGER }, { "thread", QUERY_TEXT },                    \
	{                                                                              \
		"program", QUERY_TEXT                                                  \
	}

static const struct query_field event_columns[] = {
	RECORD_COLUMNS, { "event", QUERY_TEXT }, { "fields", QUERY_TEXT }, /* JSON */
};

static const struct query_field counter_columns[] = {
	RECORD_COLUMNS,
	{ "event", QUERY_TEXT },
	{ "value", QUERY_REAL },
};

const struct query_kind query_events = { .fields = event_columns, .field_count = RECORD_FIELDS + 1 };
const struct query_kind query_counters = { .fields = counter_columns,
					   .field_count = COUNTER_VALUE + 1,
					   .counters = true };
const struct query_kind query_one_event = { .fields = event_columns, .field_count = RECORD_FIRST_FIELD };

struct query_records {
	const struct query_scan *scan;
	struct query_layout layout;
	struct read_ahead *ahead;	      /* NULL: the scan is alone, and decodes by itself: */
	struct burin_cursor *cursor;	      /* the records that are left ... */
	struct read_ahead_items own;	      /* ... and a block of them */
	const struct read_ahead_items *items; /* the blocks at hand */
	struct query_block *block;	      /* the one that has the row ... */
	size_t number, at;		      /* ... its number among them, and the row in it */
	bool batch;			      /* the caller has the block as a batch */
	bool one_cpu;
	uint32_t cpu;
	struct read_ahead_work work;
};

static int records_decode(const void *data, struct burin_cursor *cursor, struct read_ahead_items *items)
{
	const struct query_records *records = data;

	return query_block_decode(&records->layout, cursor, items, SIZE_MAX);
}

/* ---- A scan */

/* Bounds of the packet that has a row. Return: false: there is none. */
static bool bounds_of_row(struct query_records *records, int64_t row)
{
	const struct burin_trace *trace = records->scan->query->trace;
	const uint64_t offset = (uint64_t)row & ((1ull << ROW_FILE_SHIFT) - 1);
	const struct read_stream *stream;
	unsigned file;

	stream = row < 0 ? NULL : query_row_file(trace, (uint64_t)row >> ROW_FILE_SHIFT, &file);
	for (size_t n = 0; stream && n < stream->packet_count; n++) {
		const struct read_packet *packet = &stream->packets[n];

		if (packet->file != file || offset < packet->offset ||
		    offset - packet->offset >= packet->packet_bytes)
			continue;
		records->work.one_ring = true;
		records->work.ring = stream->ring.number;
		if (packet->time_begin > records->work.from)
			records->work.from = packet->time_begin;
		if (packet->time_end < UINT64_MAX &&
		    (!records->work.to || packet->time_end + 1 < records->work.to))
			records->work.to = packet->time_end + 1;
		return true;
	}
	return false;
}

/* A CPU usually has one ring, which has records of no other. Return: false: no ring has any. */
static bool bounds_of_cpu(struct query_records *records)
{
	const struct burin_trace *trace = records->scan->query->trace;
	const struct burin_ring *found = NULL;
	unsigned count = 0;

	for (unsigned n = 0; n < burin_trace_rings(trace); n++) {
		const struct burin_ring *ring = burin_trace_ring(trace, n);

		if (!ring->locked && ring->cpu != records->cpu)
			continue;
		found = ring;
		count++;
	}
	if (count == 1) {
		records->work.one_ring = true;
		records->work.ring = found->number;
	}
	return count > 0;
}

static bool bounds_of_equals(struct query_records *records)
{
	const struct query_bounds *bounds = records->scan->bounds;

	for (unsigned n = 0; n < bounds->equal_count; n++) {
		const unsigned column = bounds->equals[n].column;
		const int64_t number = bounds->equals[n].value.integer;

		if (column != RECORD_CPU)
			continue;
		if (number < 0 || number >= UINT32_MAX)
			return false;
		records->one_cpu = true;
		records->cpu = (uint32_t)number;
	}
	return !records->one_cpu || bounds_of_cpu(records);
}

/* A time in ns is rounded down, so it is at or after a whole one exactly if its ticks are. */
static void bounds_of_time(const struct burin_trace *trace, const struct query_bounds *bounds, uint64_t *from,
			   uint64_t *to)
{
	if (bounds->from != INT64_MIN)
		*from = burin_trace_ticks(trace, bounds->from);
	if (bounds->to == INT64_MAX)
		return;
	*to = burin_trace_ticks(trace, bounds->to + 1);
	if (!*to)
		*to = 1;
}

/* Times of records are rounded down, so all that have the time of a cut are in the part behind it. */
ssize_t query_records_parts(const struct query *query, const struct query_bounds *bounds,
			    struct query_part **parts)
{
	uint64_t from = 0, to = 0, *ticks;
	ssize_t count;

	bounds_of_time(query->trace, bounds, &from, &to);
	if (to && from >= to)
		return 0;
	count = read_time_partition(query->trace, from, to, PART_BYTES, PART_BYTES, &ticks);
	if (count < 0)
		return count;
	*parts = calloc((size_t)count, sizeof(**parts));
	for (ssize_t n = 0; *parts && n < count; n++) {
		(*parts)[n].from = n ? burin_trace_ns(query->trace, ticks[n]) : bounds->from;
		(*parts)[n].to = bounds->to;
		if (n)
			(*parts)[n - 1].to = (*parts)[n].from - 1;
	}
	free(ticks);
	return *parts ? count : -ENOMEM;
}

/* A scan that is alone has a block at a time, and no thread. */
static int records_open(struct query_records *records)
{
	const struct read_ahead_work *work = &records->work;
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .flags = work->one_ring ? BURIN_CURSOR_RING : 0,
						      .ring = work->ring,
						      .from = work->from,
						      .to = work->to };

	return records->scan->bounds->alone ? burin_cursor_open(&records->cursor, work->trace, &options)
					    : read_ahead_open(&records->ahead, work);
}

int query_records_begin(struct query_scan *scan)
{
	struct query_records *records = calloc(1, sizeof(*records));
	int error;

	if (!records)
		return -ENOMEM;
	scan->records = records;
	records->scan = scan;
	records->work = (struct read_ahead_work){ .trace = scan->query->trace,
						  .threads = scan->query->threads,
						  .decode_all = records_decode,
						  .data = records };
	query_layout_make(&records->layout, scan);
	bounds_of_time(scan->query->trace, scan->bounds, &records->work.from, &records->work.to);
	scan->done = !bounds_of_equals(records) ||
		     (scan->bounds->has_row && !bounds_of_row(records, scan->bounds->row)) ||
		     (records->work.to && records->work.from >= records->work.to);
	if (scan->done)
		return 0;
	error = query_layout_files(&records->layout) ?: records_open(records);
	return error ? error : query_records_next(scan);
}

/* The next blocks. Return: 1; 0: there are no more; -ENOMEM. */
static int records_load(struct query_records *records)
{
	int result;

	if (records->ahead)
		return read_ahead_next(records->ahead, &records->items);
	records->items = &records->own;
	records->own.count = records->own.bytes_used = 0;
	result = query_block_decode(&records->layout, records->cursor, &records->own, 1);
	if (result < 0)
		return result;
	return records->own.count && query_block_at(&records->layout, &records->own, 0)->rows;
}

/* Moves to the next block that has a row. */
static int records_next_block(struct query_scan *scan)
{
	struct query_records *records = scan->records;
	int result = 1;

	records->number++;
	records->at = 0;
	for (;;) {
		if (!records->items || records->number >= records->items->count) {
			result = records_load(records);
			records->number = 0;
		}
		if (result <= 0) {
			scan->done = true;
			return result;
		}
		if (records->items->count) {
			records->block = query_block_at(&records->layout, records->items, records->number);
			if (records->block->rows)
				return 0;
			records->number++;
		}
	}
}

int query_records_next(struct query_scan *scan)
{
	struct query_records *records = scan->records;

	return records->block && ++records->at < records->block->rows ? 0 : records_next_block(scan);
}

ssize_t query_records_batch(struct query_scan *scan, struct query_batch *batch)
{
	struct query_records *records = scan->records;
	int error = records->batch && !scan->done ? records_next_block(scan) : 0;

	records->batch = true;
	if (error || scan->done)
		return error;
	for (unsigned n = 0; n < scan->table->columns; n++)
		batch->columns[n] =
			query_block_column(&records->layout, records->block, records->items->bytes, n);
	return (ssize_t)records->block->rows;
}

void query_records_end(struct query_scan *scan)
{
	struct query_records *records = scan->records;

	read_ahead_close(records->ahead);
	burin_cursor_close(records->cursor);
	query_layout_free(&records->layout);
	free(records->own.items);
	free(records->own.bytes);
	free(records);
}

void query_records_value(const struct query_scan *scan, unsigned column, struct query_value *value)
{
	const struct query_records *records = scan->records;
	const struct query_column cells =
		query_block_column(&records->layout, records->block, records->items->bytes, column);

	query_column_value(&cells, records->at, value);
}

int64_t query_records_row(const struct query_scan *scan)
{
	const struct query_records *records = scan->records;

	return (int64_t)records->block->columns[BLOCK_ROW].cells[records->at];
}
