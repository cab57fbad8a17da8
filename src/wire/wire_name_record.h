/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The one encoder of the names stream's records (wire_names.h). Programs, recorders, importers and the kernel's module announce
 * tasks with it; each appends in its own way. Inline and without a library: it runs in signal handlers and in the kernel.
 */
#ifndef BURIN_WIRE_WIRE_NAME_RECORD_H
#define BURIN_WIRE_WIRE_NAME_RECORD_H

#include <stdint.h>

#include "wire/wire_names.h"
#include "wire/wire_record.h"

/* Bytes of a buffer for any record whose texts have at most `text_max` bytes: headroom, content, padding of its last word. */
#define WIRE_NAME_ROOM(text_max) (WIRE_HEADROOM + 8 + 2 * ((text_max) + 1) + WIRE_NAME_TAIL + 8)

static inline char *wire_name_put(char *at, uint64_t value, unsigned bytes)
{
	__builtin_memcpy(at, &value, bytes); /* little-endian, as all of the format */
	return at + bytes;
}

/* A longer text is cut. Each byte is read once, since another thread may be changing it. */
static inline char *wire_name_put_text(char *at, const char *text, unsigned most)
{
	for (; most && (*at = *text); most--, text++)
		at++;
	*at = 0;
	return at + 1;
}

/* Return: the end of the record's content in the buffer. The word behind it is padded with zeros. */
static inline uint32_t wire_name_end(char *buffer, char *at, uint64_t since)
{
	at = wire_name_put(at, since, 8);
	at = wire_name_put(at, 0, 8); /* gone: not known */
	wire_name_put(at, 0, 8);
	return (uint32_t)(at - buffer);
}

/*
 * wire_name_process, wire_name_thread - the content of a record, behind WIRE_HEADROOM bytes for its header.
 * @buffer: 8-aligned, WIRE_NAME_ROOM(text_max) bytes; text_max is at most WIRE_NAME_TEXT_MAX
 * @since: ticks; 0: the record's own time
 * Return: the length of the record in extended form; in compact form it is 8 bytes less.
 */
static inline uint32_t wire_name_process(char *buffer, unsigned text_max, uint32_t pid, uint32_t parent,
					 const char *exe, const char *command, uint64_t since)
{
	char *at = wire_name_put(buffer + WIRE_HEADROOM, pid, 4);

	at = wire_name_put(at, parent, 4);
	at = wire_name_put_text(at, exe, text_max);
	at = wire_name_put_text(at, command, text_max);
	return wire_name_end(buffer, at, since);
}

static inline uint32_t wire_name_thread(char *buffer, unsigned text_max, uint32_t pid, const char *name,
					uint64_t since)
{
	char *at = wire_name_put(buffer + WIRE_HEADROOM, pid, 4);

	at = wire_name_put_text(at, name, text_max);
	return wire_name_end(buffer, at, since);
}

#endif
