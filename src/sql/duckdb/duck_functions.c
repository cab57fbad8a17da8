/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of queries; see duck_functions.h. */
#include "sql/duckdb/duck_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/query_stacks.h"

const char duck_macros[] =
	"CREATE OR REPLACE MACRO percentile(x, p) AS quantile_disc(x, round(p / 100.0, 12)); "
	"CREATE OR REPLACE MACRO \"time\"(ns) AS strftime(make_timestamp_ns(ns), '%Y-%m-%d %H:%M:%S.%n')";

/* Appends the text for a number, if there is one. */
typedef void (*duck_text_of)(const struct query *query, uint32_t number, struct view_buffer *out);

static void symbol_text(const struct query *query, uint32_t number, struct view_buffer *out)
{
	char text[QUERY_NAME];
	const char *name = query_location_function(query, number, text, sizeof(text));

	if (name)
		view_buffer_put(out, name, strlen(name));
}

/* Return: false: no memory. */
static bool function_row(duck_handle vector, uint64_t row, const struct view_buffer *text)
{
	char *valid = malloc(text->used * TEXT_UTF8_MAX + 1);

	if (valid)
		duck.vector_assign_string_element_len(vector, row, valid,
						      text_utf8(valid, text->bytes, text->used));
	free(valid);
	return valid && !text->failed;
}

/* A number that no stack or location has gives NULL. */
static void function_rows(duck_handle info, duck_handle chunk, duck_handle vector, duck_text_of text_of)
{
	const struct duck_functions *functions = duck.scalar_function_get_extra_info(info);
	const duck_handle input = duck.data_chunk_get_vector(chunk, 0);
	const uint64_t *valid = duck.vector_get_validity(input), count = duck.data_chunk_get_size(chunk);
	const int64_t *numbers = duck.vector_get_data(input);
	struct view_buffer text = { 0 };

	duck.vector_ensure_validity_writable(vector);
	pthread_mutex_lock(&functions->tables->lock);
	for (uint64_t row = 0; row < count; row++) {
		const bool given = !valid || valid[row / 64] >> row % 64 & 1;

		text.used = 0;
		if (given && numbers[row] > 0 && numbers[row] <= UINT32_MAX)
			text_of(functions->query, (uint32_t)numbers[row], &text);
		if (!text.used)
			duck.vector_get_validity(vector)[row / 64] &= ~(1ull << row % 64);
		else if (!function_row(vector, row, &text))
			text.failed = true;
	}
	pthread_mutex_unlock(&functions->tables->lock);
	if (text.failed)
		duck.scalar_function_set_error(info, "no memory for names; raise the limit with --memory");
	view_buffer_free(&text);
}

static void stack_rows(duck_handle info, duck_handle chunk, duck_handle vector)
{
	function_rows(info, chunk, vector, query_stack_text);
}

static void symbol_rows(duck_handle info, duck_handle chunk, duck_handle vector)
{
	function_rows(info, chunk, vector, symbol_text);
}

bool duck_functions_add(duck_handle connection, struct duck_functions *functions)
{
	static const struct {
		const char *name;
		void (*rows)(duck_handle info, duck_handle chunk, duck_handle vector);
	} list[] = { { "stack", stack_rows }, { "symbol", symbol_rows } };
	duck_handle bigint = duck.create_logical_type(DUCK_BIGINT),
		    varchar = duck.create_logical_type(DUCK_VARCHAR);
	bool made = true;

	for (size_t n = 0; n < sizeof(list) / sizeof(*list) && made; n++) {
		duck_handle function = duck.create_scalar_function();

		duck.scalar_function_set_name(function, list[n].name);
		duck.scalar_function_add_parameter(function, bigint);
		duck.scalar_function_set_return_type(function, varchar);
		duck.scalar_function_set_extra_info(function, functions, NULL);
		duck.scalar_function_set_function(function, list[n].rows);
		made = !duck.register_scalar_function(connection, function);
		duck.destroy_scalar_function(&function);
	}
	duck.destroy_logical_type(&bigint);
	duck.destroy_logical_type(&varchar);
	return made;
}
