/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tables whose rows are records. Threads decode them ahead, and only the columns that are asked for (view/read_ahead.h).
 *
 * A decoded row is an array of cells of 64 bits:
 *
 *	0	a bit for each cell of a value: it is NULL
 *	1	the record's file and ...
 *	2	... its offset there: together the number of the row
 *	3...	values: integers; doubles; pointers to texts that last; of other texts and blobs, where their bytes begin in those of the
 *		items, and, in the upper half, how many they are
 *
 * Bounds of time choose packets. So does a CPU, if it has one ring only, and the number of a row. Other constraints are checked when a record
 * is decoded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "query/query_kinds.h"
#include "view/json.h"
#include "view/read_ahead.h"
#include "view/records/field_json.h"
#include "wire/wire_format.h"

enum {
	ROW_NULLS,
	ROW_FILE,
	ROW_OFFSET,
	ROW_VALUES,
	PART_BYTES = 4 << 20,
	ROW_FILE_SHIFT = 40, /* bits of an offset in the number of a row */
};

/* The columns before an event's fields. */
enum {
	RECORD_TIME,
	RECORD_CPU,
	RECORD_TID,
	RECORD_PID,
	RECORD_THREAD,
	RECORD_PROGRAM,
	RECORD_FIRST_FIELD, /* of the table of an event */
	RECORD_EVENT = RECORD_FIRST_FIELD,
	RECORD_FIELDS, /* of all events */
	COUNTER_VALUE = RECORD_FIELDS,
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
const struct query_kind query_counters = { .fields = counter_columns, .field_count = COUNTER_VALUE + 1 };
const struct query_kind query_one_event = { .fields = event_columns, .field_count = RECORD_FIRST_FIELD };

struct query_records {
	const struct query_scan *scan;
	struct read_ahead *ahead;
	const struct read_ahead_items *items;
	size_t at;	    /* the row in them */
	size_t stride;	    /* cells of a row */
	unsigned slots[64]; /* by column: its cell; 0: not asked for */
	enum query_type types[64];
	unsigned columns;
	bool one_tid, one_cpu;
	uint32_t tid, cpu;
	struct read_ahead_work work;
};

/* ---- A record to a row */

static void cell_null(uint64_t *row, unsigned slot)
{
	row[ROW_NULLS] |= 1ull << (slot - ROW_VALUES);
}

/* Copies bytes to those of the items. Return: the cell; 0: no memory, which @failed says. */
static uint64_t cell_bytes(struct read_ahead_items *items, const void *bytes, size_t size, bool *failed)
{
	const size_t at = items->bytes_used;

	if (at + size > UINT32_MAX || !array_reserve(items->bytes, items->bytes_room, at + size + 1)) {
		*failed = true;
		return 0;
	}
	memcpy(items->bytes + at, bytes, size);
	items->bytes_used += size;
	return at | (uint64_t)size << 32;
}

/* All fields, as an object of JSON. */
static uint64_t cell_json(struct read_ahead_items *items, const struct burin_record *record, bool *failed)
{
	struct view_buffer out = { 0 };
	struct json json;
	uint64_t cell;

	json_begin_object(&json, &out, 0);
	for (unsigned n = 0; n < record->event->fields; n++) {
		json_key(&json, burin_event_field(record->event, n)->name);
		view_json_value(&json, record, n);
	}
	json_end(&json);
	*failed |= out.failed;
	cell = out.failed ? 0 : cell_bytes(items, out.bytes, out.used - 1, failed);
	view_buffer_free(&out);
	return cell;
}

/* The bytes of a text, of bytes, and of the elements of an array. Return: 0; a negative errno: it has none. */
static int field_bytes(const struct burin_record *record, unsigned field, const void **bytes, size_t *size)
{
	const struct burin_field *of = burin_event_field(record->event, field);
	const char *text;
	size_t count;
	int error;

	if (of->type == BURIN_TYPE_STR) {
		error = burin_record_string(record, field, &text, size);
		*bytes = text;
		return error;
	}
	if (of->type == BURIN_TYPE_BYTES)
		return burin_record_bytes(record, field, bytes, size);
	error = burin_record_array(record, field, bytes, &count);
	*size = error ? 0 : count * format_type_bytes(of->element);
	return error;
}

static int cell_of_field(struct read_ahead_items *items, const struct burin_record *record, unsigned field,
			 enum query_type type, uint64_t *cell)
{
	const void *bytes;
	bool failed = false;
	double real;
	size_t size;
	int error;

