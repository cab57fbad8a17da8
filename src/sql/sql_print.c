/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows in four formats. A table needs the widths of its columns first, so rows are kept until there are many; the widths of these are
 * those of all.
 */
#include "sql/sql_print.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "view/json.h"
#include "view/name_columns.h"

enum {
	FLUSH_BYTES = 1 << 16,
	KEPT_ROWS = 1000,
	KEPT_BYTES = 1 << 20,
};

/* A cell of a table that is kept. */
struct sql_cell {
	char *text; /* NULL: empty */
	bool number;
};

struct sql_printer {
	const struct sql_source *source;
	enum sql_format format;
	struct view_buffer out;
	unsigned count; /* columns */
	unsigned *widths;
	struct sql_cell *cells;
	size_t cell_count, cell_room, cell_bytes;
	bool headed; /* the names of columns are printed */
};

/* ---- Values as texts */

static void cell_blob(struct view_buffer *out, const struct query_value *value)
{
	const unsigned char *bytes = value->bytes;

	for (size_t n = 0; n < value->size; n++)
		view_buffer_print(out, "%02x", bytes[n]);
}

/* The value of a column of the row, as text. A NUL ends it, but when it is printed in JSON. */
static const char *column_text(struct sql_printer *printer, unsigned column)
{
	const char *text = printer->source->text(printer->source->data, column);

	printer->out.failed |= !text;
	return text ? text : "";
}

static const char *column_name(const struct sql_printer *printer, unsigned column)
{
	const char *name = printer->source->name(printer->source->data, column);

	return name ? name : "";
}

static void column_value(const struct sql_printer *printer, unsigned column, struct query_value *value)
{
	printer->source->value(printer->source->data, column, value);
}

static bool type_is_number(enum query_type type)
{
	return type == QUERY_INTEGER || type == QUERY_REAL;
}

/* ---- CSV */

/* A number is printed as it is: the apostrophe of CSV is for texts. */
static void csv_row(struct sql_printer *printer)
{
	struct view_buffer *out = &printer->out;

	for (unsigned n = 0; n < printer->count; n++) {
		struct query_value value;

		column_value(printer, n, &value);
		if (n)
			view_buffer_print(out, ",");
		if (value.type == QUERY_BLOB)
			cell_blob(out, &value);
		else if (type_is_number(value.type))
			view_buffer_print(out, "%s", column_text(printer, n));
		else if (value.type == QUERY_TEXT)
			view_buffer_csv(out, column_text(printer, n));
	}
	view_buffer_print(out, "\r\n");
}

static void csv_head(struct sql_printer *printer)
{
	for (unsigned n = 0; n < printer->count; n++) {
		if (n)
			view_buffer_print(&printer->out, ",");
		view_buffer_csv(&printer->out, column_name(printer, n));
	}
	view_buffer_print(&printer->out, "\r\n");
}

/* ---- JSON */

static void json_cell(struct sql_printer *printer, unsigned column, struct json *json)
{
	struct query_value value;

	column_value(printer, column, &value);
	switch (value.type) {
	case QUERY_INTEGER:
		json_i64(json, NULL, value.integer);
		break;
	case QUERY_REAL:
		json_double(json, NULL, value.real, 17);
		break;
	case QUERY_TEXT:
		json_bytes(json, NULL, value.bytes, value.size);
		break;
	case QUERY_BLOB:
		json_hex(json, NULL, value.bytes, value.size);
		break;
	default:
		json_null(json, NULL);
	}
}

static void json_row(struct sql_printer *printer)
{
	struct json json;

	json_begin_object(&json, &printer->out, 0);
	for (unsigned n = 0; n < printer->count; n++) {
		json_key(&json, column_name(printer, n));
		json_cell(printer, n, &json);
	}
	json_end(&json);
}

/* ---- Tables */

/* A cell of a table of Markdown: a bar would end it. */
static void markdown_cell(struct view_buffer *out, const char *text)
{
	for (const char *bar; (bar = strchr(text, '|')); text = bar + 1) {
		view_buffer_print(out, "%.*s", (int)(bar - text), text);
		view_buffer_print(out, "\\|");
	}
	view_buffer_print(out, "%s", text);
}

static void markdown_row(struct sql_printer *printer, const struct sql_cell *cells)
{
	for (unsigned n = 0; n < printer->count; n++) {
		view_buffer_print(&printer->out, "| ");
		markdown_cell(&printer->out, cells[n].text ? cells[n].text : "");
		view_buffer_print(&printer->out, " ");
	}
	view_buffer_print(&printer->out, "|\n");
}

/* view_column() ends a column of text with a gap; a number gets it here. */
static void table_row_text(struct sql_printer *printer, const struct sql_cell *cells)
{
	struct view_buffer *out = &printer->out;

	for (unsigned n = 0; n < printer->count; n++) {
		const char *text = cells[n].text ? cells[n].text : "";
		const bool last = n == printer->count - 1;

		if (cells[n].number)
			view_buffer_print(out, last ? "%*s" : "%*s  ", (int)printer->widths[n], text);
		else
			view_column(out, text, last ? 0 : printer->widths[n], true);
	}
	view_buffer_print(out, "\n");
}

