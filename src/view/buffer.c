/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Growing, filling and writing of buffers. */
#include "view/buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

char *view_buffer_grow(struct view_buffer *buffer, size_t bytes)
{
	size_t room = buffer->room ? buffer->room : 4096;
	char *grown;

	while (room - buffer->used < bytes)
		room *= 2;
	grown = realloc(buffer->bytes, room);
	if (!grown) {
		buffer->failed = true;
		return NULL;
	}
	buffer->bytes = grown;
	buffer->room = room;
	return buffer->bytes + buffer->used;
}

void view_buffer_print(struct view_buffer *buffer, const char *format, ...)
{
	va_list arguments;
	char *at = view_buffer_reserve(buffer, 512);
	size_t room;
	int bytes;

	if (!at)
		return;
	room = buffer->room - buffer->used;
	va_start(arguments, format);
	bytes = vsnprintf(at, room, format, arguments);
	va_end(arguments);
	if (bytes >= 0 && (size_t)bytes >= room) {
		at = view_buffer_reserve(buffer, (size_t)bytes + 1);
		if (!at)
			return;
		va_start(arguments, format);
		bytes = vsnprintf(at, (size_t)bytes + 1, format, arguments);
		va_end(arguments);
	}
	if (bytes > 0)
		buffer->used += (size_t)bytes;
}

void view_buffer_escape(struct view_buffer *buffer, const char *text)
{
	size_t bytes = strlen(text);
	char *at = view_buffer_reserve(buffer, bytes * TEXT_ESCAPE_MAX);

	if (at)
		buffer->used += text_escape(at, text, bytes);
}

void view_buffer_json(struct view_buffer *buffer, const char *text)
{
	size_t bytes = strlen(text);
	char *at = view_buffer_reserve(buffer, bytes * TEXT_JSON_MAX + 2);

	if (!at)
		return;
	*at++ = '"';
	at += text_json(at, text, bytes);
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