	if (type == QUERY_REAL) {
		error = burin_record_double(record, field, &real);
		memcpy(cell, &real, sizeof(real));
		return error;
	}
	if (type == QUERY_INTEGER) {
		if (!burin_record_u64(record, field, cell))
			return 0;
		return burin_record_i64(record, field, (int64_t *)cell);
	}
	error = field_bytes(record, field, &bytes, &size);
	if (!error)
		*cell = cell_bytes(items, bytes, size, &failed);
	return failed ? -ENOMEM : error;
}

/* Return: 0; -ENODATA: it is NULL; -ENOMEM. */
static int cell_make(const struct query_records *records, struct read_ahead_items *items,
		     const struct burin_record *record, unsigned column, uint64_t *cell)
{
	const struct query *query = records->scan->query;
	struct query_value value;
	bool failed = false;

	switch (column) {
	case RECORD_TIME:
		*cell = (uint64_t)burin_trace_ns(query->trace, record->time);
		return 0;
	case RECORD_CPU:
		*cell = record->cpu;
		return record->cpu == UINT32_MAX ? -ENODATA : 0;
	case RECORD_TID:
		*cell = record->tid;
		return 0;
	case RECORD_PID:
	case RECORD_THREAD:
	case RECORD_PROGRAM:
		query_of_thread(query, record->tid, record->time,
				QUERY_OF_PID + (enum query_of)(column - RECORD_PID), &value);
		*cell = column == RECORD_PID ? (uint64_t)value.integer : (uintptr_t)value.bytes;
		return value.type == QUERY_NULL ? -ENODATA : 0;
	case RECORD_EVENT:
		*cell = (uintptr_t)record->event->name;
		return 0;
	default:
		*cell = cell_json(items, record, &failed);
		return failed ? -ENOMEM : 0;
	}
}

static void records_cell(const struct query_records *records, const struct read_ahead_items *items,
			 const uint64_t *row, unsigned column, struct query_value *value)
{
	const unsigned slot = records->slots[column];
	const uint64_t cell = row[slot];
	const bool lasting = column < RECORD_FIELDS && !records->scan->table->event;

	if (!slot || row[ROW_NULLS] >> (slot - ROW_VALUES) & 1) {
		query_null(value);
	} else if (records->types[column] == QUERY_INTEGER) {
		query_integer(value, (int64_t)cell);
	} else if (records->types[column] == QUERY_REAL) {
		*value = (struct query_value){ .type = QUERY_REAL };
		memcpy(&value->real, &cell, sizeof(cell));
	} else if (lasting || column < RECORD_FIRST_FIELD || records->scan->table->kind == &query_counters) {
		query_text(value, (const char *)(uintptr_t)cell);
	} else {
		*value = (struct query_value){ .type = records->types[column],
					       .bytes = items->bytes + (uint32_t)cell,
					       .size = cell >> 32 };
	}
}

/* A record is identified by its file, by number among those of all rings, and its offset. */
static int64_t records_row(const struct query_records *records, const uint64_t *row)
{
	const struct burin_trace *trace = records->scan->query->trace;
	uint64_t file = 0;

	for (unsigned n = 0; n < trace->stream_count; n++) {
		const struct read_stream *stream = &trace->streams[n];

		for (unsigned at = 0; at < stream->file_count; at++, file++)
			if ((uintptr_t)stream->files[at].name == row[ROW_FILE])
				return (int64_t)(file << ROW_FILE_SHIFT | row[ROW_OFFSET]);
	}
	return (int64_t)(file << ROW_FILE_SHIFT | row[ROW_OFFSET]);
}

/* Removes the last row of the items, if it is not wanted. */
static void row_drop_unwanted(const struct query_records *records, struct read_ahead_items *items,
			      size_t bytes_before)
{
	const uint64_t *row = (const uint64_t *)items->items + (items->count - 1) * records->stride;
	const struct query_bounds *bounds = records->scan->bounds;
	const int64_t number = bounds->has_row ? records_row(records, row) : 0;
	bool wanted = number == (bounds->has_row ? bounds->row : 0);
	struct query_value value;

	for (unsigned n = 0; n < bounds->equal_count && wanted; n++) {
		records_cell(records, items, row, bounds->equals[n].column, &value);
		wanted = query_value_is(&value, &bounds->equals[n].value);
	}
	if (wanted)
		return;
	items->count--;
	items->bytes_used = bytes_before;
}

/* Return: as of cell_make() */
static int row_cell(const struct query_records *records, const struct burin_record *record,
		    struct read_ahead_items *items, unsigned column, uint64_t *cell)
{
	const struct query_table *table = records->scan->table;

	if (table->kind == &query_counters && column == COUNTER_VALUE)
		return cell_of_field(items, record, 0, QUERY_REAL, cell);
	if (table->event && column >= RECORD_FIRST_FIELD)
		return cell_of_field(items, record, column - RECORD_FIRST_FIELD, records->types[column],
				     cell);
	return cell_make(records, items, record, column, cell);
}

static int row_add(const struct query_records *records, const struct burin_record *record,
		   struct read_ahead_items *items)
{
	const size_t bytes_before = items->bytes_used;
	uint64_t *row;

