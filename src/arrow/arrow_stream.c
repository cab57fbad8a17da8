/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A scan as a stream; see arrow_stream.h. */
#include "arrow/arrow_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/arrow_batch.h"
#include "base/text.h"

enum {
	BATCH_ROWS = 1 << 16,
	BATCH_BYTES = 16 << 20, /* of the texts of a column: a batch with more ends */
};

static const char *const formats[] = {
	[QUERY_NULL] = "n", [QUERY_INTEGER] = "l", [QUERY_REAL] = "g", [QUERY_TEXT] = "u", [QUERY_BLOB] = "z",
};

struct arrow_scan {
	struct query *query;
	struct query_table *table;
	struct query_bounds bounds;
	struct query_scan scan;
	bool begun;
	int error;
	struct arrow_column *columns;
};

/* ---- The schema */

/* The property of a schema of columns. A consumer may move one of them out. */
struct arrow_fields {
	struct ArrowSchema *columns;
	struct ArrowSchema **children;
};

static void field_release(struct ArrowSchema *field)
{
	free(field->private_data);
	field->release = NULL;
}

static void schema_release(struct ArrowSchema *schema)
{
	struct arrow_fields *fields = schema->private_data;

	for (int64_t n = 0; n < schema->n_children; n++)
		if (schema->children[n]->release)
			schema->children[n]->release(schema->children[n]);
	free(fields->columns);
	free(fields->children);
	free(fields);
	schema->release = NULL;
}

static bool field_make(const struct query_table *table, unsigned column, struct ArrowSchema *field)
{
	char name[QUERY_NAME], *text = malloc(QUERY_NAME * TEXT_UTF8_MAX);
	const enum query_type type = query_column(table, column, name);

	if (!text)
		return false;
	text[text_utf8(text, name, strlen(name))] = '\0';
	*field = (struct ArrowSchema){ .format = formats[type],
				       .name = text,
				       .flags = ARROW_FLAG_NULLABLE,
				       .release = field_release,
				       .private_data = text };
	return true;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
	const struct arrow_scan *scan = stream->private_data;
	const unsigned count = scan->table->columns;
	struct arrow_fields *fields = calloc(1, sizeof(*fields));
	bool made;

	if (!fields)
		return ENOMEM;
	*schema = (struct ArrowSchema){
		.format = "+s", .name = "", .release = schema_release, .private_data = fields
	};
	fields->columns = calloc(count, sizeof(*fields->columns));
	fields->children = schema->children = calloc(count, sizeof(*fields->children));
	made = fields->columns && fields->children;
	for (unsigned n = 0; made && n < count; n++) {
		fields->children[n] = &fields->columns[n];
		made = field_make(scan->table, n, &fields->columns[n]);
		schema->n_children += made;
	}
	if (!made)
		schema_release(schema);
	return made ? 0 : ENOMEM;
}

/* ---- Batches */

/* Adds rows of the scan. Return: false: no memory. */
static bool scan_add(struct arrow_scan *scan, const struct query_batch *from, size_t rows, bool *full)
{
	for (unsigned n = 0; n < scan->table->columns; n++) {
		if (!arrow_column_add(&scan->columns[n], &from->columns[n], rows))
			return false;
		*full |= scan->columns[n].byte_count >= BATCH_BYTES;
	}
	return true;
}

static int scan_fill(struct arrow_scan *scan, size_t *rows)
{
	struct query_batch batch;
	bool full = false;
	ssize_t count = 1;
	int error = 0;

	if (!scan->begun)
		error = query_scan_begin(&scan->scan, scan->query, scan->table, &scan->bounds);
	scan->begun = true;
	for (*rows = 0; !error && count && !full; *rows += (size_t)count) {
		count = query_scan_batch(&scan->scan, &batch);
		if (count < 0)
			return (int)count;
		if (count && !scan_add(scan, &batch, (size_t)count, &full))
			error = -ENOMEM;
		full |= *rows + (size_t)count + QUERY_BATCH_ROWS > BATCH_ROWS;
	}
	return error;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *batch)
{
	struct arrow_scan *scan = stream->private_data;
	size_t rows;

	*batch = (struct ArrowArray){ .release = NULL };
	if (!scan->error)
		scan->error = scan_fill(scan, &rows);
	if (!scan->error && rows && !arrow_batch_make(scan->columns, scan->table->columns, rows, batch))
		scan->error = -ENOMEM;
	return -scan->error;
}

static const char *stream_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_scan *scan = stream->private_data;

	return scan->error ? "no memory for these rows" : NULL;
}

static void stream_release(struct ArrowArrayStream *stream)
{
	struct arrow_scan *scan = stream->private_data;

	if (scan->begun)
		query_scan_end(&scan->scan);
	for (unsigned n = 0; scan->columns && n < scan->table->columns; n++)
		arrow_column_free(&scan->columns[n]);
	free(scan->columns);
	free(scan);
	stream->release = NULL;
}

int arrow_stream_open(struct ArrowArrayStream *stream, struct query *query, struct query_table *table,
		      const struct query_bounds *bounds)
{
	struct arrow_scan *scan = calloc(1, sizeof(*scan));
	char name[QUERY_NAME];

	if (!scan)
		return -ENOMEM;
	*scan = (struct arrow_scan){ .query = query, .table = table, .bounds = *bounds };
	*stream = (struct ArrowArrayStream){ .get_schema = stream_schema,
					     .get_next = stream_next,
					     .get_last_error = stream_last_error,
					     .release = stream_release,
					     .private_data = scan };
	scan->columns = calloc(table->columns, sizeof(*scan->columns));
	if (!scan->columns) {
		stream_release(stream);
		return -ENOMEM;
	}
	for (unsigned n = 0; n < table->columns; n++)
		scan->columns[n].type = query_column(table, n, name);
	return 0;
}
