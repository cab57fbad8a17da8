/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables as text, JSON and CSV; see table.h. */
#include "view/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/print.h"
#include "base/text.h"
#include "view/name_columns.h"

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

enum {
	KEY_BYTES = 48,
	GROUPS = 4, /* of columns in text: numbers that lead, other numbers, names, lists */
	HIDDEN = GROUPS,
	REAL_DIGITS = 15, /* that a double has for certain */
};

static double table_real(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static const void *table_row(const struct table *table, size_t number)
{
	const void *row = (const char *)table->rows + number * (table->size ? table->size : sizeof(row));

	if (!table->size)
		memcpy(&row, row, sizeof(row));
	return row;
}

/* ---- Columns */

static bool column_is_name(const struct column *column)
{
	return column->kind == COLUMN_TEXT || column->kind == COLUMN_DIGITS || column->kind == COLUMN_SYMBOL;
}

/* A form prints the columns of one group after those of another; each group as they are declared. */
static unsigned column_group(const struct table *table, const struct column *column, enum table_form form)
{
	const struct column_list *list = column->list;

	if (form != TABLE_TEXT)
		return !column->key || (list && (form == TABLE_CSV ? !list->csv : !list->json)) ? HIDDEN
		       : form == TABLE_CSV							? column->late
												: 0;
	if (!column->title || (column->optional && !table->optional))
		return HIDDEN;
	return list ? 3 : column_is_name(column) ? 2 : !column->lead;
}

/* The columns of a form, in its order. */
static unsigned table_columns(const struct table *table, enum table_form form,
			      const struct column *columns[TABLE_COLUMNS_MAX])
{
	unsigned count = 0;

	for (unsigned group = 0; group < GROUPS; group++) {
		for (unsigned n = 0; n < table->name_count; n++)
			if (column_group(table, &table->names[n], form) == group)
				columns[count++] = &table->names[n];
		for (const struct column *at = table->columns; at->key || at->title; at++)
			if (column_group(table, at, form) == group)
				columns[count++] = at;
	}
	assert(count <= TABLE_COLUMNS_MAX);
	return count;
}

static const char *column_key(const struct table *table, const struct column *column, char key[KEY_BYTES])
{
	if (column->kind != COLUMN_SHARE || !table->unit)
		return column->key;
	snprintf(key, KEY_BYTES, "%s_%s", column->key, table->unit);
	return key;
}

/* Return: false: the row has no such number. */
static bool column_number(const struct table *table, const struct column *column, const void *row,
			  uint64_t *number)
{
	const void *at = (const char *)row + column->at;

	if (!column->get)
		*number = *(const uint64_t *)at;
	else if (!column->get(at, column->part, number))
		return false;
	if (column->kind == COLUMN_DURATION && table->hz)
		*number = (uint64_t)((unsigned __int128)*number * 1000000000 / table->hz);
	return true;
}

/* ---- Text */

struct text_table {
	const struct table *table;
	const struct column *columns[TABLE_COLUMNS_MAX];
	unsigned count;
	unsigned widths[TABLE_COLUMNS_MAX]; /* of names; 0: it is the last in its line */
	unsigned symbol;		    /* the column of ->labels */
	struct view_label *labels;	    /* by row; NULL: none */
};

static const char *table_name(const struct text_table *text, size_t row, unsigned column)
{
	const struct table *table = text->table;

	if (text->labels && column == text->symbol)
		return text->labels[row].text;
	return table->name(table->data, table_row(table, row), text->columns[column]->part);
}

static const char *table_label(const void *data, size_t row)
{
	const struct text_table *text = data;

	return table_name(text, row, text->symbol);
}

/* Return: false: no memory. */
static bool table_measure(struct text_table *text)
{
	const size_t rows = text->table->count;
	struct view_label *labels;

	text->count = table_columns(text->table, TABLE_TEXT, text->columns);
	for (unsigned n = 0; n + 1 < text->count; n++) {
		if (!column_is_name(text->columns[n]))
			continue;
		if (text->columns[n]->kind == COLUMN_SYMBOL) {
			text->symbol = n;
			labels = view_labels_make(table_label, text, rows);
			if (!labels)
				return false;
			text->labels = labels;
		}
		text->widths[n] = (unsigned)strlen(text->columns[n]->title);
		for (size_t row = 0; row < rows; row++)
			text->widths[n] = view_column_wider(text->widths[n], table_name(text, row, n));
	}
	return true;
}

static void table_print_titles(const struct text_table *text, struct view_buffer *out)
{
	view_buffer_print(out, "\n%s", text->table->color ? bold : "");
	for (unsigned n = 0; n < text->count; n++) {
		const struct column *column = text->columns[n];

		if (column_is_name(column))
			view_column_title(out, column->title, text->widths[n]);
		else if (column->list)
			view_buffer_print(out, "%s", column->title);
		else
			view_buffer_print(out, "%*s  ", (int)column->width, column->title);
	}
	view_buffer_print(out, "%s\n", text->table->color ? off : "");
}

static const char *difference_text(char text[TEXT_SHORT], int64_t ns)
{
	char size[TEXT_SHORT];

	snprintf(text, TEXT_SHORT, "%c%.28s", ns < 0 ? '-' : '+',
		 text_duration(size, ns < 0 ? -(uint64_t)ns : (uint64_t)ns));
	return text;
}

/* An integer, or a number of four digits or more before the point, has no fraction. */
static const char *table_real_text(double value, char text[TEXT_SHORT])
{
	const double size = value < 0 ? -value : value;
	char *at = text;

	if (size >= 1e15 || (size < 1000 && size != (double)(int64_t)size)) {
		snprintf(text, TEXT_SHORT, "%.4g", value);
		return text;
	}
	if (value < 0)
		*at++ = '-';
	text_count(at, (uint64_t)(size + 0.5));
	return text;
}

static const char *table_number_text(const struct table *table, const struct column *column, const void *row,
				     char text[TEXT_SHORT])
{
	uint64_t number, whole = table->whole;

	if (!column_number(table, column, row, &number))
		return "-";
	if (!number && column->zero)
		return column->zero;
	if (column->kind == COLUMN_REAL)
		return table_real_text(table_real(number), text);
	if (column->kind == COLUMN_COUNT)
		return text_count(text, number);
	if (column->kind == COLUMN_DURATION)
		return text_duration(text, number);
	if (column->kind == COLUMN_DIFFERENCE)
		return difference_text(text, (int64_t)number);
	if (column->whole)
		whole = *(const uint64_t *)(const void *)((const char *)row + column->whole);
	snprintf(text, TEXT_SHORT, "%.2f%%", table_percent(number, whole));
	return text;
}

static void table_print_row(const struct text_table *text, size_t number, struct view_buffer *out)
{
	const struct table *table = text->table;
	const void *row = table_row(table, number);
	const bool faint = table->color && table->faint && table->faint(row);
	char short_text[TEXT_SHORT];

	view_buffer_print(out, "%s", faint ? dim : "");
	for (unsigned n = 0; n < text->count; n++) {
		const struct column *column = text->columns[n];

		if (column_is_name(column))
			view_column(out, table_name(text, number, n), text->widths[n],
				    text->labels && n == text->symbol && text->labels[number].less);
		else if (column->list)
			column->list->text(row, out);
		else
			view_buffer_print(out, "%*s  ", (int)column->width,
					  table_number_text(table, column, row, short_text));
	}
	/* A list may be empty. */
	while (text->columns[text->count - 1]->list && out->used && out->bytes[out->used - 1] == ' ')
		out->used--;
	view_buffer_print(out, "%s\n", faint ? off : "");
	if (table->below)
		table->below(table, row, out);
}

void table_text(const struct table *table, struct view_buffer *out)
{
	struct text_table text = { .table = table };

	if (table_measure(&text)) {
		table_print_titles(&text, out);
		for (size_t n = 0; n < table->count; n++)
			table_print_row(&text, n, out);
	} else {
		out->failed = true;
	}
	view_labels_free(text.labels, table->count);
}

void table_left(uint64_t count, const char *what, bool color, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (count)
		view_buffer_print(out, "%s%s %s%s\n", color ? dim : "", text_count(text, count), what,
				  color ? off : "");
}

/* ---- JSON */

static void cell_json(const struct table *table, const struct column *column, const void *row,
		      struct json *json)
{
	char room[KEY_BYTES];
	const char *key = column_key(table, column, room);
	uint64_t number;

	if (column->list) {
		json_key(json, key);
		column->list->json(table, row, json);
	} else if (column->kind == COLUMN_DIGITS) {
		json_u64(json, key, strtoull(table->name(table->data, row, column->part), NULL, 10));
	} else if (column_is_name(column)) {
		json_text(json, key, table->name(table->data, row, column->part));
	} else if (column_number(table, column, row, &number) && column->kind == COLUMN_REAL) {
		json_double(json, key, table_real(number), REAL_DIGITS);
	} else if (column_number(table, column, row, &number)) {
		if (column->kind == COLUMN_DIFFERENCE)
			json_i64(json, key, (int64_t)number);
		else
			json_u64(json, key, number);
	} else {
		json_null(json, key);
	}
}

void table_json(const struct table *table, struct json *json, const char *key)
{
	const struct column *columns[TABLE_COLUMNS_MAX];
	const unsigned count = table_columns(table, TABLE_JSON, columns);

	json_array(json, key);
	for (size_t n = 0; n < table->count; n++) {
		json_object(json, NULL);
		for (unsigned at = 0; at < count; at++)
			cell_json(table, columns[at], table_row(table, n), json);
		json_end(json);
	}
	json_end(json);
}

/* ---- CSV */

static void cell_csv(const struct table *table, const struct column *column, const void *row,
		     struct view_buffer *out)
{
	uint64_t number;

	if (column->list)
		column->list->csv(row, out);
	else if (column_is_name(column))
		view_buffer_csv(out, table->name(table->data, row, column->part));
	else if (column_number(table, column, row, &number) && column->kind == COLUMN_REAL)
		view_buffer_print(out, "%.*g", REAL_DIGITS, table_real(number));
	else if (column_number(table, column, row, &number))
		view_buffer_print(out, column->kind == COLUMN_DIFFERENCE ? "%" PRId64 : "%" PRIu64, number);
}

void table_csv(const struct table *table, struct view_buffer *out)
{
	const struct column *columns[TABLE_COLUMNS_MAX];
	const unsigned count = table_columns(table, TABLE_CSV, columns);
	char room[KEY_BYTES];

	for (unsigned at = 0; at < count && !table->headless; at++)
		view_buffer_print(out, "%s%s", at ? "," : "", column_key(table, columns[at], room));
	if (!table->headless)
		view_buffer_print(out, "\r\n");
	for (size_t n = 0; n < table->count; n++) {
		for (unsigned at = 0; at < count; at++) {
			view_buffer_print(out, "%s", at ? "," : "");
			cell_csv(table, columns[at], table_row(table, n), out);
		}
		view_buffer_print(out, "\r\n");
	}
}
