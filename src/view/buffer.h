/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A buffer that text is rendered into. Whoever renders reserves the most that may come and then writes
 * without further tests. When there is no memory the buffer remembers it, and what comes is dropped.
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

/* Room for so many more bytes: where to write them. NULL: no memory. */
char *view_buffer_grow(struct view_buffer *buffer, size_t bytes);

static inline char *view_buffer_reserve(struct view_buffer *buffer, size_t bytes)
{
	if (__builtin_expect(buffer->room - buffer->used < bytes, 0))
		return view_buffer_grow(buffer, bytes);
	return buffer->bytes + buffer->used;
}

/* What was written ends here. */
static inline void view_buffer_commit(struct view_buffer *buffer, const char *end)
{
	buffer->used = (size_t)(end - buffer->bytes);
}

/* Bytes put where room was reserved; a string literal without its NUL. Return: behind them. */
static inline char *view_put(char *out, const char *bytes, size_t count)
{
	memcpy(out, bytes, count);
	return out + count;
}

#define view_put_text(out, text) view_put((out), (text), sizeof(text) - 1)

void view_buffer_print(struct view_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Bytes made safe for a terminal, or as a JSON string with its quotes. */
void view_buffer_escape(struct view_buffer *buffer, const char *text);
void view_buffer_json(struct view_buffer *buffer, const char *text);
/* Writes everything to a file descriptor and empties the buffer. Return: 0 or a negative errno. */
int view_buffer_write(struct view_buffer *buffer, int file);
void view_buffer_free(struct view_buffer *buffer);

#endif