static void table_rule(struct sql_printer *printer)
{
	static const char dashes[] = "------------------------------------------------------------";

	for (unsigned n = 0; n < printer->count; n++)
		if (printer->format == SQL_MARKDOWN)
			view_buffer_print(&printer->out, n ? "---|" : "|---|");
		else
			view_buffer_print(&printer->out, "%s%.*s", n ? "  " : "", (int)printer->widths[n],
					  dashes);
	view_buffer_print(&printer->out, "\n");
}

static void table_cells_free(struct sql_cell *cells, size_t count)
{
	for (size_t n = 0; n < count; n++)
		free(cells[n].text);
}

static void table_print_cells(struct sql_printer *printer, const struct sql_cell *cells)
{
	if (printer->format == SQL_MARKDOWN)
		markdown_row(printer, cells);
	else
		table_row_text(printer, cells);
}

/* The name of a column is above its first value: at the right if that is a number. */
static void table_head(struct sql_printer *printer)
{
	const size_t count = (size_t)printer->count;
	struct sql_cell *names = calloc(count, sizeof(*names));

	printer->out.failed |= !names;
	for (unsigned n = 0; names && n < count; n++) {
		names[n].text = strdup(column_name(printer, n));
		names[n].number = n < printer->cell_count && printer->cells[n].number;
	}
	if (names) {
		table_print_cells(printer, names);
		table_rule(printer);
		table_cells_free(names, count);
	}
	free(names);
}

static void table_widths(struct sql_printer *printer)
{
	for (unsigned n = 0; n < printer->count; n++) {
		unsigned width = view_column_wider(0, column_name(printer, n));

		for (size_t at = (size_t)n; at < printer->cell_count; at += (size_t)printer->count)
			if (printer->cells[at].text)
				width = view_column_wider(width, printer->cells[at].text);
		printer->widths[n] = width < VIEW_COLUMNS_MAX ? width : VIEW_COLUMNS_MAX;
	}
}

/* Prints the rows that are kept. */
static void table_flush(struct sql_printer *printer)
{
	if (!printer->headed) {
		table_widths(printer);
		table_head(printer);
		printer->headed = true;
	}
	for (size_t n = 0; n < printer->cell_count; n += (size_t)printer->count)
		table_print_cells(printer, &printer->cells[n]);
	table_cells_free(printer->cells, printer->cell_count);
	printer->cell_count = printer->cell_bytes = 0;
}

static char *table_cell_text(struct sql_printer *printer, unsigned column, const struct query_value *value)
{
	struct view_buffer bytes = { 0 };
	char *text;

	if (value->type == QUERY_NULL)
		return NULL;
	if (value->type != QUERY_BLOB) {
		text = strdup(column_text(printer, column));
	} else {
		cell_blob(&bytes, value);
		text = bytes.failed ? NULL : strndup(bytes.used ? bytes.bytes : "", bytes.used);
		view_buffer_free(&bytes);
	}
	printer->out.failed |= !text;
	printer->cell_bytes += text ? strlen(text) : 0;
	return text;
}

static void table_keep(struct sql_printer *printer)
{
	const size_t count = printer->cell_count + (size_t)printer->count;

	if (!array_reserve(printer->cells, printer->cell_room, count)) {
		printer->out.failed = true;
		return;
	}
	for (unsigned n = 0; n < printer->count; n++) {
		struct query_value value;

		column_value(printer, n, &value);
		printer->cells[printer->cell_count++] =
			(struct sql_cell){ table_cell_text(printer, n, &value), type_is_number(value.type) };
	}
	if (count >= (size_t)printer->count * KEPT_ROWS || printer->cell_bytes >= KEPT_BYTES)
		table_flush(printer);
}

/* ---- All */

static void printer_row(struct sql_printer *printer)
{
	if (printer->format == SQL_CSV)
		csv_row(printer);
	else if (printer->format == SQL_JSON)
		json_row(printer);
	else
		table_keep(printer);
}

int sql_print_rows(const struct sql_source *source, enum sql_format format, int file, int *written)
{
	struct sql_printer printer = { .source = source, .format = format, .count = source->count };
	int result = 0;

	printer.widths = calloc((size_t)printer.count + 1, sizeof(*printer.widths));
	printer.out.failed = !printer.widths;
	if (format == SQL_CSV)
		csv_head(&printer);
	while (!printer.out.failed && !*written && (result = source->step(source->data)) > 0) {
		printer_row(&printer);
		if (printer.out.used >= FLUSH_BYTES)
			*written = view_buffer_write(&printer.out, file);
	}
	if (!printer.out.failed && printer.count && (format == SQL_TABLE || format == SQL_MARKDOWN))
		table_flush(&printer);
	table_cells_free(printer.cells, printer.cell_count);
	free(printer.cells);
	free(printer.widths);
	if (printer.out.failed)
		*written = -ENOMEM;
	if (!*written)
		*written = view_buffer_write(&printer.out, file);
	view_buffer_free(&printer.out);
	return result < 0 ? result : 0;
}