	if (!array_reserve_items(&items->items, &items->room, items->count + 1,
				 records->stride * sizeof(*row), SIZE_MAX, false))
		return -ENOMEM;
	row = (uint64_t *)items->items + items->count++ * records->stride;
	row[ROW_NULLS] = 0;
	row[ROW_FILE] = (uintptr_t)record->file;
	row[ROW_OFFSET] = record->offset;
	for (unsigned column = 0; column < records->columns; column++) {
		const unsigned slot = records->slots[column];
		const int error = slot ? row_cell(records, record, items, column, &row[slot]) : 0;

		if (error == -ENOMEM)
			return error;
		if (error)
			cell_null(row, slot);
	}
	row_drop_unwanted(records, items, bytes_before);
	return 0;
}

static int records_decode(const void *data, const struct burin_record *record, struct read_ahead_items *items)
{
	const struct query_records *records = data;
	const struct query_table *table = records->scan->table;

	if ((table->event && record->event != table->event) ||
	    (records->one_tid && record->tid != records->tid) ||
	    (records->one_cpu && record->cpu != records->cpu))
		return 0;
	if (table->kind == &query_counters && record->event->kind != BURIN_KIND_COUNTER)
		return 0;
	return row_add(records, record, items);
}

/* ---- A scan */

/* The file of a row, by its number among those of all rings. Return: its ring; NULL: there is none. */
static const struct read_stream *file_of_row(const struct burin_trace *trace, uint64_t number, unsigned *file)
{
	for (unsigned n = 0; n < trace->stream_count; n++) {
		if (number < trace->streams[n].file_count) {
			*file = (unsigned)number;
			return &trace->streams[n];
		}
		number -= trace->streams[n].file_count;
	}
	return NULL;
}

/* Bounds of the packet that has a row. Return: false: there is none. */
static bool bounds_of_row(struct query_records *records, int64_t row)
{
	const struct burin_trace *trace = records->scan->query->trace;
	const uint64_t offset = (uint64_t)row & ((1ull << ROW_FILE_SHIFT) - 1);
	const struct read_stream *stream;
	unsigned file;

	stream = row < 0 ? NULL : file_of_row(trace, (uint64_t)row >> ROW_FILE_SHIFT, &file);
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

		if (column != RECORD_TID && column != RECORD_CPU)
			continue;
		if (number < 0 || number >= UINT32_MAX)
			return false;
		if (column == RECORD_TID) {
			records->one_tid = true;
			records->tid = (uint32_t)number;
		} else {
			records->one_cpu = true;
			records->cpu = (uint32_t)number;
		}
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

static void records_slots(struct query_records *records)
{
	const struct query_scan *scan = records->scan;
	char name[QUERY_NAME];

	records->columns = scan->table->columns;
	records->stride = ROW_VALUES;
	for (unsigned column = 0; column < records->columns; column++) {
		bool wanted = scan->bounds->columns >> column & 1;

		for (unsigned n = 0; n < scan->bounds->equal_count; n++)
			wanted |= scan->bounds->equals[n].column == column;
		if (!wanted)
			continue;
		records->types[column] = query_column(scan->table, column, name);
		records->slots[column] = (unsigned)records->stride++;
	}
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
						  .threads = scan->bounds->alone ? 0 : scan->query->threads,
						  .decode = records_decode,
						  .data = records };
	records_slots(records);
	bounds_of_time(scan->query->trace, scan->bounds, &records->work.from, &records->work.to);
	scan->done = !bounds_of_equals(records) ||
		     (scan->bounds->has_row && !bounds_of_row(records, scan->bounds->row)) ||
		     (records->work.to && records->work.from >= records->work.to);
	if (scan->done)
		return 0;
	error = read_ahead_open(&records->ahead, &records->work);
	return error ? error : query_records_next(scan);
}

int query_records_next(struct query_scan *scan)
{
	struct query_records *records = scan->records;
	int result;

	records->at++;
	while (!records->items || records->at >= records->items->count) {
		result = read_ahead_next(records->ahead, &records->items);
		if (result <= 0) {
			scan->done = true;
			return result;
		}
		records->at = 0;
	}
	return 0;
}

void query_records_end(struct query_scan *scan)
{
	read_ahead_close(scan->records->ahead);
	free(scan->records);
}

static const uint64_t *records_at(const struct query_records *records)
{
	return (const uint64_t *)records->items->items + records->at * records->stride;
}

void query_records_value(const struct query_scan *scan, unsigned column, struct query_value *value)
{
	records_cell(scan->records, scan->records->items, records_at(scan->records), column, value);
}

int64_t query_records_row(const struct query_scan *scan)
{
	return records_row(scan->records, records_at(scan->records));
}
