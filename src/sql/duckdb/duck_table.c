/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Table functions; see duck_table.h. */
#include "sql/duckdb/duck_table.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char no_memory[] = "no memory for these rows; raise the limit with --memory";
static const int duck_types[] = { [QUERY_INTEGER] = DUCK_BIGINT,
				  [QUERY_REAL] = DUCK_DOUBLE,
				  [QUERY_TEXT] = DUCK_VARCHAR,
				  [QUERY_BLOB] = DUCK_BLOB };

/* The bounds that a query gives. */
struct duck_bind {
	struct duck_table *table;
	int64_t from, to;
};

/* A scan by all threads: parts of time, which they take one after the other. */
struct duck_scan {
	struct duck_table *table;
	struct query_bounds bounds;
	struct query_part *parts;
	size_t count;
	atomic_size_t next;
	unsigned columns; /* of the result: which of the table they are */
	unsigned of[QUERY_COLUMNS];
};

/* The scan of a thread. */
struct duck_local {
	struct query_bounds bounds;
	struct query_scan scan;
	bool open;
	struct query_batch batch;
	uint64_t at, rows; /* of it: rows that DuckDB has, and all */
	char *text;	   /* valid UTF-8 */
	size_t room;
};

/* ---- Bind */

static void bind_bound(duck_handle info, const char *name, int64_t *bound)
{
	duck_handle value = duck.bind_get_named_parameter(info, name);

	if (value && !duck.is_null_value(value))
		*bound = duck.get_int64(value);
	if (value)
		duck.destroy_value(&value);
}

static void bind_columns(duck_handle info, const struct query_table *table)
{
	char name[QUERY_NAME], text[QUERY_NAME * TEXT_UTF8_MAX];

	for (unsigned n = 0; n < table->columns; n++) {
		duck_handle type = duck.create_logical_type(duck_types[query_column(table, n, name)]);

		text[text_utf8(text, name, strlen(name))] = '\0';
		duck.bind_add_result_column(info, text, type);
		duck.destroy_logical_type(&type);
	}
}

static void duck_bind(duck_handle info)
{
	struct duck_table *table = duck.bind_get_extra_info(info);
	struct duck_bind *bind = calloc(1, sizeof(*bind));

	if (!bind || (table->all->ready && query_prepare(table->query, table->table))) {
		free(bind);
		duck.bind_set_error(info, no_memory);
		return;
	}
	*bind = (struct duck_bind){ .table = table, .from = INT64_MIN, .to = INT64_MAX };
	bind_bound(info, "since", &bind->from);
	bind_bound(info, "until", &bind->to);
	bind_columns(info, table->table);
	duck.bind_set_cardinality(info, (uint64_t)query_rows(table->query, table->table), false);
	duck.bind_set_bind_data(info, bind, free);
}

/* ---- Init */

static void duck_scan_free(void *data)
{
	struct duck_scan *scan = data;

	free(scan->parts);
	free(scan);
}

/* The columns of the result; one that is not of the table, such as a row's number, is not asked for. */
static void scan_columns(struct duck_scan *scan, duck_handle info)
{
	const struct query_table *table = scan->table->table;
	const uint64_t count = duck.init_get_column_count(info);

	scan->bounds.columns = 0;
	for (uint64_t n = 0; n < count && n < QUERY_COLUMNS; n++) {
		const uint64_t column = duck.init_get_column_index(info, n);

		scan->of[n] = column < table->columns ? (unsigned)column : UINT32_MAX;
		scan->columns = (unsigned)n + 1;
		if (column < table->columns)
			scan->bounds.columns |= 1ull << column;
	}
}

