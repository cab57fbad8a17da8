/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of queries; see sql_functions.h. */
#include "sql/sql_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "query/query_stacks.h"
#include "view/hist/value_counts.h"
#include "view/json.h"
#include "view/records/line.h"

enum {
	NS_PER_SECOND = 1000000000,
	ROUNDS_MAX = 64, /* of percentile(): twice as many as evenly split numbers take */
};

/* ---- percentile() */

/* Integers stay integers, so that times are exact, until a real number comes. */
union sql_number {
	int64_t integer;
	double real;
};

struct sql_numbers {
	union sql_number *list;
	size_t count, room;
	bool real;
	double percent;
	bool failed, wrong;
};

static bool number_below(const struct sql_numbers *numbers, union sql_number one, union sql_number other)
{
	return numbers->real ? one.real < other.real : one.integer < other.integer;
}

static void numbers_to_reals(struct sql_numbers *numbers)
{
	for (size_t n = 0; n < numbers->count && !numbers->real; n++)
		numbers->list[n].real = (double)numbers->list[n].integer;
	numbers->real = true;
}

static void percentile_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct sql_numbers *numbers = sqlite3_aggregate_context(context, sizeof(*numbers));
	const int type = sqlite3_value_numeric_type(values[0]),
		  percent = sqlite3_value_numeric_type(values[1]);
	union sql_number number;

	(void)count;
	if (!numbers || numbers->failed || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	numbers->percent = sqlite3_value_double(values[1]);
	numbers->wrong |= (percent != SQLITE_INTEGER && percent != SQLITE_FLOAT) ||
			  !(numbers->percent >= 0 && numbers->percent <= 100);
	if (type == SQLITE_FLOAT)
		numbers_to_reals(numbers);
	if (numbers->real)
		number.real = sqlite3_value_double(values[0]);
	else
		number.integer = sqlite3_value_int64(values[0]);
	numbers->failed = !array_reserve(numbers->list, numbers->room, numbers->count + 1);
	if (numbers->failed)
		sqlite3_result_error_nomem(context);
	else
		numbers->list[numbers->count++] = number;
}

static int integer_order(const void *a, const void *b)
{
	const union sql_number *one = a, *other = b;

	return (one->integer > other->integer) - (one->integer < other->integer);
}

static int real_order(const void *a, const void *b)
{
	const union sql_number *one = a, *other = b;

	return (one->real > other->real) - (one->real < other->real);
}

/*
 * Moves numbers until the one of a rank is in its place. Each round splits them at a middle one: smaller ones before, greater ones behind. The
 * middle is chosen by position, so that sorted numbers are split evenly. Foreign numbers may be in an order that is never split evenly: after
 * ROUNDS_MAX rounds the rest is sorted.
 */
static union sql_number number_of_rank(struct sql_numbers *numbers, size_t rank)
{
	union sql_number *list = numbers->list;
	size_t low = 0, high = numbers->count - 1;

	for (unsigned round = 0; low < high && round < ROUNDS_MAX; round++) {
		const union sql_number middle = list[low + (high - low) / 2];
		size_t left = low, right = high;

		for (;; left++, right--) {
			union sql_number kept;

			while (number_below(numbers, list[left], middle))
				left++;
			while (number_below(numbers, middle, list[right]))
				right--;
			if (left >= right)
				break;
			kept = list[left];
			list[left] = list[right];
			list[right] = kept;
		}
		if (rank <= right)
			high = right;
		else
			low = right + 1;
	}
	if (low < high)
		qsort(list + low, high - low + 1, sizeof(*list), numbers->real ? real_order : integer_order);
	return list[rank];
}

/* The nearest rank from above, from 0. A product that misses a whole number only by rounding is that number: 99.9 % of 1000. */
static size_t percentile_rank(size_t count, double percent)
{
	const double exact = (double)count * percent / 100, whole = round(exact);
	const double rank = fabs(exact - whole) < 1e-9 * (1 + exact) ? whole : ceil(exact);

	return rank < 1 ? 0 : rank >= (double)count ? count - 1 : (size_t)rank - 1;
}

static void percentile_final(sqlite3_context *context)
{
	struct sql_numbers *numbers = sqlite3_aggregate_context(context, 0);
	union sql_number number;

	if (!numbers)
		return;
	if (numbers->failed) {
		sqlite3_result_error_nomem(context);
	} else if (numbers->wrong) {
		sqlite3_result_error(context, "percentile() needs a number from 0 to 100 behind the values",
				     -1);
	} else if (numbers->count) {
		number = number_of_rank(numbers, percentile_rank(numbers->count, numbers->percent));
		if (numbers->real)
			sqlite3_result_double(context, number.real);
		else
			sqlite3_result_int64(context, number.integer);
	}
	free(numbers->list);
	numbers->list = NULL;
}

/* ---- histogram() */

static void histogram_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct value_counts *counts = sqlite3_aggregate_context(context, sizeof(*counts));
	const int type = sqlite3_value_numeric_type(values[0]);
	const double value = sqlite3_value_double(values[0]);

	(void)count;
	if (counts && (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && isfinite(value) &&
	    !value_counts_add(counts, value))
		sqlite3_result_error_nomem(context);
}

