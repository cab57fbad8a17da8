/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Runs of records become columns: one loop for each column of a run; see query_block.h. */
#include "query/query_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "query/query_kinds.h"
#include "view/json.h"
#include "view/records/field_json.h"
#include "wire/wire_format.h"

/* A column of a run that is being filled: the cells from @base on. */
struct block_fill {
	const struct query_layout *layout;
	const struct read_run *run;
	struct read_ahead_items *items;
	struct block_column *column;
	size_t base;
	enum query_type type;
};

void query_layout_make(struct query_layout *layout, const struct query_scan *scan)
{
	const struct query_bounds *bounds = scan->bounds;

	*layout = (struct query_layout){ .query = scan->query, .table = scan->table, .bounds = bounds };
	layout->slot_count = BLOCK_ROW + 1;
	for (unsigned column = 0; column < scan->table->columns; column++) {
		layout->types[column] = query_column_type(scan->table, column);
		if (bounds->columns >> column & 1)
			layout->slots[column] = layout->slot_count++;
	}
	layout->bytes = sizeof(struct query_block) + layout->slot_count * sizeof(struct block_column);
}

void query_block_clear(const struct query_layout *layout, struct query_block *block)
{
	block->rows = 0;
	for (unsigned slot = 0; slot < layout->slot_count; slot++) {
		block->columns[slot].nulls = 0;
		memset(block->columns[slot].valid, 0xff, sizeof(block->columns[slot].valid));
	}
}

void query_block_null(struct block_column *column, size_t row)
{
	column->nulls++;
	column->valid[row / 64] &= ~(1ull << row % 64);
	column->cells[row] = 0;
}

/* Whether the texts of a column last as long as the query. */
static bool column_lasts(const struct query_table *table, unsigned column)
{
	return table->kind->make || column < RECORD_FIRST_FIELD || (!table->event && column == RECORD_EVENT);
}

static struct query_column column_of(const struct query_layout *layout, const struct block_column *column,
				     const char *bytes, unsigned number)
{
	return (struct query_column){ .type = layout->types[number],
				      .lasting = column_lasts(layout->table, number),
				      .nulls = column->nulls,
				      .cells = column->cells,
				      .valid = column->valid,
				      .bytes = bytes };
}

struct query_column query_block_column(const struct query_layout *layout, const struct query_block *block,
				       const char *bytes, unsigned column)
{
	const unsigned slot = layout->slots[column];

	return slot ? column_of(layout, &block->columns[slot], bytes, column)
		    : (struct query_column){ .type = QUERY_NULL };
}

void query_column_value(const struct query_column *column, size_t row, struct query_value *value)
{
	*value = (struct query_value){ .type = QUERY_NULL };
	if (column->type == QUERY_NULL || !query_column_has(column, row))
		return;
	value->type = column->type;
	value->lasting = column->lasting;
	if (column->type == QUERY_INTEGER)
		value->integer = (int64_t)column->cells[row];
	else if (column->type == QUERY_REAL)
		memcpy(&value->real, &column->cells[row], sizeof(value->real));
	else
		value->bytes = query_column_bytes(column, row, &value->size);
}

/* ---- Cells of bytes */

/* Copies bytes to those of the items. Return: false: no memory. */
static bool cell_bytes(struct read_ahead_items *items, const void *bytes, size_t size, uint64_t *cell)
{
	const size_t at = items->bytes_used;

	if (at + size > UINT32_MAX ||
	    !array_reserve(items->bytes, items->bytes_room, at + size + QUERY_BYTES_BEHIND))
		return false;
	memcpy(items->bytes + at, bytes, size);
	items->bytes_used += size;
	*cell = at | (uint64_t)size << 32;
	return true;
}

