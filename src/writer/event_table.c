/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A private copy of the event table; see event_table.h.
 *
 * Programs write the session's table, and one of them may write anything. So each entry is copied first and
 * checked on the copy: its texts end, its name and format are valid, its name is new. From then on this copy
 * alone says how a record of the event looks, for validation and for the metadata, whatever the session has
 * become since.
 *
 * Ids are positions. An entry that does not pass keeps its place, as "damaged.N", and no payload fits it: so
 * its records are damage, and all others keep their ids.
 *
 * The work is bounded by the session's size. A forged table could share one long text among all entries; the
 * copies are limited to the text that the session has (has_room()), and equal enums, which valid tables do
 * share, are copied once.
 *
 * Hashes of names and enums make an update linear. Refusals are read again with each update, since they go
 * on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "base/text.h"
#include "writer/event_table.h"
#include "wire/wire_call.h"
#include "wire/wire_enum.h"
#include "wire/wire_format.h"
#include "wire/wire_context.h"
#include "wire/wire_names.h"

static const uint64_t call_types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 | WIRE_U16 << 12;

static int event_table_reserve(struct event_table *table, size_t entries, size_t text_bytes)
{
	const bool done =
		array_reserve(table->entries, table->room, table->count + entries) &&
		array_reserve(table->payload_bytes, table->payload_room, table->count + entries) &&
		array_reserve(table->calls, table->calls_room, table->count + entries) &&
		array_reserve(table->text, table->text_room, table->text_bytes + text_bytes) &&
		(!entries || (hash_table_reserve(&table->names) && hash_table_reserve(&table->enums)));

	return done ? 0 : -ENOMEM;
}

static uint32_t event_table_add_text(struct event_table *table, const char *string)
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
	struct format_type type;
	uint32_t sum = 0;

	while (format_type_next(&types, &type)) {
		unsigned bytes = format_type_bytes(type.type);

		if (bytes == 0)
			return TABLE_VARIABLE;
		sum += bytes;
	}
	return sum;
}

/* Whether an event begins with the fields of a call. */
static bool has_call(uint64_t types, const char *format)
{
	const size_t bytes = sizeof(WIRE_CALL_FORMAT) - 1;

	return (types & 0xffff) == call_types && strncmp(format, WIRE_CALL_FORMAT, bytes) == 0 &&
	       (!format[bytes] || format[bytes] == ' ');
}

/* Where the text of enums is, which many events may share; 0: it is not there yet, or empty. */
static uint32_t find_enums(const struct event_table *table, const char *enums)
{
	const uint64_t hash = hash_text(enums);
	uint32_t before;

	for (size_t at = 0; (before = hash_table_next(&table->enums, hash, &at));)
		if (strcmp(table_text(table, table->entries[before - 1].enums), enums) == 0)
			return table->entries[before - 1].enums;
	return 0;
}

/* @number: of the entry that is being added */
static uint32_t event_table_add_enums(struct event_table *table, const char *enums, uint32_t number)
{
	const uint32_t before = *enums ? find_enums(table, enums) : 0;

	if (!*enums || before)
		return before;
	hash_table_add(&table->enums, hash_text(enums), number);
	return event_table_add_text(table, enums);
}

static int event_table_add_entry(struct event_table *table, struct wire_event entry, const char *name,
				 const char *format, const char *file, const char *refused_file,
				 const char *enums)
{
	size_t text = strlen(name) + strlen(format) + strlen(file) + strlen(refused_file) + strlen(enums) + 5;
	int error = event_table_reserve(table, 1, text + 1);

	if (error)
		return error;
	/* Offset 0 is the empty text, which many entries have. */
	if (table->text_bytes == 0)
		table->text[table->text_bytes++] = 0;
	hash_table_add(&table->names, hash_text(name), table->count + 1);
	entry.name = event_table_add_text(table, name);
	entry.format = event_table_add_text(table, format);
	entry.file = event_table_add_text(table, file);
	entry.refused_file = event_table_add_text(table, refused_file);
	entry.enums = event_table_add_enums(table, enums, table->count + 1);
	entry.reserved = 0;
	table->entries[table->count] = entry;
	table->calls[table->count] = has_call(entry.types, format) &&
				     (strcmp(name, WIRE_CALL_EVENT) == 0 ||
				      strncmp(name, WIRE_CALL_PREFIX, sizeof(WIRE_CALL_PREFIX) - 1) == 0);
	table->payload_bytes[table->count++] = payload_bytes(entry.types);
	return 0;
}

