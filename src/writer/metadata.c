/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * metadata and .burin/events; see metadata.h.
 *
 * The metadata are TSDL, the language of CTF 1.8 (diamon.org/ctf, version 1.8.3), and describe what the files
 * contain byte by byte: the packet's header and context are struct wire_packet, the event's header struct
 * wire_compact or wire_extended. Both streams have the same; only the context of records differs.
 *
 * Both files are replaced as a whole, and only if they have changed. Their readers come at any time. The
 * table of events goes first, which Burin's readers need; metadata are for others.
 *
 * Formats are those that event_table.c has checked, so names are letters and digits. A damaged entry has no
 * format and no fields: other readers see an event that never occurs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "wire/wire_format.h"
#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "base/uuid.h"
#include "writer/metadata.h"
#include "file/write.h"
#include "wire/wire_context.h"
#include "wire/wire_enum.h"

/* CTF 1.8 readers require these. The fields are those of struct wire_packet, wire_compact and wire_extended. */
static const char types_text[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;\n";

static const char clock_types_text[] =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.burin.value; } := clock64_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; map = clock.burin.value; } := "
	"header_clock32_t;\n"
	"typealias integer { size = 64; align = 32; signed = false; map = clock.burin.value; } := "
	"header_clock64_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; } := header_uint32_t;\n";

/*
 * The alignment, in bits, hides the private part of struct wire_packet. cpu_id includes the four zero bytes behind it and
 * so has 64 bits. The context then ends where the records begin, and readers see when a packet has no records.
 */
static const char packet_context_text[] = "	packet.context := struct {\n"
					  "		clock64_t timestamp_begin;\n"
					  "		clock64_t timestamp_end;\n"
					  "		uint64_t content_size;\n"
					  "		uint64_t packet_size;\n"
					  "		uint64_t packet_seq_num;\n"
					  "		uint64_t events_discarded;\n"
					  "		uint64_t cpu_id;\n"
					  "	} align(1024);\n";

static const char event_header_text[] =
	"	event.header := struct {\n"
	"		enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"		variant <id> {\n"
	"			struct { header_clock32_t timestamp; } compact;\n"
	"			struct { header_uint32_t id; header_clock64_t timestamp; } extended;\n"
	"		} v;\n"
	"	} align(64);\n";

/* The fields between a record's header and its payload. */
static void print_event_context(FILE *out, uint32_t context)
{
	fprintf(out, "	event.context := struct { uint32_t vtid;%s%s };\n",
		context & WIRE_CONTEXT_CORRELATION ? " uint64_t correlation;" : "",
		context & WIRE_CONTEXT_DEPTH ? " uint32_t depth;" : "");
}

/* The declaration of each type. Integers not shown in base 10 need bits and sign. */
static const struct {
	const char *name;
	unsigned bits;
	bool is_signed;
} declarations[16] = {
	[WIRE_BOOL] = { "uint8_t", 8, false },	[WIRE_I8] = { "int8_t", 8, true },
	[WIRE_I16] = { "int16_t", 16, true },	[WIRE_I32] = { "int32_t", 32, true },
	[WIRE_I64] = { "int64_t", 64, true },	[WIRE_U8] = { "uint8_t", 8, false },
	[WIRE_U16] = { "uint16_t", 16, false }, [WIRE_U32] = { "uint32_t", 32, false },
	[WIRE_U64] = { "uint64_t", 64, false }, [WIRE_F32] = { "float", 0, false },
	[WIRE_F64] = { "double", 0, false },	[WIRE_PTR] = { "uint64_t", 64, false },
	[WIRE_STR] = { "string", 0, false },	[WIRE_CHAR] = { "int8_t", 8, true },
};

static unsigned type_base(const struct format_field *field)
{
	if (field->type == WIRE_PTR || field->conversion == 'x' || field->conversion == 'X')
		return 16;
	return field->conversion == 'o' ? 8 : 10;
}

/* The enums that are declared so far, each once: many fields of many events may have the same one, with all its labels. */
struct declared {
	struct declared_enum {
		uint32_t labels; /* where they begin, in the table's text */
		unsigned type;
	} * all;
	size_t count, room;
	struct hash_table numbers;
};

/* The number of an enum's declaration; 0: it has none. */
static uint32_t find_declared(const struct declared *declared, uint32_t labels, unsigned type)
{
	const uint64_t hash = hash_pair(labels, type);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&declared->numbers, hash, &at));)
		if (declared->all[number - 1].labels == labels && declared->all[number - 1].type == type)
			return number;
	return 0;
}

