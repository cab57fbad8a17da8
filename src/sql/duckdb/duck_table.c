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
	unsigned columns; /* of the result: which of the table they are, and their types */
	unsigned of[64];
	enum query_type types[64];
};

/* The scan of a thread. */
struct duck_local {
	struct query_bounds bounds;
	struct query_scan scan;
	bool open;
	char *text; /* valid UTF-8 */
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
	char name[QUERY_NAME];

	scan->bounds.columns = 0;
	for (uint64_t n = 0; n < count && n < 64; n++) {
		const uint64_t column = duck.init_get_column_index(info, n);

		scan->of[n] = column < table->columns ? (unsigned)column : UINT32_MAX;
		scan->columns = (unsigned)n + 1;
		if (column >= table->columns)
			continue;
		scan->types[n] = query_column(table, (unsigned)column, name);
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

static void vector_null(duck_handle vector, uint64_t row)
{
	duck.vector_ensure_validity_writable(vector);
	duck.vector_get_validity(vector)[row / 64] &= ~(1ull << row % 64);
}

/* Return: false: no memory. */
static bool vector_text(struct duck_local *local, duck_handle vector, uint64_t row,
			const struct query_value *value)
{
	const size_t most = value->size * TEXT_UTF8_MAX;

	if (value->type == QUERY_BLOB) {
		duck.vector_assign_string_element_len(vector, row, value->size ? value->bytes : "",
						      value->size);
		return true;
	}
	if (most + 1 > local->room) {
		char *text = realloc(local->text, most + 1);

		if (!text)
			return false;
		local->text = text;
		local->room = most + 1;
	}
	duck.vector_assign_string_element_len(vector, row, local->text,
					      text_utf8(local->text, value->bytes, value->size));
	return true;
}

static bool vector_value(struct duck_local *local, duck_handle vector, void *data, uint64_t row,
			 enum query_type type, const struct query_value *value)
{
	if (value->type != type) {
		vector_null(vector, row);
		return true;
	}
	if (type == QUERY_INTEGER)
		((int64_t *)data)[row] = value->integer;
	else if (type == QUERY_REAL)
		((double *)data)[row] = value->real;
	else
		return vector_text(local, vector, row, value);
	return true;
}

/* The next part, if it has a row. Return: 1; 0: there are no more; a negative errno. */
static int local_next_part(struct duck_local *local, struct duck_scan *scan)
{
	while (!local->open || local->scan.done) {
		const size_t number = atomic_fetch_add(&scan->next, 1);
		int error;

		if (local->open)
			query_scan_end(&local->scan);
		local->open = false;
		if (number >= scan->count)
			return 0;
		local->bounds = scan->bounds;
		local->bounds.from = scan->parts[number].from;
		local->bounds.to = scan->parts[number].to;
		error = query_scan_begin(&local->scan, scan->table->query, scan->table->table,
					 &local->bounds);
		local->open = true;
		if (error)
			return error;
	}
	return 1;
}

/* Return: how many rows; a negative errno. */
static ssize_t local_fill(struct duck_local *local, const struct duck_scan *scan, duck_handle chunk)
{
	const uint64_t room = duck.vector_size();
	duck_handle vectors[64];
	void *data[64];
	uint64_t row;
	int error = 0;

	for (unsigned n = 0; n < scan->columns; n++) {
		vectors[n] = duck.data_chunk_get_vector(chunk, n);
		data[n] = duck.vector_get_data(vectors[n]);
	}
	for (row = 0; row < room && !local->scan.done; row++) {
		for (unsigned n = 0; n < scan->columns && !error; n++) {
			struct query_value value;

			if (scan->of[n] == UINT32_MAX)
				continue;
			query_scan_value(&local->scan, scan->of[n], &value);
			if (!vector_value(local, vectors[n], data[n], row, scan->types[n], &value))
				error = -ENOMEM;
		}
		if (!error)
			error = query_scan_next(&local->scan);
		if (error)
			return error;
	}
	return (ssize_t)row;
}

static void duck_rows(duck_handle info, duck_handle chunk)
{
	struct duck_scan *scan = duck.function_get_init_data(info);
	struct duck_local *local = duck.function_get_local_init_data(info);
	const bool locked = scan->table->table->kind->make != NULL;
	ssize_t count;

	if (locked)
		pthread_mutex_lock(&scan->table->all->lock);
	count = local_next_part(local, scan);
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
