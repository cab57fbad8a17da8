/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tables: the places of columns in text, JSON and CSV; numbers that are missing; names with hostile bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/table.h"

struct row {
	const char *names[2];
	uint64_t count, time, whole, late;
};

enum {
	FIRST,
	SECOND,
};

/* The sum of two members; none of an odd row. */
static bool sum_number(const void *at, unsigned part, uint64_t *number)
{
	const struct row *row = at;

	*number = row->count + row->time + part;
	return row->count % 2 == 0;
}

static void list_text(const void *row, struct view_buffer *out)
{
	const struct row *of = row;

	if (of->late)
		view_buffer_print(out, "late");
}

static void list_json(const struct table *table, const void *row, struct json *json)
{
	const struct row *of = row;

	(void)table;
	json_array(json, NULL);
	json_u64(json, NULL, of->late);
	json_end(json);
}

static const struct column_list list = { .text = list_text, .json = list_json };

static const struct column columns[] = {
	COLUMN("count", "COUNT", COUNT, 6, struct row, count, .zero = "none"),
	COLUMN("late", NULL, COUNT, 0, struct row, late, .late = true),
	COLUMN("time_ns", "TIME", DURATION, 8, struct row, time, .lead = true),
	COLUMN("share", "SHARE", SHARE, 7, struct row, time, .whole = offsetof(struct row, whole)),
	COLUMN("sum", "SUM", COUNT, 5, struct row, names, .get = sum_number, .part = 1, .optional = true),
	COLUMN(NULL, "OF ALL", SHARE, 7, struct row, time),
	{ .key = "list", .title = "LIST", .kind = COLUMN_LIST, .list = &list },
	{ 0 },
};

static const char *name_of(const void *data, const void *row, unsigned part)
{
	const struct row *of = row;

	assert_ptr_equal(data, columns);
	return of->names[part];
}

static struct table table_of(const struct row *rows, size_t count)
{
	return (struct table){ .columns = columns,
			       .rows = rows,
			       .count = count,
			       .size = sizeof(*rows),
			       .name = name_of,
			       .data = columns,
			       .whole = 4000 };
}

static void prints(const struct table *table, enum table_form form, const char *wanted)
{
	struct view_buffer out = { .used = 0 };
	struct json json;

	if (form == TABLE_JSON) {
		json_begin(&json, &out, 0);
		json_object(&json, NULL);
		table_json(table, &json, "rows");
		json_end(&json);
	} else {
		(form == TABLE_CSV ? table_csv : table_text)(table, &out);
	}
	view_buffer_put(&out, "", 1);
	assert_false(out.failed);
	assert_string_equal(out.bytes, wanted);
	view_buffer_free(&out);
}

static void below(const struct table *table, const void *row, struct view_buffer *out)
{
	const struct row *of = row;

	(void)table;
	view_buffer_print(out, "   below %s\n", of->names[FIRST]);
}

static void test_columns(void **state)
{
	static const struct row rows[] = { { { "f", "12" }, 0, 1000, 2000, 7 },
					   { { "g", "" }, 1001, 3000, 0, 0 } };
	struct table table = table_of(rows, 2);

	(void)state;
	table.names[0] = (struct column)COLUMN_NAME("name", TEXT, FIRST);
	table.names[1] = (struct column)COLUMN_NAME("tid", DIGITS, SECOND);
	table.name_count = 2;
	prints(&table, TABLE_TEXT,
	       "\n    TIME   COUNT    SHARE   OF ALL  NAME  TID  LIST\n"
	       "    1 us    none   50.00%   25.00%  f     12   late\n"
	       "    3 us   1,001    0.00%   75.00%  g     -\n");
	prints(&table, TABLE_JSON,
	       "{\"rows\":[{\"name\":\"f\",\"tid\":12,\"count\":0,\"late\":7,\"time_ns\":1000,\"share\":1000,"
	       "\"sum\":1001,\"list\":[7]},"
	       "{\"name\":\"g\",\"tid\":0,\"count\":1001,\"late\":0,\"time_ns\":3000,\"share\":3000,"
	       "\"sum\":null,\"list\":[0]}]}\n");
	prints(&table, TABLE_CSV,
	       "name,tid,count,time_ns,share,sum,late\r\n"
	       "f,12,0,1000,1000,1001,7\r\n"
	       "g,,1001,3000,3000,,0\r\n");
	table.optional = table.color = true;
	table.hz = 1000000;
	table.unit = "ticks";
	table.count = 1;
	table.below = below;
	prints(&table, TABLE_TEXT,
	       "\n\x1b[1m    TIME   COUNT    SHARE    SUM   OF ALL  NAME  TID  LIST\x1b[0m\n"
	       "    1 ms    none   50.00%  1,001   25.00%  f     12   late\n   below f\n");
	prints(&table, TABLE_CSV,
	       "name,tid,count,time_ns,share_ticks,sum,late\r\nf,12,0,1000000,1000,1001,7\r\n");
}

