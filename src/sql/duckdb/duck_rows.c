/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows of DuckDB come in chunks of vectors; see duck_rows.h. */
#include "sql/duckdb/duck_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "sql/sql_print.h"

enum {
	NUMBER_TEXT = 48, /* a number of 128 bits, or a double */
};

struct duck_column {
	int type;
	const void *data;
	const uint64_t *valid; /* NULL: all are */
};

struct duck_rows {
	struct duck_result result;
	duck_handle chunk;
	uint64_t row, count; /* in the chunk */
	struct duck_column *columns;
	unsigned column_count;
	char number[NUMBER_TEXT];
	char *text; /* with a NUL behind it */
	size_t room;
};

/* ---- Chunks */

static void rows_chunk_end(struct duck_rows *rows)
{
	if (rows->chunk)
		duck.destroy_data_chunk(&rows->chunk);
	rows->chunk = NULL;
	rows->row = rows->count = 0;
}

/* Return: false: there are no more, or an error. */
static bool rows_chunk_next(struct duck_rows *rows)
{
	rows_chunk_end(rows);
	rows->chunk = duck.fetch_chunk(rows->result);
	rows->count = rows->chunk ? duck.data_chunk_get_size(rows->chunk) : 0;
	for (unsigned n = 0; rows->count && n < rows->column_count; n++) {
		const duck_handle vector = duck.data_chunk_get_vector(rows->chunk, n);

		rows->columns[n].data = duck.vector_get_data(vector);
		rows->columns[n].valid = duck.vector_get_validity(vector);
	}
	return rows->count > 0;
}

static int rows_step(void *data)
{
	struct duck_rows *rows = data;
	const char *error;

	if (rows->chunk && ++rows->row < rows->count)
		return 1;
	if (rows_chunk_next(rows))
		return 1;
	error = duck.result_error(&rows->result);
	return error && *error ? -1 : 0;
}

static const char *rows_name(void *data, unsigned column)
{
	return duck.column_name(&((struct duck_rows *)data)->result, column);
}

/* ---- Values */