/* Declare an enum of these labels. Return: whether its integer can have any of them: readers refuse an enum without one. */
static bool print_enum(FILE *out, const char *at, unsigned type, uint32_t number)
{
	struct wire_label label;
	unsigned labels = 0;

	while (wire_enum_next(&at, &label)) {
		if (!wire_enum_fits(&label, declarations[type].bits, declarations[type].is_signed))
			continue;
		if (labels++ == 0)
			fprintf(out, "typealias enum : %s {", declarations[type].name);
		fprintf(out, "%s \"%.*s\" = %" PRId64, labels > 1 ? "," : "", (int)label.bytes, label.text,
			label.value);
	}
	if (labels)
		fprintf(out, " } := burin_enum_%u;\n", number);
	return labels > 0;
}

static unsigned metadata_type_of(const struct format_field *field)
{
	return field->type == WIRE_BYTES ? WIRE_U8 : field->type == WIRE_ARRAY ? field->element : field->type;
}

/* Declare the enum of a field, if it has one. *@number: its declaration; 0: none. Return: 0 or -ENOMEM. */
static int declare_enum(FILE *out, struct declared *declared, const struct event_table *table,
			const struct wire_event *entry, const struct format_field *field, uint32_t *number)
{
	const char *name = table_text(table, entry->format) + field->spec + field->spec_bytes + 1;
	const char *labels = field->enum_bytes ? wire_enum_find(table_text(table, entry->enums), name,
								field->enum_bytes - 2u)
					       : NULL;
	const uint32_t at = labels ? (uint32_t)(labels - table->text) : 0;
	const unsigned type = metadata_type_of(field);

	*number = labels ? find_declared(declared, at, type) : 0;
	if (!labels || *number)
		return 0;
	if (!array_reserve(declared->all, declared->room, declared->count + 1) ||
	    !hash_table_reserve(&declared->numbers))
		return -ENOMEM;
	if (!print_enum(out, labels, type, (uint32_t)declared->count + 1))
		return 0;
	declared->all[declared->count++] = (struct declared_enum){ at, type };
	*number = (uint32_t)declared->count;
	hash_table_add(&declared->numbers, hash_pair(at, type), *number);
	return 0;
}

static void print_type(FILE *out, const struct format_field *field, unsigned type)
{
	unsigned base = type_base(field), bits = declarations[type].bits;

	if (base == 10 || bits == 0)
		fprintf(out, " %s", declarations[type].name);
	else
		fprintf(out, " integer { size = %u; align = 8; signed = %s; base = %u; }", bits,
			declarations[type].is_signed ? "true" : "false", base);
}

/* Every field's name gets an underscore in front, so that none is a keyword. Readers remove it. @number: its enum */
static void print_field(FILE *out, const struct format_field *field, uint32_t number)
{
	const bool counted = field->type == WIRE_BYTES || field->type == WIRE_ARRAY;

	if (counted)
		fprintf(out, " uint16_t __%s_length;", field->name);
	if (number)
		fprintf(out, " burin_enum_%u", number);
	else
		print_type(out, field, metadata_type_of(field));
	fprintf(out, " _%s", field->name);
	if (counted)
		fprintf(out, "[__%s_length]", field->name);
	fputc(';', out);
}

static int metadata_print_event(FILE *out, struct declared *declared, const struct event_table *table,
				uint32_t n, unsigned stream_id)
{
	const struct wire_event *entry = &table->entries[n];
	struct format format = { 0 };
	uint32_t numbers[WIRE_ARGS_MAX];
	int error = 0;

	format_parse(table_text(table, entry->format), entry->types, &format, NULL);
	for (unsigned f = 0; !error && f < format.count; f++)
		error = declare_enum(out, declared, table, entry, &format.fields[f], &numbers[f]);
	if (error)
		return error;
	fprintf(out,
		"event {\n	id = %u;\n	name = \"%s\";\n	stream_id = %u;\n	"
		"fields := struct {",
		n + 1, table_text(table, entry->name), stream_id);
	for (unsigned f = 0; f < format.count; f++)
		print_field(out, &format.fields[f], numbers[f]);
	fprintf(out, " };\n};\n");
	return 0;
}

static int metadata_print_events(FILE *out, const struct event_table *table, unsigned stream_id)
{
	struct declared declared = { .count = 0 };
	int error = 0;

	for (uint32_t n = 0; !error && n < table->count; n++)
		error = metadata_print_event(out, &declared, table, n, stream_id);
	free(declared.all);
	hash_table_free(&declared.numbers);
	return error;
}

