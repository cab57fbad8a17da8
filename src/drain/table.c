/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The drain's copy of the event table; see table.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/format.h"
#include "drain/table.h"
#include "wire/context.h"
#include "wire/names.h"

static int reserve(struct table *table, uint32_t entries, uint32_t text_bytes)
{
	if (table->count + entries > table->room) {
		uint32_t room = (table->count + entries) * 2;
		void *more = realloc(table->entries, room * sizeof(*table->entries));

		if (!more)
			return -ENOMEM;
		table->entries = more;
		more = realloc(table->payload_bytes, room * sizeof(*table->payload_bytes));
		if (!more)
			return -ENOMEM;
		table->payload_bytes = more;
		table->room = room;
	}
	if (table->text_bytes + text_bytes > table->text_room) {
		uint32_t room = (table->text_bytes + text_bytes) * 2;
		char *more = realloc(table->text, room);

		if (!more)
			return -ENOMEM;
		table->text = more;
		table->text_room = room;
	}
	return 0;
}

static uint32_t add_text(struct table *table, const char *string)
{
	uint32_t at = table->text_bytes, bytes = (uint32_t)strlen(string) + 1;

	if (bytes == 1)
		return 0;
	memcpy(table->text + at, string, bytes);
	table->text_bytes += bytes;
	return at;
}

static uint32_t payload_bytes(uint64_t types)
{
	uint32_t sum = 0;

	for (; types & 15; types >>= 4) {
		unsigned bytes = format_type_bytes(types & 15);

		if (bytes == 0)
			return TABLE_VARIABLE;
		sum += bytes;
	}
	return sum;
}

static int add_entry(struct table *table, struct wire_event entry, const char *name, const char *format,
		     const char *file, const char *refused_file)
{
	size_t text = strlen(name) + strlen(format) + strlen(file) + strlen(refused_file) + 4;
	int error = reserve(table, 1, (uint32_t)text + 1);

	if (error)
		return error;
	if (table->text_bytes == 0)
		table->text[table->text_bytes++] = 0;
	entry.name = add_text(table, name);
	entry.format = add_text(table, format);
	entry.file = add_text(table, file);
	entry.refused_file = add_text(table, refused_file);
	table->entries[table->count] = entry;
	table->payload_bytes[table->count++] = payload_bytes(entry.types);
	return 0;
}

int table_init_names(struct table *table)
{
	static const uint64_t process = WIRE_U32 | WIRE_U32 << 4 | WIRE_STR << 8 | WIRE_STR << 12 |
					(uint64_t)WIRE_U64 << 16 | (uint64_t)WIRE_U64 << 20;
	static const uint64_t thread = WIRE_U32 | WIRE_STR << 4 | WIRE_U64 << 8 | WIRE_U64 << 12;
	int error;

	static_assert(WIRE_NAME_PROCESS == 1 && WIRE_NAME_THREAD == 2, "entry n describes id n + 1");
	*table = (struct table){ 0 };
	error = add_entry(table, (struct wire_event){ .types = process }, "burin.process",
			  "pid=%u parent=%u exe=%s command=%s since=%llu gone=%llu", "", "");
	return error ? error
		     : add_entry(table, (struct wire_event){ .types = thread }, "burin.thread",
				 "pid=%u name=%s since=%llu gone=%llu", "", "");
}

void table_free(struct table *table)
{
	free(table->entries);
	free(table->payload_bytes);
	free(table->text);
	*table = (struct table){ 0 };
}

bool table_has_grown(const struct table *table, const struct session *session)
{
	return session_event_count(session) > table->count;
}

/* Copy a string that somebody may be changing; false if it does not end within `room` or lies outside. */
static bool copy_text(const struct session *session, uint32_t offset, char *out, size_t room)
{
	uint64_t area = session->geometry.text_bytes;

	for (size_t n = 0; n < room && offset + n < area; n++) {
		out[n] = ((const volatile char *)session->text)[offset + n];
		if (out[n] == 0)
			return true;
	}
	out[0] = 0;
	return false;
}