bool duck_rows_prints(int type)
{
	return (type >= DUCK_BOOLEAN && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT ||
	       type == DUCK_VARCHAR || type == DUCK_BLOB;
}

static void value_bytes(struct query_value *value, enum query_type type, const struct duck_text *text)
{
	*value = (struct query_value){ .type = type, .bytes = text->place, .size = text->length };
	if (text->length > sizeof(text->place))
		memcpy(&value->bytes, text->place + 4, sizeof(value->bytes));
}

/* A number of up to 128 bits: as a text if it has more than 63. */
static void value_large(struct duck_rows *rows, struct query_value *value, __int128 number)
{
	unsigned __int128 rest = number < 0 ? -(unsigned __int128)number : (unsigned __int128)number;
	char *at = rows->number + sizeof(rows->number) - 1;

	if (number >= INT64_MIN && number <= INT64_MAX) {
		*value = (struct query_value){ .type = QUERY_INTEGER, .integer = (int64_t)number };
		return;
	}
	for (*at = '\0'; rest; rest /= 10)
		*--at = (char)('0' + (int)(rest % 10));
	if (number < 0)
		*--at = '-';
	*value = (struct query_value){ .type = QUERY_TEXT, .bytes = at, .size = strlen(at) };
}

static int64_t value_small(const struct duck_column *column, uint64_t row)
{
	switch (column->type) {
	case DUCK_BOOLEAN:
	case DUCK_UTINYINT:
		return ((const uint8_t *)column->data)[row];
	case DUCK_TINYINT:
		return ((const int8_t *)column->data)[row];
	case DUCK_SMALLINT:
		return ((const int16_t *)column->data)[row];
	case DUCK_USMALLINT:
		return ((const uint16_t *)column->data)[row];
	case DUCK_INTEGER:
		return ((const int32_t *)column->data)[row];
	case DUCK_UINTEGER:
		return ((const uint32_t *)column->data)[row];
	default:
		return ((const int64_t *)column->data)[row];
	}
}

static void rows_value(void *data, unsigned number, struct query_value *value)
{
	struct duck_rows *rows = data;
	const struct duck_column *column = &rows->columns[number];
	const uint64_t row = rows->row;

	*value = (struct query_value){ .type = QUERY_NULL };
	if (!duck_rows_prints(column->type) || (column->valid && !(column->valid[row / 64] >> row % 64 & 1)))
		return;
	if (column->type == DUCK_VARCHAR || column->type == DUCK_BLOB) {
		value_bytes(value, column->type == DUCK_BLOB ? QUERY_BLOB : QUERY_TEXT,
			    (const struct duck_text *)column->data + row);
	} else if (column->type == DUCK_FLOAT || column->type == DUCK_DOUBLE) {
		value->type = QUERY_REAL;
		value->real = column->type == DUCK_FLOAT ? (double)((const float *)column->data)[row]
							 : ((const double *)column->data)[row];
	} else if (column->type == DUCK_HUGEINT) {
		const struct duck_hugeint *large = (const struct duck_hugeint *)column->data + row;

		value_large(rows, value, (__int128)large->high << 64 | large->low);
	} else if (column->type == DUCK_UBIGINT) {
		value_large(rows, value, ((const uint64_t *)column->data)[row]);
	} else {
		*value = (struct query_value){ .type = QUERY_INTEGER, .integer = value_small(column, row) };
	}
}

/* A real number has a point, as SQLite prints it. */
static const char *real_text(char text[NUMBER_TEXT], double number)
{
	const int length = snprintf(text, NUMBER_TEXT, "%.15g", number);
	char *exponent = strchr(text, 'e');

	if (strpbrk(text, ".ni"))
		return text;
	if (!exponent)
		exponent = text + length;
	memmove(exponent + 2, exponent, strlen(exponent) + 1);
	memcpy(exponent, ".0", 2);
	return text;
}

static const char *rows_text(void *data, unsigned column)
{
	struct duck_rows *rows = data;
	struct query_value value;

	rows_value(data, column, &value);
	if (value.type == QUERY_REAL)
		return real_text(rows->number, value.real);
	if (value.type == QUERY_INTEGER) {
		snprintf(rows->number, sizeof(rows->number), "%" PRId64, value.integer);
		return rows->number;
	}
	if (value.size + 1 > rows->room) {
		char *text = realloc(rows->text, value.size + 1);

		if (!text)
			return NULL;
		rows->text = text;
		rows->room = value.size + 1;
	}
	if (value.size)
		memcpy(rows->text, value.bytes, value.size);
	rows->text[value.size] = '\0';
	return rows->text;
}

/* ---- All */

static bool rows_begin(struct duck_rows *rows, duck_handle statement)
{
	*rows = (struct duck_rows){ 0 };
	if (duck.execute_prepared_streaming(statement, &rows->result))
		return false;
	rows->column_count = (unsigned)duck.column_count(&rows->result);
	rows->columns = calloc(rows->column_count + 1, sizeof(*rows->columns));
	for (unsigned n = 0; rows->columns && n < rows->column_count; n++)
		rows->columns[n].type = duck.column_type(&rows->result, n);
	return rows->columns != NULL;
}

static void rows_end(struct duck_rows *rows)
{
	rows_chunk_end(rows);
	duck.destroy_result(&rows->result);
	free(rows->columns);
	free(rows->text);
}

int duck_rows_print(duck_handle statement, enum sql_format format, int file, char message[SQL_MESSAGE])
{
	struct duck_rows rows;
	struct sql_source source = {
		.data = &rows, .name = rows_name, .step = rows_step, .value = rows_value, .text = rows_text
	};
	int result = rows_begin(&rows, statement) ? 0 : 1, written = 0;

	source.count = rows.column_count;
	if (!result)
		result = sql_print_rows(&source, format, file, &written);
	if (result) {
		const char *error = duck.result_error(&rows.result);

		snprintf(message, SQL_MESSAGE, "%s", error ? error : "no memory");
	}
	rows_end(&rows);
	return written ? written : result ? 1 : 0;
}

char *duck_rows_text(duck_handle connection, const char *query, const char *argument, unsigned n)
{
	struct duck_rows rows = { 0 };
	duck_handle statement = NULL;
	const char *text = NULL;

	if (!duck.prepare(connection, query, &statement) && !duck.bind_varchar(statement, 1, argument) &&
	    rows_begin(&rows, statement))
		while (rows_step(&rows) > 0 && !text)
			text = n-- ? NULL : rows_text(&rows, 0);
	if (text)
		rows.text = NULL;
	rows_end(&rows);
	duck.destroy_prepare(&statement);
	return (char *)text;
}