static void print_clock(FILE *out, const struct session *session, struct trace_clock clock)
{
	static const char *const descriptions[WIRE_CLOCKS] = { [WIRE_CLOCK_TSC] = "time stamp counter",
							       [WIRE_CLOCK_MONOTONIC] = "CLOCK_MONOTONIC",
							       [WIRE_CLOCK_GUEST] =
								       "instructions of a guest" };
	int64_t seconds = clock.offset_ns / 1000000000, rest = clock.offset_ns % 1000000000;
	char boot_id[UUID_TEXT];

	/* CTF adds both parts, and `offset` has no sign. */
	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	uuid_text(session->geometry.boot_id, boot_id);
	fprintf(out,
		"clock {\n	name = \"burin\";\n	uuid = \"%s\";\n	description = \"%s\";\n	freq "
		"= %llu;\n"
		"	precision = 0;\n	offset_s = %lld;\n	offset = %llu;\n	absolute = "
		"true;\n};\n",
		boot_id, descriptions[session->geometry.clock], (unsigned long long)clock.hz,
		(long long)seconds, (unsigned long long)((unsigned __int128)rest * clock.hz / 1000000000));
}

/* A string of TSDL. The machine's owner chooses the name of the host, which may have any bytes. */
static void print_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(out, "\\%03o", (unsigned char)*text);
		else
			fputc(*text, out);
	fputc('"', out);
}

static int print_metadata(FILE *out, const struct session *session, const struct event_table *table,
			  struct trace_clock clock)
{
	char uuid[UUID_TEXT];
	struct utsname host;
	struct event_table names;
	int error;

	uuid_text(session->geometry.uuid, uuid);
	fprintf(out, "/* CTF 1.8 */\n%s", types_text);
	fprintf(out,
		"trace {\n	major = 1;\n	minor = 8;\n	uuid = \"%s\";\n	byte_order = le;\n"
		"	packet.header := struct {\n		uint32_t magic;\n		uint8_t "
		"uuid[16];\n"
		"		uint32_t stream_id;\n		uint64_t stream_instance_id;\n	};\n};\n",
		uuid);
	uname(&host);
	fprintf(out, "env {\n	domain = \"ust\";\n	tracer_name = \"burin\";\n	tracer_major = 0;\n"
		     "	tracer_minor = 1;\n	hostname = ");
	print_string(out, host.nodename);
	fputs(";\n};\n", out);
	print_clock(out, session, clock);
	fputs(clock_types_text, out);
	for (unsigned id = 0; id < 2; id++) {
		fprintf(out, "stream {\n	id = %u;\n%s%s", id, packet_context_text, event_header_text);
		print_event_context(out, id == WIRE_STREAM_RECORDS ? session->geometry.context : 0);
		fprintf(out, "};\n");
	}
	error = event_table_init_names(&names, true);
	if (!error)
		error = metadata_print_events(out, &names, WIRE_STREAM_NAMES);
	event_table_free(&names);
	return error ? error : metadata_print_events(out, table, WIRE_STREAM_RECORDS);
}

/* Renaming over a file makes some file systems write its data to the disk at once. @last: NULL: always replace it */
static int replace_if_changed(int directory, const char *name, const char *data, size_t bytes, uint64_t *last)
{
	uint64_t hash = hash_begin();
	int error;

	for (size_t n = 0; n < bytes; n++)
		hash = hash_byte(hash, data[n]);
	if (last && *last == hash)
		return 0;
	error = replace_file(directory, name, data, bytes);
	if (!error && last)
		*last = hash;
	return error;
}

static int metadata_write_events(int directory, const struct event_table *table, uint64_t *last)
{
	struct wire_events header = { .magic = WIRE_EVENTS_MAGIC, .count = table->count, .text_bytes = 1 };
	const size_t refused = table->refused ? strlen(table->refused) + 1 : 0;
	size_t entries = table->count * sizeof(struct wire_event), bytes;
	char *data;
	int error;

	if (table->text_bytes)
		header.text_bytes = table->text_bytes;
	if (refused)
		header.refused = header.text_bytes;
	header.text_bytes += (uint32_t)refused;
	bytes = sizeof(header) + entries + header.text_bytes;
	data = calloc(1, bytes);
	if (!data)
		return -ENOMEM;
	memcpy(data, &header, sizeof(header));
	if (entries)
		memcpy(data + sizeof(header), table->entries, entries);
	if (table->text_bytes)
		memcpy(data + sizeof(header) + entries, table->text, table->text_bytes);
	if (refused)
		memcpy(data + sizeof(header) + entries + header.refused, table->refused, refused);
	error = replace_if_changed(directory, ".burin/events", data, bytes, last);
	free(data);
	return error;
}

int metadata_write(int directory, const struct session *session, const struct event_table *table,
		   struct trace_clock clock, struct metadata_written *last)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int error;

	if (!out)
		return -ENOMEM;
	error = print_metadata(out, session, table, clock);
	if (fflush(out) != 0 || ferror(out))
		error = -ENOMEM;
	fclose(out);
	if (!text) /* fclose() makes the text shorter, for which there may be no memory */
		error = -ENOMEM;
	if (!error)
		error = metadata_write_events(directory, table, last ? &last->events : NULL);
	if (!error)
		error = replace_if_changed(directory, "metadata", text, bytes, last ? &last->metadata : NULL);
	free(text);
	return error;
}