/* All fields, as an object of JSON. */
static bool cell_json(struct read_ahead_items *items, const struct burin_record *record, uint64_t *cell)
{
	struct view_buffer out = { 0 };
	struct json json;
	bool made;

	json_begin_object(&json, &out, 0);
	for (unsigned n = 0; n < record->event->fields; n++) {
		json_key(&json, burin_event_field(record->event, n)->name);
		view_json_value(&json, record, n);
	}
	json_end(&json);
	made = !out.failed && cell_bytes(items, out.bytes, out.used - 1, cell);
	view_buffer_free(&out);
	return made;
}

/* The bytes of a field, or of the elements of an array. Return: 0; a negative errno: it has none. */
static int field_bytes(const struct burin_record *record, unsigned field, const void **bytes, size_t *size)
{
	const struct burin_field *of = burin_event_field(record->event, field);
	size_t count;
	int error;

	if (of->type == BURIN_TYPE_BYTES)
		return burin_record_bytes(record, field, bytes, size);
	error = burin_record_array(record, field, bytes, &count);
	*size = error ? 0 : count * format_type_bytes(of->element);
	return error;
}

/* ---- A column of a run */

/* Texts are short, mostly: QUERY_BYTES_BEHIND bytes are copied in one piece, and what is behind a text is overwritten by the next one. */
static bool fill_texts(const struct block_fill *fill, unsigned field)
{
	struct read_ahead_items *items = fill->items;

	for (size_t n = 0; n < fill->run->count; n++) {
		const size_t at = items->bytes_used;
		size_t size;
		const char *text = read_record_text(&fill->run->records[n], field, &size);

		if (at + size > UINT32_MAX ||
		    !array_reserve(items->bytes, items->bytes_room, at + size + QUERY_BYTES_BEHIND))
			return false;
		memcpy(items->bytes + at, text, QUERY_BYTES_BEHIND);
		if (size > QUERY_BYTES_BEHIND)
			memcpy(items->bytes + at, text, size);
		items->bytes_used = at + size;
		fill->column->cells[fill->base + n] = at | (uint64_t)size << 32;
	}
	return true;
}

static bool fill_bytes(const struct block_fill *fill, unsigned field)
{
	for (size_t n = 0; n < fill->run->count; n++) {
		const void *bytes;
		size_t size;

		if (field_bytes(&fill->run->records[n], field, &bytes, &size))
			query_block_null(fill->column, fill->base + n);
		else if (!cell_bytes(fill->items, bytes, size, &fill->column->cells[fill->base + n]))
			return false;
	}
	return true;
}

static bool fill_reals(const struct block_fill *fill, unsigned field)
{
	for (size_t n = 0; n < fill->run->count; n++) {
		double real;

		if (burin_record_double(&fill->run->records[n], field, &real))
			query_block_null(fill->column, fill->base + n);
		else
			memcpy(&fill->column->cells[fill->base + n], &real, sizeof(real));
	}
	return true;
}

static bool fill_field(const struct block_fill *fill, unsigned field)
{
	if (fill->type == QUERY_INTEGER) {
		if (!read_run_integers(fill->run, field, &fill->column->cells[fill->base]))
			for (size_t n = 0; n < fill->run->count; n++)
				query_block_null(fill->column, fill->base + n);
		return true;
	}
	if (fill->type == QUERY_REAL)
		return fill_reals(fill, field);
	return fill->type == QUERY_TEXT ? fill_texts(fill, field) : fill_bytes(fill, field);
}

/* Records of a thread come in runs. */
static void fill_thread(const struct block_fill *fill, enum query_of of)
{
	const struct burin_trace *trace = fill->layout->query->trace;
	struct query_value value = { .type = QUERY_NULL };
	uint64_t from = 1, until = 0;
	uint32_t tid = 0;

	for (size_t n = 0; n < fill->run->count; n++) {
		const struct burin_record *record = &fill->run->records[n];

		if (record->tid != tid || record->time < from || record->time > until) {
			tid = record->tid;
			query_of_thread(read_thread_find(trace, tid, record->time, &from, &until), of,
					&value);
		}
		if (value.type == QUERY_NULL)
			query_block_null(fill->column, fill->base + n);
		else
			fill->column->cells[fill->base + n] =
				of == QUERY_OF_PID ? (uint64_t)value.integer : (uintptr_t)value.bytes;
	}
}