static bool name_holds(const char *name, unsigned kind)
{
	const char *dot = strrchr(name, '.');
	size_t length = strlen(name);

	if (length == 0 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-") != length)
		return false;
	if (kind == WIRE_KIND_BEGIN)
		return dot && strcmp(dot, ".begin") == 0;
	if (kind == WIRE_KIND_END)
		return dot && strcmp(dot, ".end") == 0;
	return kind < WIRE_KINDS;
}

/* A name is there once; a second one is a table that somebody has scribbled upon. */
static bool is_taken(const struct table *table, const char *name)
{
	for (uint32_t n = 0; n < table->count; n++)
		if (strcmp(table_text(table, table->entries[n].name), name) == 0)
			return true;
	return false;
}

static int copy_entry(struct table *table, const struct session *session, uint32_t n)
{
	char name[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1], file[WIRE_FILE_MAX + 1],
		refused[WIRE_FILE_MAX + 1];
	struct wire_event entry;
	struct format parsed;

	memcpy(&entry, &session->entries[n], sizeof(entry));
	if (copy_text(session, entry.name, name, sizeof(name)) &&
	    copy_text(session, entry.format, format, sizeof(format)) &&
	    copy_text(session, entry.file, file, sizeof(file)) &&
	    copy_text(session, entry.refused_file, refused, sizeof(refused)) &&
	    name_holds(name, entry.kind) && !is_taken(table, name) &&
	    format_parse(format, entry.types, &parsed, NULL) == 0)
		return add_entry(table, entry, name, format, file, refused);
	snprintf(name, sizeof(name), "damaged.%u", n + 1);
	return add_entry(table, (struct wire_event){ 0 }, name, "", "", "");
}

static int copy_refusals(struct table *table, const struct session *session, uint32_t n)
{
	char file[WIRE_FILE_MAX + 1];
	struct wire_event entry;

	memcpy(&entry, &session->entries[n], sizeof(entry));
	if (table->entries[n].types != entry.types || table->entries[n].refused >= entry.refused ||
	    !copy_text(session, entry.refused_file, file, sizeof(file)))
		return 0;
	if (strcmp(table_text(table, table->entries[n].refused_file), file) != 0) {
		int error = reserve(table, 0, sizeof(file));

		if (error)
			return error;
		table->entries[n].refused_file = add_text(table, file);
	}
	table->entries[n].refused = entry.refused;
	table->entries[n].refused_line = entry.refused_line;
	return 0;
}

int table_update(struct table *table, const struct session *session)
{
	const uint32_t known = table->count, count = session_event_count(session);
	int error = 0;

	table->context_bytes = wire_context_bytes(session->geometry.context);
	for (uint32_t n = 0; !error && n < count; n++)
		error = n < known ? copy_refusals(table, session, n) : copy_entry(table, session, n);
	return error;
}

/* The bytes that one argument of variable size takes, 0 if it does not end within `left`. */
static uint32_t variable_bytes(unsigned type, const char *at, uint32_t left)
{
	uint16_t count;
	const char *end;

	if (type == WIRE_STR) {
		end = memchr(at, 0, left);
		return end ? (uint32_t)(end - at) + 1 : 0;
	}
	if (type != WIRE_BYTES || left < 2)
		return 0;
	memcpy(&count, at, 2);
	return count <= left - 2 ? count + 2u : 0;
}

bool table_payload_fits(const struct table *table, uint32_t id, const char *payload, uint32_t bytes)
{
	uint32_t at = 0;

	if (id == 0 || id > table->count)
		return false;
	if (table->payload_bytes[id - 1] != TABLE_VARIABLE)
		return bytes == table->payload_bytes[id - 1];
	for (uint64_t types = table->entries[id - 1].types; types & 15; types >>= 4) {
		uint32_t size = format_type_bytes(types & 15);

		if (size == 0)
			size = variable_bytes(types & 15, payload + at, bytes - at);
		if (size == 0 || size > bytes - at)
			return false;
		at += size;
	}
	return at == bytes;
}