static void duck_init(duck_handle info)
{
	const struct duck_bind *bind = duck.init_get_bind_data(info);
	struct duck_scan *scan = calloc(1, sizeof(*scan));
	ssize_t count = -1;

	if (scan) {
		scan->table = bind->table;
		scan->bounds = query_all();
		scan->bounds.from = bind->from;
		scan->bounds.to = bind->to;
		scan->bounds.alone = true;
		scan_columns(scan, info);
		count = query_parts(bind->table->query, bind->table->table, &scan->bounds, &scan->parts);
	}
	if (count < 0) {
		free(scan);
		duck.init_set_error(info, no_memory);
		return;
	}
	scan->count = (size_t)count;
	duck.init_set_max_threads(info, scan->count ? scan->count : 1);
	duck.init_set_init_data(info, scan, duck_scan_free);
}

static void duck_local_free(void *data)
{
	struct duck_local *local = data;

	if (local->open)
		query_scan_end(&local->scan);
	free(local->text);
	free(local);
}

static void duck_local_init(duck_handle info)
{
	struct duck_local *local = calloc(1, sizeof(*local));

	if (local)
		duck.init_set_init_data(info, local, duck_local_free);
	else
		duck.init_set_error(info, no_memory);
}

/* ---- Rows */

/* Copies the bits of values that are not NULL. @at: the first row in the batch, a multiple of 64 */
static void vector_valid(duck_handle vector, const struct query_column *column, uint64_t at, uint64_t rows)
{
	if (!column->nulls)
		return;
	duck.vector_ensure_validity_writable(vector);
	memcpy(duck.vector_get_validity(vector), column->valid + at / 64,
	       (rows + 63) / 64 * sizeof(uint64_t));
}

/* A text of ASCII as DuckDB has it, if it is short: in place, with zeros behind it. @bytes: QUERY_BYTES_BEHIND may be read */
static bool text_in_place(struct duck_text *text, const char *bytes, size_t size)
{
	static const uint64_t masks[][2] = {
#define MASK_FIRST(bytes) { UINT64_MAX >> (64 - 8 * (bytes)), 0 }
#define MASK_ALL(bytes)                                      \
	{                                                    \
		UINT64_MAX, UINT64_MAX >> (64 - 8 * (bytes)) \
	}
		{ 0, 0 },      MASK_FIRST(1), MASK_FIRST(2), MASK_FIRST(3), MASK_FIRST(4),
		MASK_FIRST(5), MASK_FIRST(6), MASK_FIRST(7), MASK_FIRST(8), MASK_ALL(1),
		MASK_ALL(2),   MASK_ALL(3),   MASK_ALL(4),
	};
	uint64_t words[2];

	if (size > sizeof(text->place))
		return false;
	memcpy(words, bytes, sizeof(words));
	words[0] &= masks[size][0];
	words[1] &= masks[size][1];
	text->length = (uint32_t)size;
	memcpy(text->place, words, sizeof(text->place));
	return !((words[0] | words[1]) & 0x8080808080808080);
}

/* Return: false: no memory. */
static bool vector_text(struct duck_local *local, duck_handle vector, uint64_t row, const char *bytes,
			size_t size)
{
	const size_t most = size * TEXT_UTF8_MAX;

	if (most + 1 > local->room) {
		char *text = realloc(local->text, most + 1);

		if (!text)
			return false;
		local->text = text;
		local->room = most + 1;
	}
	duck.vector_assign_string_element_len(vector, row, local->text, text_utf8(local->text, bytes, size));
	return true;
}

/* Texts and blobs. Equal cells in a row are one text, which DuckDB's vector has once. Return: false: no memory. */
static bool vector_texts(struct duck_local *local, duck_handle vector, const struct query_column *column,
			 uint64_t at, uint64_t rows)
{
	struct duck_text *texts = duck.vector_get_data(vector);

	for (uint64_t row = 0; row < rows; row++) {
		const char *bytes;
		size_t size;

		if (!query_column_has(column, at + row))
			continue;
		if (row && column->cells[at + row] == column->cells[at + row - 1] &&
		    query_column_has(column, at + row - 1)) {
			texts[row] = texts[row - 1];
			continue;
		}
		bytes = query_column_bytes(column, at + row, &size);
		if (column->type == QUERY_BLOB)
			duck.vector_assign_string_element_len(vector, row, size ? bytes : "", size);
		else if ((column->lasting || !text_in_place(&texts[row], bytes, size)) &&
			 !vector_text(local, vector, row, bytes, size))
			return false;
	}
	return true;
}