int event_table_init_names(struct event_table *table, bool with_changes)
{
	/* The types of the formats below, 4 bits each (wire/wire_event.h). */
	static const uint64_t process = WIRE_U32 | WIRE_U32 << 4 | WIRE_STR << 8 | WIRE_STR << 12 |
					(uint64_t)WIRE_U64 << 16 | (uint64_t)WIRE_U64 << 20;
	static const uint64_t thread = WIRE_U32 | WIRE_STR << 4 | WIRE_U64 << 8 | WIRE_U64 << 12;
	static const uint64_t change = WIRE_U64 | WIRE_STR << 4 | WIRE_U32 << 8 | WIRE_U32 << 12 |
				       (uint64_t)WIRE_STR << 16 | (uint64_t)WIRE_STR << 20 |
				       (uint64_t)WIRE_STR << 24 | (uint64_t)WIRE_U64 << 28 |
				       (uint64_t)WIRE_U32 << 32 | (uint64_t)WIRE_U32 << 36 |
				       (uint64_t)WIRE_U64 << 40 | (uint64_t)WIRE_STR << 44;
	int error;

	static_assert(WIRE_NAME_PROCESS == 1 && WIRE_NAME_THREAD == 2 && WIRE_NAME_CHANGE == 3,
		      "entry n describes id n + 1");
	*table = (struct event_table){ 0 };
	error = event_table_add_entry(table, (struct wire_event){ .types = process }, "burin.process",
				      "pid=%u parent=%u exe=%s command=%s since=%llu gone=%llu", "", "", "");
	if (!error)
		error = event_table_add_entry(table, (struct wire_event){ .types = thread }, "burin.thread",
					      "pid=%u name=%s since=%llu gone=%llu", "", "", "");
	if (!error && with_changes)
		error = event_table_add_entry(
			table, (struct wire_event){ .types = change }, "burin.change",
			"number=%llu kind=%s pid=%u uid=%u program=%s command=%s text=%s value=%llu "
			"first=%u last=%u dropped=%llu events=%s",
			"", "", "");
	return error;
}

int event_table_init_calls(struct event_table *table)
{
	*table = (struct event_table){ 0 };
	return event_table_add_entry(table, (struct wire_event){ .types = call_types }, WIRE_CALL_EVENT,
				     WIRE_CALL_FORMAT, "", "", "");
}

void event_table_free(struct event_table *table)
{
	free(table->entries);
	free(table->payload_bytes);
	free(table->calls);
	free(table->text);
	hash_table_free(&table->names);
	hash_table_free(&table->enums);
	free(table->refused);
	*table = (struct event_table){ 0 };
}

bool event_table_has_grown(const struct event_table *table, const struct session *session)
{
	return session_event_count(session) > table->count;
}

static bool name_holds(const char *name, unsigned kind)
{
	const char *dot = strrchr(name, '.');
	size_t length = strlen(name);

	if (length == 0 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-") != length)
		return false;
	if (kind == WIRE_KIND_BEGIN || kind == WIRE_KIND_SPAN_BEGIN)
		return dot && strcmp(dot, ".begin") == 0;
	if (kind == WIRE_KIND_END || kind == WIRE_KIND_SPAN_END)
		return dot && strcmp(dot, ".end") == 0;
	return kind < WIRE_KINDS;
}

/* A valid table has each name once: a second one means that the table was overwritten. */
static bool is_taken(const struct event_table *table, const char *name)
{
	const uint64_t hash = hash_text(name);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&table->names, hash, &at));)
		if (strcmp(table_text(table, table->entries[number - 1].name), name) == 0)
			return true;
	return false;
}

/* Readers know calls by this name. */
static bool name_fits(const char *name, uint64_t types, const char *format)
{
	return strcmp(name, WIRE_CALL_EVENT) != 0 ||
	       (types == call_types && strcmp(format, WIRE_CALL_FORMAT) == 0);
}

/*
 * Whether texts fit. Entries of a damaged table may share their texts, so that the copies would need far more memory than
 * the session has; those of a valid one share their enums only.
 */
static bool has_room(const struct event_table *table, const struct session *session, size_t bytes)
{
	return table->text_bytes + bytes <= session->geometry.text_bytes;
}

/* The bytes that event_table_add_text() needs. */
static size_t text_bytes(const char *string)
{
	return *string ? strlen(string) + 1 : 0;
}

static bool texts_fit(const struct event_table *table, const struct session *session, const char *name,
		      const char *format, const char *file, const char *refused, const char *enums)
{
	const size_t bytes = text_bytes(name) + text_bytes(format) + text_bytes(file) + text_bytes(refused);

	return has_room(table, session, bytes + (find_enums(table, enums) ? 0 : text_bytes(enums)));
}

/* A program may have an event of such a name. */
static void name_damaged(const struct event_table *table, uint32_t n, char name[WIRE_NAME_MAX + 1])
{
	snprintf(name, WIRE_NAME_MAX + 1, "damaged.%u", n + 1);
	for (unsigned again = 1; is_taken(table, name); again++)
		snprintf(name, WIRE_NAME_MAX + 1, "damaged.%u.%u", n + 1, again);
}

static int add_damaged(struct event_table *table, uint32_t n)
{
	char name[WIRE_NAME_MAX + 1];
	int error;

	name_damaged(table, n, name);
	error = event_table_add_entry(table, (struct wire_event){ 0 }, name, "", "", "", "");
	if (!error)
		table->payload_bytes[table->count - 1] = TABLE_NO_PAYLOAD;
	return error;
}

