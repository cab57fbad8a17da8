/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Buffers of output; see buffer.h. */
#include "view/buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/print.h"
#include "base/text.h"

char *view_buffer_grow(struct view_buffer *buffer, size_t bytes)
{
	if (!array_reserve(buffer->bytes, buffer->room, buffer->used + bytes + 1)) {
		buffer->failed = true;
		return NULL;
	}
	return buffer->bytes + buffer->used;
}

void view_buffer_print(struct view_buffer *buffer, const char *format, ...)
{
	va_list arguments;
	char *at = view_buffer_reserve(buffer, 512);
	size_t room, bytes;

	if (!at)
		return;
	room = buffer->room - buffer->used;
	va_start(arguments, format);
	bytes = print_arguments(at, room, format, arguments);
	va_end(arguments);
	if (bytes >= room) {
		at = view_buffer_reserve(buffer, bytes + 1);
		if (!at)
			return;
		va_start(arguments, format);
		bytes = print_arguments(at, bytes + 1, format, arguments);
		va_end(arguments);
	}
	buffer->used += bytes;
}

void view_buffer_put(struct view_buffer *buffer, const char *bytes, size_t count)
{
	char *at = view_buffer_reserve(buffer, count);

	if (at && count)
		view_buffer_commit(buffer, view_put(at, bytes, count));
}

void view_buffer_add(struct view_buffer *buffer, const struct view_buffer *other)
{
	view_buffer_put(buffer, other->bytes, other->used);
	buffer->failed |= other->failed;
}

void view_buffer_escape(struct view_buffer *buffer, const char *text)
{
	const size_t bytes = strlen(text);
	char *at = view_buffer_reserve(buffer, bytes * TEXT_ESCAPE_MAX);

	if (at)
		buffer->used += text_escape(at, text, bytes);
}

/* A spreadsheet runs a cell that begins with one of these. */
static bool begins_formula(char first)
{
	return first == '=' || first == '+' || first == '-' || first == '@';
}

void view_buffer_csv(struct view_buffer *buffer, const char *text)
{
	const size_t bytes = strlen(text);
	const bool quoted = text[strcspn(text, "\",")];
	char *at = view_buffer_reserve(buffer, bytes * TEXT_ESCAPE_MAX + 3);

	if (!at)
		return;
	if (quoted)
		*at++ = '"';
	if (begins_formula(*text))
		*at++ = '\'';
	for (size_t part; *text; text += part) {
		part = strcspn(text, "\"");
		at += text_escape(at, text, part);
		for (; text[part] == '"'; part++) {
			*at++ = '"';
			*at++ = '"';
		}
	}
	if (quoted)
		*at++ = '"';
	view_buffer_commit(buffer, at);
}

int view_buffer_write(struct view_buffer *buffer, int file)
{
	size_t done = 0;

	while (done < buffer->used) {
		ssize_t part = write(file, buffer->bytes + done, buffer->used - done);

		if (part >= 0) {
			done += (size_t)part;
		} else if (errno == EAGAIN) {
			struct pollfd wait = { .fd = file, .events = POLLOUT };

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	buffer->used = 0;
	return buffer->failed ? -ENOMEM : 0;
}

void view_buffer_free(struct view_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct view_buffer){ .used = 0 };
}
