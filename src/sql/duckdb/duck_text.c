/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of statements; see duck_text.h. */
#include "sql/duckdb/duck_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sql/duckdb/duck_rows.h"

void duck_text_put(struct view_buffer *out, const char *text)
{
	view_buffer_put(out, text, strlen(text));
}

void duck_text_quote(struct view_buffer *out, const char *name)
{
	duck_text_put(out, "\"");
	for (const char *quote; (quote = strchr(name, '"')); name = quote + 1) {
		view_buffer_put(out, name, (size_t)(quote - name) + 1);
		duck_text_put(out, "\"");
	}
	duck_text_put(out, name);
	duck_text_put(out, "\"");
}

bool duck_text_end(struct view_buffer *out)
{
	view_buffer_put(out, "", 1);
	return !out->failed;
}

/* ---- Statements */

/* Behind the first @end in a text. */
static const char *text_behind(const char *text, const char *end)
{
	const char *found = strstr(text, end);

	return found ? found + strlen(end) : text + strlen(text);
}

/* Behind a comment, in which others may be. */
static const char *text_comment(const char *at)
{
	unsigned open = 0;

	if (*at == '-')
		return text_behind(at, "\n");
	do {
		const bool begin = !strncmp(at, "/*", 2), end = !strncmp(at, "*/", 2);

		open = open + begin - end;
		at += begin || end ? 2 : 1;
	} while (open && *at);
	return at;
}

/* Behind a text with backslashes, whose quote is at @at: two quotes are one in it. */
static const char *text_escaped(const char *at)
{
	for (at++; *at; at++)
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '\'' && at[1] == '\'')
			at++;
		else if (*at == '\'')
			return at + 1;
	return at;
}

static bool text_is_word(char character)
{
	return isalnum((unsigned char)character) || character == '_' || character & 0x80;
}

/* Behind a text between dollars, which have a word in them or none: $word$ ... $word$. Parameters, such as $1, are not the begin of one. */
static const char *text_dollars(const char *at)
{
	size_t length = 1;
	char tag[66];

	while (text_is_word(at[length]))
		length++;
	if (at[length] != '$' || isdigit((unsigned char)at[1]) || ++length >= sizeof(tag))
		return at;
	snprintf(tag, sizeof(tag), "%.*s", (int)length, at);
	return text_behind(at + length, tag);
}

/* Behind a word, a comment or a text in quotes that begins here, if any. */
static const char *text_skip(const char *at, bool *comment)
{
	*comment = !strncmp(at, "--", 2) || !strncmp(at, "/*", 2);
	if (*comment)
		return text_comment(at);
	if ((*at == 'e' || *at == 'E') && at[1] == '\'')
		return text_escaped(at + 1);
	if (text_is_word(*at)) {
		while (text_is_word(*at) || *at == '$')
			at++;
		return at;
	}
	if (*at == '\'' || *at == '"')
		return text_behind(at + 1, *at == '"' ? "\"" : "'");
	return *at == '$' ? text_dollars(at) : at;
}

size_t duck_text_statement(const char *text)
{
	const char *at = text;
	bool comment;

	while (*at && *at != ';') {
		const char *behind = text_skip(at, &comment);

		at = behind > at ? behind : at + 1;
	}
	return (size_t)(at - text);
}

bool duck_text_is_blank(const char *text)
{
	bool comment;

	for (text += strspn(text, " \t\r\n;"); *text; text += strspn(text, " \t\r\n;")) {
		text = text_skip(text, &comment);
		if (!comment)
			return false;
	}
	return true;
}

/* ---- Types */

static const char *cast_of(int type)
{
	if (duck_rows_prints(type))
		return NULL;
	return type == DUCK_DECIMAL ? "DOUBLE" : "VARCHAR";
}

bool duck_text_casts(const char *text, duck_handle statement, struct view_buffer *out)
{
	const uint64_t count = duck.prepared_statement_column_count(statement);
	bool needed = false;
	char number[32];

	if (duck.prepared_statement_type(statement) != DUCK_SELECT)
		return false;
	for (uint64_t n = 0; n < count; n++) {
		const char *cast = cast_of(duck.prepared_statement_column_type(statement, n));
		const char *name = duck.prepared_statement_column_name(statement, n);

		needed |= cast != NULL;
		snprintf(number, sizeof(number), "#%llu", (unsigned long long)n + 1);
		duck_text_put(out, !n ? "SELECT " : ", ");
		duck_text_put(out, cast ? "CAST(" : "");
		duck_text_put(out, number);
		duck_text_put(out, cast ? " AS " : "");
		duck_text_put(out, cast ? cast : "");
		duck_text_put(out, cast ? ") AS " : " AS ");
		duck_text_quote(out, name ? name : "");
		duck.free((void *)name);
	}
	duck_text_put(out, " FROM (");
	duck_text_put(out, text);
	duck_text_put(out, "\n)");
	return duck_text_end(out) && needed;
}