/* The next part. Return: 1; 0: there are no more; a negative errno. */
static int local_next_part(struct duck_local *local, struct duck_scan *scan)
{
	const size_t number = atomic_fetch_add(&scan->next, 1);

	if (local->open)
		query_scan_end(&local->scan);
	local->open = false;
	if (number >= scan->count)
		return 0;
	local->bounds = scan->bounds;
	local->bounds.from = scan->parts[number].from;
	local->bounds.to = scan->parts[number].to;
	local->open = true;
	return query_scan_begin(&local->scan, scan->table->query, scan->table->table, &local->bounds)
		       ? -ENOMEM
		       : 1;
}

/* The next batch. Return: 1; 0: there are no more; a negative errno. */
static int local_next_batch(struct duck_local *local, struct duck_scan *scan)
{
	while (local->at == local->rows) {
		ssize_t rows = 0;

		if (local->open)
			rows = query_scan_batch(&local->scan, &local->batch);
		if (rows < 0)
			return (int)rows;
		local->at = 0;
		local->rows = (uint64_t)rows;
		if (!rows) {
			const int result = local_next_part(local, scan);

			if (result <= 0)
				return result;
		}
	}
	return 1;
}

/* Return: how many rows; a negative errno. */
static ssize_t local_fill(struct duck_local *local, const struct duck_scan *scan, duck_handle chunk)
{
	const uint64_t room = duck.vector_size(), left = local->rows - local->at;
	const uint64_t rows = left < room ? left : room;

	for (unsigned n = 0; n < scan->columns; n++) {
		const struct query_column *column = &local->batch.columns[scan->of[n]];
		const duck_handle vector = duck.data_chunk_get_vector(chunk, n);

		if (scan->of[n] == UINT32_MAX)
			continue;
		vector_valid(vector, column, local->at, rows);
		if (column->type == QUERY_INTEGER || column->type == QUERY_REAL)
			memcpy(duck.vector_get_data(vector), column->cells + local->at,
			       rows * sizeof(*column->cells));
		else if (!vector_texts(local, vector, column, local->at, rows))
			return -ENOMEM;
	}
	local->at += rows;
	return (ssize_t)rows;
}

static void duck_rows(duck_handle info, duck_handle chunk)
{
	struct duck_scan *scan = duck.function_get_init_data(info);
	struct duck_local *local = duck.function_get_local_init_data(info);
	const bool locked = scan->table->table->kind->make != NULL;
	ssize_t count;

	if (locked)
		pthread_mutex_lock(&scan->table->all->lock);
	count = local_next_batch(local, scan);
	if (count > 0)
		count = local_fill(local, scan, chunk);
	if (locked)
		pthread_mutex_unlock(&scan->table->all->lock);
	if (count < 0)
		duck.function_set_error(info, no_memory);
	duck.data_chunk_set_size(chunk, count < 0 ? 0 : (uint64_t)count);
}

bool duck_table_register(duck_handle connection, const char *name, struct duck_table *table)
{
	duck_handle function = duck.create_table_function(), bigint = duck.create_logical_type(DUCK_BIGINT);
	int result;

	duck.table_function_set_name(function, name);
	duck.table_function_set_extra_info(function, table, NULL);
	duck.table_function_add_named_parameter(function, "since", bigint);
	duck.table_function_add_named_parameter(function, "until", bigint);
	duck.table_function_set_bind(function, duck_bind);
	duck.table_function_set_init(function, duck_init);
	duck.table_function_set_local_init(function, duck_local_init);
	duck.table_function_set_function(function, duck_rows);
	duck.table_function_supports_projection_pushdown(function, true);
	result = duck.register_table_function(connection, function);
	duck.destroy_logical_type(&bigint);
	duck.destroy_table_function(&function);
	return !result;
}
