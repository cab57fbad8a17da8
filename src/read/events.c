/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * `.burin/events`: what the ids of records mean (docs/format.md). An entry that cannot be read leaves its id
 * without an event; one whose format makes no sense is still decoded by its types.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/trace.h"
#include "wire/names.h"
#include "wire/record.h"

static const char events_file[] = ".burin/events";

/* The file's parts, as far as they are there. */
struct table {
	struct burin_trace *trace;
	const char *entries;
	const char *text;
	uint32_t text_bytes;
	uint64_t offset; /* of the entry at hand, in the file */
};

static void fault(const struct table *table, const char *reason)
{
	read_fault(table->trace, BURIN_FAULT_EVENTS, events_file, table->offset, "%s", reason);
}

/* A string of the text, or NULL if it is not wholly in it or too long. */
static const char *text_at(const struct table *table, uint32_t offset, size_t longest)
{
	size_t bytes;

	if (offset >= table->text_bytes)
		return NULL;
	bytes = strnlen(table->text + offset, table->text_bytes - offset);
	return bytes < table->text_bytes - offset && bytes <= longest ? table->text + offset : NULL;
}

static bool name_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";

	return *name && !name[strspn(name, letters)];
}

static unsigned count_types(uint64_t types)
{
	unsigned count = 0;

	while (types & 15) {
		count++;
		types >>= 4;
	}
	return types ? UINT32_MAX : count; /* something behind the end: no list of types */
}

/* Fields for a format that cannot be taken apart: the types, under plain names. */
static void plain_fields(uint64_t types, struct format *format)
{
	format->count = count_types(types);
	for (unsigned n = 0; n < format->count; n++) {
		struct format_field *field = &format->fields[n];

		memset(field, 0, sizeof(*field));
		snprintf(field->name, sizeof(field->name), "arg%u", n + 1);
		field->type = types >> 4 * n & 15;
	}
}

/* Where the fields lie, if that is the same in every record. */
static void lay_out(struct read_event *event, const struct format *format)
{
	uint32_t offset = 0;

	for (unsigned n = 0; n < format->count; n++) {
		unsigned bytes = format_type_bytes(format->fields[n].type);

		event->offsets[n] = offset;
		offset += bytes;
		event->variable |= !bytes;
	}
	event->offsets[format->count] = offset;
	event->payload_bytes = offset;
}

static int set_fields(struct read_event *event, uint64_t types, const char **why)
{
	struct format format;

	event->spelled = !format_parse(event->open.format, types, &format, why);
	if (!event->spelled)
		plain_fields(types, &format);
	event->open.fields = format.count;
	event->fields = calloc(format.count ? format.count : 1, sizeof(*event->fields));
	if (!event->fields)
		return -ENOMEM;
	for (unsigned n = 0; n < format.count; n++) {
		event->fields[n].parsed = format.fields[n];
		event->fields[n].open.name = event->fields[n].parsed.name;
		event->fields[n].open.type = format.fields[n].type;
		event->fields[n].open.conversion = format.fields[n].conversion;
	}
	lay_out(event, &format);
	event->known = true;
	return 0;
}

static void check_kind(const struct table *table, const struct burin_event *event)
{
	size_t bytes = strlen(event->name);

	if (event->kind >= WIRE_KINDS)
		fault(table, "kind of the event is unknown");
	else if (event->kind == WIRE_KIND_BEGIN && (bytes < 6 || strcmp(event->name + bytes - 6, ".begin")))
		fault(table, "the name of a begin does not end in .begin");
	else if (event->kind == WIRE_KIND_END && (bytes < 4 || strcmp(event->name + bytes - 4, ".end")))
		fault(table, "the name of an end does not end in .end");
}

static int load_entry(struct table *table, uint32_t id, struct read_event *event)
{
	const char *why = NULL, *name, *format, *file, *refused_file;
	struct wire_event entry;
	int result;

	table->offset = sizeof(struct wire_events) + (uint64_t)(id - 1) * sizeof(entry);
	memcpy(&entry, table->entries + (size_t)(id - 1) * sizeof(entry), sizeof(entry));
	name = text_at(table, entry.name, WIRE_NAME_MAX);
	format = text_at(table, entry.format, WIRE_FORMAT_MAX);
	file = text_at(table, entry.file, WIRE_FILE_MAX);
	refused_file = text_at(table, entry.refused_file, WIRE_FILE_MAX);
	if (!name || !name_valid(name)) {
		fault(table, "the event has no valid name: its records cannot be read");
		return 0;
	}
	if (count_types(entry.types) == UINT32_MAX) {
		fault(table, "the types of the event make no list: its records cannot be read");
		return 0;
	}
	if (!format || !file || !refused_file)
		fault(table, "format or file name of the event lie outside the text or are too long");
	event->open = (struct burin_event){
		.id = id,
		.kind = entry.kind < WIRE_KINDS ? entry.kind : BURIN_KIND_EVENT,
		.name = name,
		.format = format ? format : "",
		.file = file ? file : "",
		.line = entry.line,
		.pid = entry.pid,
		.refused = entry.refused,
		.refused_file = refused_file ? refused_file : "",
		.refused_line = entry.refused_line,
	};
	result = set_fields(event, entry.types, &why);
	if (!result && !event->spelled)
		read_fault(table->trace, BURIN_FAULT_EVENTS, events_file, table->offset,
			   "the format of %s: %s", name, why ? why : "cannot be read");
	event->open.kind = entry.kind;
	check_kind(table, &event->open);
	if (entry.kind >= WIRE_KINDS)
		event->open.kind = BURIN_KIND_EVENT;
	return result;
}

