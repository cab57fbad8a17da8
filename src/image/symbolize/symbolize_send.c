/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends the messages of a child; see symbolize_send.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/leb128.h"
#include "image/names/demangle.h"
#include "image/symbolize/symbolize_send.h"

void child_flush(struct child *child)
{
	for (size_t at = 0; at < child->filled && !child->error;) {
		ssize_t wrote = write(child->pipe, child->out + at, child->filled - at);

		if (wrote > 0)
			at += (size_t)wrote;
		else if (errno != EINTR)
			child->error = -errno;
	}
	child->filled = 0;
}

void child_begin(struct child *child, enum child_message kind)
{
	if (child->filled + CHILD_MESSAGE_MAX + sizeof(uint32_t) > CHILD_OUT_MAX)
		child_flush(child);
	child->message = child->out + child->filled;
	child->at = leb128_put(child->message + sizeof(uint32_t), kind);
}

void child_put(struct child *child, uint64_t number)
{
	child->at = leb128_put(child->at, number);
}

void child_put_text(struct child *child, const char *text, size_t bytes)
{
	bytes = bytes < WIRE_TEXT_MAX ? bytes : WIRE_TEXT_MAX;
	child_put(child, bytes);
	child->at = (unsigned char *)memcpy(child->at, text, bytes) + bytes;
}

void child_end(struct child *child)
{
	const uint32_t bytes = (uint32_t)(child->at - child->message - sizeof(uint32_t));

	memcpy(child->message, &bytes, sizeof(bytes));
	child->filled = (size_t)(child->at - child->out);
}

void child_done(struct child *child)
{
	child->done++;
	if (child->done % 64 && child->done != child->task->count)
		return;
	child_begin(child, CHILD_DONE);
	child_put(child, child->done);
	child_end(child);
	child_flush(child);
}

void child_send_image(struct child *child, enum wire_symbols_state state, bool missing, const char *hint)
{
	child_begin(child, CHILD_IMAGE);
	child_put(child, state);
	child_put(child, missing);
	child_put_text(child, hint, strlen(hint));
	child_end(child);
}

void child_send_lasting(struct child *child)
{
	child_begin(child, CHILD_LASTING);
	child_end(child);
}

uint32_t child_text(struct child *child, const char *text, size_t bytes, bool mangled)
{
	char readable[DEMANGLE_OUT_MAX];
	size_t readable_bytes;
	uint32_t number;
	bool fresh;

	if (!bytes)
		return 0;
	number = texts_number(&child->texts, text, bytes, &fresh);
	if (!number)
		child->error = -ENOMEM;
	if (!fresh)
		return number;
	readable_bytes = mangled ? demangle(readable, child->texts.all[number - 1].text) : 0;
	child_begin(child, CHILD_TEXT);
	child_put_text(child, readable_bytes ? readable : text, readable_bytes ? readable_bytes : bytes);
	child_end(child);
	return number;
}

uint32_t child_symbol(struct child *child, const struct symbol *symbol)
{
	char name[DEMANGLE_IN_MAX], readable[DEMANGLE_OUT_MAX + sizeof("@plt")];
	size_t bytes = symbol->bytes < sizeof(name) - 1 ? symbol->bytes : sizeof(name) - 1;

	memcpy(name, symbol->name, bytes);
	name[bytes] = 0;
	if (!symbol->plt)
		return child_text(child, name, bytes, true);
	bytes = demangle(readable, name);
	if (!bytes)
		bytes = (size_t)snprintf(readable, DEMANGLE_OUT_MAX, "%.*s", DEMANGLE_OUT_MAX - 1, name);
	bytes = strlen(readable);
	memcpy(readable + bytes, "@plt", sizeof("@plt"));
	return child_text(child, readable, bytes + 4, false);
}

void child_send_unreadable(struct child *child, const char *why)
{
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "%s: %s", child->task->image->path, why);
	child_send_image(child, WIRE_SYMBOLS_NONE, false, text);
}