static int event_table_copy_entry(struct event_table *table, const struct session *session, uint32_t n)
{
	char name[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1], file[WIRE_FILE_MAX + 1],
		refused[WIRE_FILE_MAX + 1], enums[WIRE_ENUMS_MAX + 1];
	struct wire_event entry;
	struct format parsed;

	memcpy(&entry, &session->entries[n], sizeof(entry));
	if (session_event_copy(session, entry.name, name, sizeof(name)) &&
	    session_event_copy(session, entry.format, format, sizeof(format)) &&
	    session_event_copy(session, entry.file, file, sizeof(file)) &&
	    session_event_copy(session, entry.refused_file, refused, sizeof(refused)) &&
	    session_event_copy(session, entry.enums, enums, sizeof(enums)) && wire_enum_valid(enums) &&
	    name_holds(name, entry.kind) && !is_taken(table, name) && name_fits(name, entry.types, format) &&
	    format_parse(format, entry.types, &parsed, NULL) == 0 &&
	    (!wire_has_span_id(entry.kind) || format_has_span_id(&parsed)) &&
	    texts_fit(table, session, name, format, file, refused, enums))
		return event_table_add_entry(table, entry, name, format, file, refused, enums);
	return add_damaged(table, n);
}

static int copy_refusals(struct event_table *table, const struct session *session, uint32_t n)
{
	char file[WIRE_FILE_MAX + 1];
	struct wire_event entry;

	memcpy(&entry, &session->entries[n], sizeof(entry));
	if (table->entries[n].types != entry.types || table->entries[n].refused >= entry.refused ||
	    !session_event_copy(session, entry.refused_file, file, sizeof(file)) ||
	    !has_room(table, session, text_bytes(file)))
		return 0;
	if (strcmp(table_text(table, table->entries[n].refused_file), file) != 0) {
		int error = event_table_reserve(table, 0, sizeof(file));

		if (error)
			return error;
		table->entries[n].refused_file = event_table_add_text(table, file);
	}
	table->entries[n].refused = entry.refused;
	table->entries[n].refused_line = entry.refused_line;
	return 0;
}

/* Copy a text, which the program may change, and mask the characters that separate fields and lines. */
static const char *copy_field(const struct session *session, uint32_t offset, char out[WIRE_FILE_MAX + 1])
{
	if (!session_event_copy(session, offset, out, WIRE_FILE_MAX + 1))
		return "?";
	return text_mask(out);
}

/* "NAME FILE LINE TIMES WHY", separated by tabs. */
static void print_refusal(FILE *out, const struct session *session, const struct wire_refusal *refusal)
{
	char name[WIRE_FILE_MAX + 1], file[WIRE_FILE_MAX + 1], why[WIRE_FILE_MAX + 1];

	fprintf(out, "%s\t%s\t%u\t%u\t%s\n", copy_field(session, refusal->name, name),
		copy_field(session, refusal->file, file), refusal->line, refusal->times,
		copy_field(session, refusal->why, why));
}

static int event_table_copy_refused(struct event_table *table, const struct session *session)
{
	const struct wire_session *shared = session->shared;
	const uint32_t count = shared->refusals;
	size_t bytes;
	FILE *out;

	free(table->refused);
	table->refused = NULL;
	out = count ? open_memstream(&table->refused, &bytes) : NULL;
	if (!out)
		return count ? -ENOMEM : 0;
	for (uint32_t n = 0; n < count && n < WIRE_REFUSALS_MAX; n++) {
		const struct wire_refusal refusal = shared->refused[n];

		print_refusal(out, session, &refusal);
	}
	if (count > WIRE_REFUSALS_MAX)
		fprintf(out, "\t\t0\t%u\tmore, which are not listed\n", count - WIRE_REFUSALS_MAX);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

int event_table_update(struct event_table *table, const struct session *session)
{
	const uint32_t known = table->count, count = session_event_count(session);
	int error = 0;

	table->context_bytes = wire_context_bytes(session->geometry.context);
	for (uint32_t n = 0; !error && n < count; n++)
		error = n < known ? copy_refusals(table, session, n)
				  : event_table_copy_entry(table, session, n);
	return error ? error : event_table_copy_refused(table, session);
}

bool event_table_payload_fits(const struct event_table *table, uint32_t id, const char *payload,
			      uint32_t bytes)
{
	struct format_type type;
	uint32_t at = 0;
	uint64_t types;

	if (id == 0 || id > table->count)
		return false;
	if (table->payload_bytes[id - 1] != TABLE_VARIABLE)
		return bytes == table->payload_bytes[id - 1];
	for (types = table->entries[id - 1].types; format_type_next(&types, &type);) {
		uint32_t size = format_argument_bytes(type, payload + at, bytes - at);

		if (size == 0)
			return false;
		at += size;
	}
	return at == bytes;
}

bool event_table_has_function(const struct event_table *table, uint32_t id, const char *payload)
{
	return !table->functions || !table->calls[id - 1] || number_load32(payload) - 1 < *table->functions;
}
