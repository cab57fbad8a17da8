/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A growing buffer of output. A caller reserves the maximum that it may write, and then writes without further checks.
 * Without memory the buffer sets `failed`, and later output is dropped.
 */
#ifndef BURIN_VIEW_BUFFER_H
#define BURIN_VIEW_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct view_buffer {
	char *bytes;
	size_t used, room;
	bool failed; /* no memory */
};

/* Makes room for more bytes. Return: where to write them; NULL: no memory. */
char *view_buffer_grow(struct view_buffer *buffer, size_t bytes);

static inline char *view_buffer_reserve(struct view_buffer *buffer, size_t bytes)
{
	/* A byte more, so that there is memory also for none: a null pointer has no place in it. */
	if (__builtin_expect(buffer->room - buffer->used <= bytes, 0))
		return view_buffer_grow(buffer, bytes);
	return buffer->bytes + buffer->used;
}

/* Ends the text that was written into reserved room. */
static inline void view_buffer_commit(struct view_buffer *buffer, const char *end)
{
	buffer->used = (size_t)(end - buffer->bytes);
}

/* Copies bytes into reserved room. Return: behind them. */
static inline char *view_put(char *out, const char *bytes, size_t count)
{
	memcpy(out, bytes, count);
	return out + count;
}

#define view_put_text(out, text) view_put((out), (text), sizeof(text) - 1)

/* As print_text(): the argument of each %s is made safe for a terminal. */
void view_buffer_print(struct view_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends a string, made safe for a terminal. */
void view_buffer_escape(struct view_buffer *buffer, const char *text);
/*
 * A cell of a CSV table, as in RFC 4180: quotes are doubled. Control characters and invalid UTF-8 are escaped as for a
 * terminal. Text that begins with = + - or @ gets an apostrophe in front, since a spreadsheet would run it as a formula.
 */
void view_buffer_csv(struct view_buffer *buffer, const char *text);
/* Appends bytes unescaped: for own or escaped text, and for formats that no terminal shows. */
void view_buffer_put(struct view_buffer *buffer, const char *bytes, size_t count);
void view_buffer_add(struct view_buffer *buffer, const struct view_buffer *other);
/* Writes the buffer to a file descriptor and empties it. Return: 0 or a negative errno. */
int view_buffer_write(struct view_buffer *buffer, int file);
void view_buffer_free(struct view_buffer *buffer);

#endif