static void histogram_final(sqlite3_context *context)
{
	struct value_counts *counts = sqlite3_aggregate_context(context, 0);
	struct value_bar bars[VALUE_BARS];
	struct view_buffer out = { 0 };
	struct json json;
	unsigned count;

	if (!counts)
		return;
	count = counts->count ? value_counts_bars(counts, bars) : 0;
	json_begin(&json, &out, 0);
	json_array(&json, NULL);
	for (unsigned n = 0; n < count; n++) {
		json_object(&json, NULL);
		json_double(&json, "from", bars[n].from, 17);
		json_double(&json, "to", bars[n].to, 17);
		json_u64(&json, "count", bars[n].count);
		json_end(&json);
	}
	json_end(&json);
	if (out.failed)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text64(context, out.bytes, out.used - 1, SQLITE_TRANSIENT, SQLITE_UTF8);
	view_buffer_free(&out);
	value_counts_free(counts);
}

/* ---- stack(), symbol() */

const struct sql_trace *sql_traces_find(const struct sql_traces *traces, const char *schema)
{
	const struct sql_trace *trace = traces->first;

	if (!schema)
		return trace && traces->exact && trace->next ? NULL : trace;
	while (trace && sqlite3_stricmp(schema, trace->schema))
		trace = trace->next;
	return trace;
}

/* Return: NULL after an error. */
static const struct query *function_trace(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *schema = count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL;
	const struct sql_trace *trace =
		count > 1 && !schema ? NULL : sql_traces_find(sqlite3_user_data(context), schema);

	if (!trace)
		sqlite3_result_error(context, "give the schema of a trace that is open", -1);
	return trace ? trace->query : NULL;
}

static bool function_number(sqlite3_value *value, uint32_t *number)
{
	const int64_t given = sqlite3_value_int64(value);

	*number = (uint32_t)given;
	return sqlite3_value_type(value) == SQLITE_INTEGER && given > 0 && given <= UINT32_MAX;
}

static void stack_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct query *query = function_trace(context, count, values);
	struct view_buffer out = { 0 };
	uint32_t number;

	if (!query || !function_number(values[0], &number))
		return;
	query_stack_text(query, number, &out);
	if (out.failed)
		sqlite3_result_error_nomem(context);
	else if (out.used)
		sqlite3_result_text64(context, out.bytes, out.used, SQLITE_TRANSIENT, SQLITE_UTF8);
	view_buffer_free(&out);
}

static void symbol_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const struct query *query = function_trace(context, count, values);
	char text[QUERY_NAME];
	const char *name;
	uint32_t number;

	if (!query || !function_number(values[0], &number))
		return;
	name = query_location_function(query, number, text, sizeof(text));
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
}

/* ---- time() */

static void time_of_sqlite(sqlite3_context *context, sqlite3_value *value)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT strftime('%H:%M:%S', ?1)",
					-1, &statement, NULL);

	if (!result)
		result = sqlite3_bind_value(statement, 1, value);
	if (!result && sqlite3_step(statement) == SQLITE_ROW)
		sqlite3_result_value(context, sqlite3_column_value(statement, 0));
	sqlite3_finalize(statement);
}

/* An integer is a time of a trace. In the extension, one that is a day for SQLite (its first and last) stays that. */
static bool value_is_ns(sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return false;
#ifdef SQL_EXTENSION
	return sqlite3_value_int64(value) < 0 || sqlite3_value_int64(value) > 5373484;
#else
	return true;
#endif
}

static void time_function(sqlite3_context *context, int count, sqlite3_value **values)
{
	const int64_t ns = sqlite3_value_int64(values[0]);
	int64_t second = ns / NS_PER_SECOND, rest = ns % NS_PER_SECOND;
	char text[VIEW_ABSOLUTE];

	(void)count;
	if (!value_is_ns(values[0])) {
		time_of_sqlite(context, values[0]);
		return;
	}
	if (rest < 0) {
		second--;
		rest += NS_PER_SECOND;
	}
	sqlite3_result_text(context, text, (int)(view_absolute(text, second, (uint32_t)rest) - text),
			    SQLITE_TRANSIENT);
}

int sql_functions_add(sqlite3 *base, const struct sql_traces *traces)
{
	/* Also in indexes, as SQLite's own time() may be. */
	static const int everywhere = SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	static const struct {
		const char *name;
		int arguments;
		void (*function)(sqlite3_context *, int, sqlite3_value **);
		void (*step)(sqlite3_context *, int, sqlite3_value **);
		void (*final)(sqlite3_context *);
		int flags;
	} functions[] = {
		{ "percentile", 2, NULL, percentile_step, percentile_final, everywhere },
		{ "histogram", 1, NULL, histogram_step, histogram_final, everywhere },
		{ "stack", 1, stack_function, NULL, NULL, 0 },
		{ "stack", 2, stack_function, NULL, NULL, 0 },
		{ "symbol", 1, symbol_function, NULL, NULL, 0 },
		{ "symbol", 2, symbol_function, NULL, NULL, 0 },
		{ "time", 1, time_function, NULL, NULL, everywhere },
	};
	int result = SQLITE_OK;

	for (size_t n = 0; n < sizeof(functions) / sizeof(*functions) && !result; n++)
		result = sqlite3_create_function_v2(
			base, functions[n].name, functions[n].arguments, SQLITE_UTF8 | functions[n].flags,
			(void *)traces, functions[n].function, functions[n].step, functions[n].final, NULL);
	return result;
}