static int load_table(struct burin_trace *trace, const char *data, size_t bytes)
{
	struct table table = { .trace = trace, .entries = data + sizeof(struct wire_events) };
	struct wire_events header;
	size_t count, left;

	if (bytes < sizeof(header)) {
		fault(&table, "shorter than its header");
		return 0;
	}
	memcpy(&header, data, sizeof(header));
	left = bytes - sizeof(header);
	if (header.magic != WIRE_EVENTS_MAGIC || header.count > WIRE_ID_MAX) {
		fault(&table, header.magic == WIRE_EVENTS_MAGIC ? "more events than there are ids"
								: "not an event table");
		return 0;
	}
	if (header.reserved && trace->strict)
		fault(&table, "the reserved word is not 0");
	count = header.count;
	if (count > left / sizeof(struct wire_event)) {
		fault(&table, "the file ends within the entries");
		return 0;
	}
	left -= count * sizeof(struct wire_event);
	table.text = table.entries + count * sizeof(struct wire_event);
	table.text_bytes = header.text_bytes < left ? header.text_bytes : (uint32_t)left;
	if (header.text_bytes != left)
		fault(&table, header.text_bytes < left ? "the file goes on behind its text"
						       : "the file ends within its text");
	if (table.text_bytes && *table.text && trace->strict)
		fault(&table, "the text does not begin with a NUL");

	trace->events = calloc(count ? count : 1, sizeof(*trace->events));
	if (!trace->events)
		return -ENOMEM;
	trace->event_count = (unsigned)count;
	for (uint32_t id = 1; id <= count; id++) {
		if (load_entry(&table, id, &trace->events[id - 1]))
			return -ENOMEM;
	}
	return 0;
}

int read_events_load(struct burin_trace *trace)
{
	/* The largest table there can be: every entry with a name, a format and two file names of its own. */
	const uint64_t limit = sizeof(struct wire_events) +
			       (uint64_t)WIRE_ID_MAX * (sizeof(struct wire_event) + WIRE_NAME_MAX +
							WIRE_FORMAT_MAX + 2 * WIRE_FILE_MAX + 4) +
			       1;
	size_t bytes = 0;
	int result = read_directory_load(trace, events_file, limit, &trace->event_text, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result) {
		read_fault_file(trace, BURIN_FAULT_EVENTS, events_file, result);
		return 0;
	}
	return load_table(trace, trace->event_text, bytes);
}

/* The events of the names stream are the same in every trace. */
void read_name_events_make(struct burin_trace *trace)
{
	static const struct {
		const char *name, *fields[6];
		uint8_t types[6];
	} known[] = {
		[WIRE_NAME_PROCESS - 1] = { "burin.process",
					    { "pid", "parent", "exe", "command", "since", "gone" },
					    { WIRE_U32, WIRE_U32, WIRE_STR, WIRE_STR, WIRE_U64, WIRE_U64 } },
		[WIRE_NAME_THREAD - 1] = { "burin.thread",
					   { "pid", "name", "since", "gone" },
					   { WIRE_U32, WIRE_STR, WIRE_U64, WIRE_U64 } },
	};

	for (unsigned n = 0; n < 2; n++) {
		struct read_event *event = &trace->name_events[n];
		struct format format = { .count = 0 };

		for (; format.count < 6 && known[n].types[format.count]; format.count++) {
			struct format_field *field = &format.fields[format.count];

			strcpy(field->name, known[n].fields[format.count]);
			field->type = known[n].types[format.count];
		}
		event->fields = calloc(format.count, sizeof(*event->fields));
		if (!event->fields)
			return; /* names are then unknown */
		event->open = (struct burin_event){ .id = n + 1,
						    .name = known[n].name,
						    .format = "",
						    .file = "",
						    .refused_file = "",
						    .fields = format.count };
		for (unsigned field = 0; field < format.count; field++) {
			event->fields[field].parsed = format.fields[field];
			event->fields[field].open.name = event->fields[field].parsed.name;
			event->fields[field].open.type = format.fields[field].type;
			event->fields[field].open.conversion =
				format.fields[field].type == WIRE_STR ? 's' : 'u';
		}
		lay_out(event, &format);
		event->known = true;
	}
}

void read_events_free(struct burin_trace *trace)
{
	for (unsigned n = 0; n < trace->event_count; n++)
		free(trace->events[n].fields);
	for (unsigned n = 0; n < 2; n++)
		free(trace->name_events[n].fields);
	free(trace->events);
	free(trace->event_text);
}

unsigned burin_trace_events(const struct burin_trace *trace)
{
	return trace->event_count;
}

const struct burin_event *burin_trace_event(const struct burin_trace *trace, uint32_t id)
{
	const struct read_event *event = read_event_find(trace, WIRE_STREAM_RECORDS, id);

	return event ? &event->open : NULL;
}

const struct burin_field *burin_event_field(const struct burin_event *event, unsigned n)
{
	return n < event->fields ? &read_event_of(event)->fields[n].open : NULL;
}

int burin_event_find(const struct burin_event *event, const char *name)
{
	for (unsigned n = 0; n < event->fields; n++) {
		if (!strcmp(read_event_of(event)->fields[n].open.name, name))
			return (int)n;
	}
	return -ENOENT;
}
