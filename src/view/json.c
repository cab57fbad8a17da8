/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The writer of JSON; see json.h. */
#include "view/json.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "base/text.h"

enum {
	DOUBLE_BYTES = 32,
};

bool json_make_room(struct json *json, size_t bytes)
{
	if (!json->at)
		return false;
	view_buffer_commit(json->out, json->at);
	json->at = view_buffer_reserve(json->out, bytes);
	json->end = json->at ? json->out->bytes + json->out->room : NULL;
	return json->at;
}

char *json_break(const struct json *json, char *at)
{
	*at++ = '\n';
	memset(at, ' ', 2 * (size_t)json->depth);
	return at + 2 * (size_t)json->depth;
}

static char *json_put_string(char *at, const char *text, size_t bytes)
{
	*at++ = '"';
	at += text_json(at, text, bytes);
	*at++ = '"';
	return at;
}

void json_key(struct json *json, const char *key)
{
	const size_t bytes = strlen(key);
	char *at = json_room(json, TEXT_JSON_MAX * bytes + 3);

	if (!at)
		return;
	assert(json->closing[json->depth] == '}' && at[-1] != ':');
	at = json_put_string(json_item(json, at), key, bytes);
	*at++ = ':';
	json->at = at;
}

/* Makes room for a value. Return: where to write it; NULL: no memory. */
static inline char *begin_value(struct json *json, const char *key, size_t bytes)
{
	bool in_array;
	char *at;

	if (key)
		json_key(json, key);
	at = json_room(json, bytes);
	if (!at)
		return NULL;
	in_array = json->closing[json->depth] == ']';
	if (in_array)
		at = json_item(json, at);
	assert(in_array ? !key : json->depth && at[-1] == ':');
	return at;
}

static inline void end_value(struct json *json, char *at)
{
	*at++ = ',';
	json->at = at;
}

static void open_container(struct json *json, const char *key, char opening, char closing)
{
	char *at = json->depth ? begin_value(json, key, 1) : json_room(json, 1);
	const unsigned depth = json->depth + 1;

	assert(depth < JSON_DEPTH_MAX && (json->depth || !key));
	json->depth = depth;
	json->closing[depth] = closing;
	if (at) {
		*at = opening;
		json->at = at + 1;
	}
}

void json_object(struct json *json, const char *key)
{
	open_container(json, key, '{', '}');
}

void json_array(struct json *json, const char *key)
{
	open_container(json, key, '[', ']');
}

void json_end(struct json *json)
{
	char *at = json_room(json, 2);
	const unsigned depth = json->depth - 1;

	assert(json->depth);
	json->depth = depth;
	if (!at)
		return;
	assert(at[-1] != ':');
	if (at[-1] == ',')
		at = depth < json->lines ? json_break(json, at - 1) : at - 1;
	at[0] = json->closing[depth + 1];
	at[1] = depth ? ',' : '\n';
	json->at = at + 2;
	if (!depth)
		view_buffer_commit(json->out, at + 2);
}

static void put_word(struct json *json, const char *key, const char *word, size_t bytes)
{
	char *at = begin_value(json, key, bytes);

	if (at)
		end_value(json, view_put(at, word, bytes));
}

void json_null(struct json *json, const char *key)
{
	put_word(json, key, "null", 4);
}

void json_bool(struct json *json, const char *key, bool value)
{
	put_word(json, key, value ? "true" : "false", value ? 4 : 5);
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	char *at = begin_value(json, key, NUMBER_DIGITS_MAX);

	if (at)
		end_value(json, number_decimal(at, value));
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	char *at = begin_value(json, key, NUMBER_DIGITS_MAX + 1);

	if (at)
		end_value(json, number_signed(at, value));
}

void json_double(struct json *json, const char *key, double value, int digits)
{
	char text[DOUBLE_BYTES];

	if (isnan(value) || isinf(value))
		json_text(json, key, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
	else
		put_word(json, key, text, (size_t)snprintf(text, sizeof(text), "%.*g", digits, value));
}

void json_text(struct json *json, const char *key, const char *text)
{
	if (text)
		json_bytes(json, key, text, strlen(text));
	else
		json_null(json, key);
}

void json_bytes(struct json *json, const char *key, const char *text, size_t bytes)
{
	char *at = begin_value(json, key, TEXT_JSON_MAX * bytes + 2);

	if (at)
		end_value(json, json_put_string(at, text, bytes));
}

void json_hex(struct json *json, const char *key, const void *bytes, size_t count)
{
	char *at = begin_value(json, key, 2 * count + 2);

	if (!at)
		return;
	*at++ = '"';
	at += text_hex(at, bytes, count);
	*at++ = '"';
	end_value(json, at);
}
