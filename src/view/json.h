/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The writer of JSON: commas, line breaks and escapes are its business. It writes documents, each an object or an array
 * with a newline behind it, one after the other into a buffer:
 *
 *	struct json json;
 *
 *	json_begin_object(&json, out, 0);
 *	json_text(&json, "program", name);
 *	json_array(&json, "pids");
 *	json_u64(&json, NULL, pid);
 *	json_end(&json);
 *	json_end(&json);
 *
 * Each function that writes a value takes its key. The key is NULL in an array, outside of all objects, and behind
 * json_key(). Other calls, and calls that do not nest, fail an assertion. Without memory the buffer sets `failed`.
 * Nothing else may write into the buffer before the document ends.
 */
#ifndef BURIN_VIEW_JSON_H
#define BURIN_VIEW_JSON_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "view/buffer.h"

enum {
	JSON_DEPTH_MAX = 1100, /* of objects and arrays in each other */
	JSON_LINES_MAX = 4,
	JSON_GAP = 2 + 2 * JSON_LINES_MAX, /* bytes around an item, at most */
};

struct json {
	struct view_buffer *out;
	char *at, *end; /* the room in `out`; NULL: no memory */
	unsigned depth; /* open objects and arrays */
	unsigned lines; /* items down to this depth have a line each */
	char closing[JSON_DEPTH_MAX];
};

/* @lines: 0: a line for each document; up to JSON_LINES_MAX: one for each item down to this depth, indented */
static inline void json_begin(struct json *json, struct view_buffer *out, unsigned lines)
{
	json->out = out;
	json->at = view_buffer_reserve(out, 1);
	json->end = json->at ? out->bytes + out->room : NULL;
	json->depth = 0;
	json->lines = lines < JSON_LINES_MAX ? lines : JSON_LINES_MAX;
	json->closing[0] = '\n';
}

void json_object(struct json *json, const char *key);

/* json_begin_object - begin a document that is an object. @lines: as of json_begin() */
static inline void json_begin_object(struct json *json, struct view_buffer *out, unsigned lines)
{
	json_begin(json, out, lines);
	json_object(json, NULL);
}

void json_array(struct json *json, const char *key);
/* Ends the innermost object or array. */
void json_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);
/* @digits: significant ones. JSON has no number for it: "NaN", "Infinity" and "-Infinity" are strings. */
void json_double(struct json *json, const char *key, double value, int digits);
/* NULL: null. Bytes that are not UTF-8 become U+FFFD. */
void json_text(struct json *json, const char *key, const char *text);
void json_bytes(struct json *json, const char *key, const char *text, size_t bytes);
/* A string of two hexadecimal digits for each byte. */
void json_hex(struct json *json, const char *key, const void *bytes, size_t count);

/* ---- What follows is for json_copy(). */

bool json_make_room(struct json *json, size_t bytes);
/* Writes the line break before an item. */
char *json_break(const struct json *json, char *at);

/* Makes room for an item. Return: where to write it; NULL: no memory. */
static inline char *json_room(struct json *json, size_t bytes)
{
	if (__builtin_expect((size_t)(json->end - json->at) < bytes + JSON_GAP, 0) &&
	    !json_make_room(json, bytes + JSON_GAP))
		return NULL;
	return json->at;
}

/* A comma follows each item, and json_end() removes the last one. A colon follows each key: a value must be next. */
static inline char *json_item(const struct json *json, char *at)
{
	return __builtin_expect(json->depth - 1 < json->lines, 0) ? json_break(json, at) : at;
}

/*
 * Copies members from another document: text that its object begins with, without the bracket and up to ->at. It may end
 * with a key.
 */
static inline void json_copy(struct json *json, const char *text, size_t bytes)
{
	char *at = json_room(json, bytes);

	if (!at)
		return;
	assert(json->closing[json->depth] == '}' && at[-1] != ':');
	json->at = view_put(json_item(json, at), text, bytes);
}

/* A key that is a literal and needs no escapes: faster than json_key(). */
#define json_literal_key(json, key) json_copy((json), "\"" key "\":", sizeof(key) + 2)

#endif