/* A column that is a member of each record. */
static void fill_member(const struct block_fill *fill, unsigned column)
{
	uint64_t *cells = &fill->column->cells[fill->base];

	for (size_t n = 0; n < fill->run->count; n++) {
		const struct burin_record *record = &fill->run->records[n];

		switch (column) {
		case RECORD_TIME:
			cells[n] = (uint64_t)burin_trace_ns(fill->layout->query->trace, record->time);
			break;
		case RECORD_CPU:
			cells[n] = record->cpu;
			if (record->cpu == UINT32_MAX)
				query_block_null(fill->column, fill->base + n);
			break;
		case RECORD_TID:
			cells[n] = record->tid;
			break;
		default:
			cells[n] = (uintptr_t)record->event->name;
		}
	}
}

static bool fill_json(const struct block_fill *fill)
{
	for (size_t n = 0; n < fill->run->count; n++)
		if (!cell_json(fill->items, &fill->run->records[n], &fill->column->cells[fill->base + n]))
			return false;
	return true;
}

/* Return: false: no memory. */
static bool fill_column(const struct block_fill *fill, unsigned column)
{
	const struct query_table *table = fill->layout->table;

	if (table->event && column >= RECORD_FIRST_FIELD)
		return fill_field(fill, column - RECORD_FIRST_FIELD);
	if (column == RECORD_FIELDS)
		return table->kind->counters ? fill_reals(fill, 0) : fill_json(fill);
	if (column >= RECORD_PID && column <= RECORD_PROGRAM)
		fill_thread(fill, QUERY_OF_PID + (enum query_of)(column - RECORD_PID));
	else
		fill_member(fill, column);
	return true;
}

/* ---- Rows */

const struct read_stream *query_row_file(const struct burin_trace *trace, uint64_t number, unsigned *file)
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

static int files_by_address(const void *a, const void *b)
{
	const struct block_file *one = a, *other = b;

	return number_order((uintptr_t)one->name, (uintptr_t)other->name);
}

int query_layout_files(struct query_layout *layout)
{
	const struct burin_trace *trace = layout->query->trace;
	size_t count = 0;

	for (unsigned n = 0; n < trace->stream_count; n++)
		count += trace->streams[n].file_count;
	layout->files = calloc(count + 1, sizeof(*layout->files));
	if (!layout->files)
		return -ENOMEM;
	for (unsigned n = 0; n < trace->stream_count; n++)
		for (unsigned at = 0; at < trace->streams[n].file_count; at++, layout->file_count++)
			layout->files[layout->file_count] =
				(struct block_file){ trace->streams[n].files[at].name, layout->file_count };
	qsort(layout->files, layout->file_count, sizeof(*layout->files), files_by_address);
	return 0;
}

void query_layout_free(struct query_layout *layout)
{
	free(layout->files);
	layout->files = NULL;
	layout->file_count = 0;
}

/* The number of a file. Records of several CPUs take turns, and a split recording has thousands of files. */
static uint64_t file_number(const struct query_layout *layout, const char *name)
{
	const struct block_file wanted = { name, 0 },
				*found = bsearch(&wanted, layout->files, layout->file_count,
						 sizeof(*layout->files), files_by_address);

	return found ? found->number : layout->file_count;
}

/* A record is identified by its file and its offset there. */
static void rows_number(const struct query_layout *layout, const struct read_run *run, uint64_t *numbers)
{
	const char *name = NULL;
	uint64_t file = 0;

	for (size_t n = 0; n < run->count; n++) {
		if (run->records[n].file != name) {
			name = run->records[n].file;
			file = file_number(layout, name) << ROW_FILE_SHIFT;
		}
		numbers[n] = file | run->records[n].offset;
	}
}

/* Keeps the records of a run that are marked. */
static void run_keep(struct read_run *run, const bool *wanted)
{
	size_t kept = 0;

	for (size_t n = 0; n < run->count; n++)
		if (wanted[n])
			run->records[kept++] = run->records[n];
	run->count = kept;
}

