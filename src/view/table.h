/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tables: rows of numbers and names, printed as text, as JSON and as CSV. A report declares each of its columns once, and fills rows of
 * its own:
 *
 *	static const struct column columns[] = {
 *		COLUMN("calls", "CALLS", COUNT, 13, struct call_row, calls),
 *		COLUMN("self_ns", "SELF", DURATION, 10, struct call_row, self, .lead = true),
 *		{ 0 },
 *	};
 *
 * JSON and CSV have the columns in this order, behind the names that the user chose. Text has names behind the numbers, since they
 * may be long, and lists at the end.
 */
#ifndef BURIN_VIEW_TABLE_H
#define BURIN_VIEW_TABLE_H

#include "view/json.h"

enum {
	TABLE_NAMES_MAX = 16,
	TABLE_COLUMNS_MAX = 32,
};

enum table_form {
	TABLE_TEXT,
	TABLE_JSON,
	TABLE_CSV,
};

enum column_kind {
	COLUMN_COUNT,	   /* text: 1,234 */
	COLUMN_DURATION,   /* text: 1.23 ms; ns in JSON and CSV, and `_ns` in the key */
	COLUMN_DIFFERENCE, /* an int64_t of ns; text: +1.23 ms */
	COLUMN_REAL,	   /* the bits of a double; text: four digits or more */
	COLUMN_SHARE,	   /* text: percent of the whole; the number itself in JSON and CSV */
	COLUMN_TEXT,	   /* foreign */
	COLUMN_DIGITS,	   /* text that is a number in JSON */
	COLUMN_SYMBOL,	   /* the name of a function: shortened, unless it is the last in its line */
	COLUMN_LIST,	   /* see ->list */
};

struct table;

/* How a column of lists is printed; NULL: it has no place in that form. */
struct column_list {
	void (*text)(const void *row, struct view_buffer *out);
	void (*json)(const struct table *table, const void *row, struct json *json); /* one value */
	void (*csv)(const void *row, struct view_buffer *out);
};

struct column {
	const char *key;   /* in JSON and CSV; NULL: only in text */
	const char *title; /* in text; NULL: only in JSON and CSV. That of a name is put into capitals */
	enum column_kind kind;
	unsigned width; /* of a number in text */
	size_t at;	/* where a row has the number, a uint64_t */
	/* Gets the number, if it is none; ->at is what it needs. Return: false: the row has no such number. */
	bool (*get)(const void *at, unsigned part, uint64_t *number);
	unsigned part;	  /* for get(), and for ->name() of the table */
	const char *zero; /* text in the place of 0 */
	size_t whole;	  /* where a row has the whole of its share; 0: it is the table's */
	bool lead;	  /* in text it precedes the numbers that do not lead */
	bool optional;	  /* in text only if the table has this set, too */
	bool late; /* in CSV behind the others: programs find columns by number, and this one is younger */
	const struct column_list *list;
};

#define COLUMN(name, head, what, columns, row, member, ...)                          \
	{                                                                            \
		.key = name, .title = head, .kind = COLUMN_##what, .width = columns, \
		.at = offsetof(row, member), __VA_ARGS__                             \
	}
#define COLUMN_NAME(name, what, number)                                           \
	{                                                                         \
		.key = name, .title = name, .kind = COLUMN_##what, .part = number \
	}

struct table {
	struct column names[TABLE_NAMES_MAX]; /* that the user chose */
	unsigned name_count;
	const struct column *columns; /* the last one is of zeros */
	const void *rows;
	size_t count, size; /* rows; bytes of each, 0: ->rows are pointers to them */
	const char *(*name)(const void *data, const void *row, unsigned part);
	const void *data; /* of name() and others */
	uint64_t hz;	  /* durations are in these; 0: in ns */
	uint64_t whole;	  /* of shares */
	const char *unit; /* behind the key of shares, if it is not NULL */
	bool optional, color;
	bool headless;			/* CSV: no heading */
	bool (*faint)(const void *row); /* whether a row matters less; NULL: none does */
	/* Prints lines of text below a row. */
	void (*below)(const struct table *table, const void *row, struct view_buffer *out);
};

/* An empty line, the titles, and a line for each row. */
void table_text(const struct table *table, struct view_buffer *out);
/* An array of objects, one for each row. */
void table_json(const struct table *table, struct json *json, const char *key);
/* As in RFC 4180, with a heading. */
void table_csv(const struct table *table, struct view_buffer *out);

static inline double table_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* How many of the rows a limit permits. */
static inline size_t table_limit(size_t rows, uint64_t limit)
{
	return rows < limit ? rows : (size_t)limit;
}

/* table_left - a line about what was left out: "12 more rows; see --limit". @count: 0: no line. @what: from "more" on */
void table_left(uint64_t count, const char *what, bool color, struct view_buffer *out);

#endif