static void test_no_rows(void **state)
{
	const struct row row = { { "f", "1" }, 2, 3, 4, 5 };
	const struct row *const pointers[] = { &row };
	struct table table = table_of(NULL, 0);

	(void)state;
	prints(&table, TABLE_TEXT, "\n    TIME   COUNT    SHARE   OF ALL  LIST\n");
	prints(&table, TABLE_JSON, "{\"rows\":[]}\n");
	prints(&table, TABLE_CSV, "count,time_ns,share,sum,late\r\n");
	table.rows = pointers;
	table.count = 1;
	table.size = 0;
	prints(&table, TABLE_CSV, "count,time_ns,share,sum,late\r\n2,3,3,6,5\r\n");
}

/* Bytes that would break a line, a cell, a string or the terminal. */
static void test_hostile(void **state)
{
	static const struct row rows[] = { { { "a\"b,c\n\x1b[2J", "=1+1" }, 2, 0, 0, 0 },
					   { { "\xff\x01\\", "\xe2\x80\xae,\r" }, 2, 0, 0, 0 } };
	static const struct column none[] = { { 0 } };
	struct table table = table_of(rows, 2);

	(void)state;
	table.columns = none;
	table.data = columns;
	table.names[0] = (struct column)COLUMN_NAME("one", TEXT, FIRST);
	table.names[1] = (struct column)COLUMN_NAME("other", TEXT, SECOND);
	table.name_count = 2;
	prints(&table, TABLE_TEXT,
	       "\nONE           OTHER\n"
	       "a\"b,c\\n\\e[2J  =1+1\n"
	       "\\xff\\x01\\\\    \\u202e,\\r\n");
	prints(&table, TABLE_JSON,
	       "{\"rows\":[{\"one\":\"a\\\"b,c\\n\\u001b[2J\",\"other\":\"=1+1\"},"
	       "{\"one\":\"\\ufffd\\u0001\\\\\",\"other\":\"\\u202e,\\r\"}]}\n");
	prints(&table, TABLE_CSV,
	       "one,other\r\n\"a\"\"b,c\\n\\e[2J\",'=1+1\r\n\\xff\\x01\\\\,\"\\u202e,\\r\"\r\n");
}

/* Two names that differ only in what shortening leaves out stay apart; the last column is never shortened. */
static void test_symbols(void **state)
{
	static char one[200], other[200];
	const struct row rows[] = { { { one, "i" }, 2, 0, 0, 0 }, { { other, "j" }, 2, 0, 0, 0 } };
	static const struct column none[] = { { 0 } };
	struct table table = table_of(rows, 2);
	struct view_buffer out = { .used = 0 };
	char *end;

	(void)state;
	strcpy(one, "f<");
	memset(one + 2, 'x', 100);
	strcpy(other, one);
	strcat(one, "1>()");
	strcat(other, "2>()");
	table.columns = none;
	table.names[0] = (struct column)COLUMN_NAME("symbol", SYMBOL, FIRST);
	table.names[1] = (struct column)COLUMN_NAME("image", TEXT, SECOND);
	table.name_count = 2;
	for (unsigned count = 2; count; count--) {
		table.name_count = count;
		table_text(&table, &out);
		view_buffer_put(&out, "", 1);
		assert_false(out.failed);
		assert_non_null(strstr(out.bytes, one));
		assert_non_null(strstr(out.bytes, other));
		out.used = 0;
	}
	table.name_count = 2;
	table.count = 1;
	table_text(&table, &out);
	view_buffer_put(&out, "", 1);
	end = strstr(out.bytes, "f<\xe2\x80\xa6>");
	assert_non_null(end);
	view_buffer_free(&out);
}

static void test_left(void **state)
{
	struct view_buffer out = { .used = 0 };

	(void)state;
	table_left(0, "more", true, &out);
	table_left(1200, "more rows", false, &out);
	table_left(2, "more rows", true, &out);
	view_buffer_put(&out, "", 1);
	assert_string_equal(out.bytes, "1,200 more rows\n\x1b[2m2 more rows\x1b[0m\n");
	view_buffer_free(&out);
	assert_int_equal(table_limit(3, UINT64_MAX), 3);
	assert_int_equal(table_limit(3, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_left),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