/* Keeps the records that have a value. @column: has room for a run */
static bool run_keep_equal(const struct query_layout *layout, struct read_run *run,
			   struct read_ahead_items *items, struct block_column *column,
			   const struct query_equal *equal)
{
	const size_t bytes_before = items->bytes_used;
	const struct block_fill fill = { layout, run, items, column, 0, layout->types[equal->column] };
	struct query_column cells;
	bool wanted[READ_RUN];

	column->nulls = 0;
	memset(column->valid, 0xff, sizeof(column->valid));
	if (!fill_column(&fill, equal->column))
		return false;
	cells = column_of(layout, column, items->bytes, equal->column);
	for (size_t n = 0; n < run->count; n++) {
		struct query_value value;

		query_column_value(&cells, n, &value);
		wanted[n] = query_value_is(&value, &equal->value);
	}
	items->bytes_used = bytes_before;
	run_keep(run, wanted);
	return true;
}

/* Keeps the records that are rows of the table, within the bounds. */
static bool run_keep_wanted(const struct query_layout *layout, struct read_run *run,
			    struct read_ahead_items *items)
{
	const struct query_bounds *bounds = layout->bounds;
	struct block_column column;
	bool wanted[READ_RUN];

	if (layout->table->kind->counters) {
		for (size_t n = 0; n < run->count; n++)
			wanted[n] = run->records[n].event->kind == BURIN_KIND_COUNTER;
		run_keep(run, wanted);
	}
	if (bounds->has_row) {
		rows_number(layout, run, column.cells);
		for (size_t n = 0; n < run->count; n++)
			wanted[n] = column.cells[n] == (uint64_t)bounds->row;
		run_keep(run, wanted);
	}
	for (unsigned n = 0; n < bounds->equal_count; n++)
		if (!run_keep_equal(layout, run, items, &column, &bounds->equals[n]))
			return false;
	return true;
}

static bool block_add(const struct query_layout *layout, const struct read_run *run,
		      struct read_ahead_items *items, struct query_block *block)
{
	if (!layout->bounds->alone)
		rows_number(layout, run, &block->columns[BLOCK_ROW].cells[block->rows]);
	for (unsigned column = 0; column < layout->table->columns; column++) {
		const unsigned slot = layout->slots[column];
		const struct block_fill fill = { layout,      run,
						 items,	      &block->columns[slot],
						 block->rows, layout->types[column] };

		if (slot && !fill_column(&fill, column))
			return false;
	}
	block->rows += run->count;
	return true;
}

/* A block with room. Return: 1; 0: @most are full; -ENOMEM. */
static int block_open(const struct query_layout *layout, struct read_ahead_items *items, size_t most,
		      struct query_block **block)
{
	if (items->count) {
		*block = query_block_at(layout, items, items->count - 1);
		if ((*block)->rows < QUERY_BATCH_ROWS)
			return 1;
	}
	if (items->count == most)
		return 0;
	if (!array_reserve_items(&items->items, &items->room, items->count + 1, layout->bytes, SIZE_MAX,
				 false))
		return -ENOMEM;
	*block = query_block_at(layout, items, items->count++);
	query_block_clear(layout, *block);
	return 1;
}

int query_block_decode(const struct query_layout *layout, struct burin_cursor *cursor,
		       struct read_ahead_items *items, size_t most)
{
	struct query_block *block;
	struct read_run run; /* large, so it is not set to 0 */
	int result;

	run.only = layout->table->event;
	for (;;) {
		result = block_open(layout, items, most, &block);
		if (result <= 0)
			return result ? result : 1;
		run.room = QUERY_BATCH_ROWS - block->rows;
		if (run.room > READ_RUN)
			run.room = READ_RUN;
		result = read_cursor_run(cursor, &run);
		if (result <= 0)
			return result;
		if (!run_keep_wanted(layout, &run, items) || !block_add(layout, &run, items, block))
			return -ENOMEM;
	}
}
