/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * `.burin/events`: the events that the ids of records refer to (docs/format.md). If an entry cannot be read, its id
 * has no event. If its format cannot be parsed, records are still decoded by the types.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/trace.h"
#include "wire/wire_enum.h"
#include "wire/wire_names.h"
#include "wire/wire_record.h"

static const char events_file[] = ".burin/events";

enum {
	REFUSED_MAX = 1 << 17, /* bytes of the list of refused events */
};

/* The parts of the file that exist. */
struct table {
	struct burin_trace *trace;
	const char *entries;
	size_t entry_bytes; /* older traces have shorter ones */
	const char *text;
	const char *file;
	uint32_t text_bytes;
	uint64_t offset; /* of the current entry, in the file */
};

static void trace_events_fault(const struct table *table, const char *reason)
{
	read_fault(table->trace, BURIN_FAULT_EVENTS, table->file, table->offset, "%s", reason);
}

/* A string of the text; NULL: it is too long, or not within the text. */
static const char *trace_events_text_at(const struct table *table, uint32_t offset, size_t longest)
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

/* Fields for a format that cannot be parsed: their types, and names such as arg1. */
static void fields_by_type(uint64_t types, struct format *format)
{
	struct format_type type;

	for (format->count = 0; format_type_next(&types, &type); format->count++) {
		struct format_field *field = &format->fields[format->count];

		memset(field, 0, sizeof(*field));
		snprintf(field->name, sizeof(field->name), "arg%u", format->count + 1);
		field->type = type.type;
		field->element = type.element;
	}
}

/* Sets the offsets of the fields, which are the same in every record unless one is of variable size. */
static void trace_events_lay_out(struct read_event *event, const struct format *format)
{
	uint32_t offset = 0;

	for (unsigned n = 0; n < format->count; n++) {
		unsigned bytes = format_type_bytes(format->fields[n].type);

		event->offsets[n] = offset;
		offset += bytes;
		event->variable |= !bytes;
		event->fixed += !event->variable;
	}
	event->offsets[format->count] = offset;
	event->payload_bytes = offset;
}

static int set_fields(struct burin_trace *trace, struct read_event *event, uint64_t types, const char *enums,
		      const char **why)
{
	struct format format;
	int result = 0;

	event->spelled = !format_parse(event->open.format, types, &format, why);
	if (!event->spelled)
		fields_by_type(types, &format);
	event->has_span_id = format_has_span_id(&format);
	event->open.fields = format.count;
	event->fields = calloc(format.count ? format.count : 1, sizeof(*event->fields));
	if (!event->fields)
		return -ENOMEM;
	for (unsigned n = 0; n < format.count; n++) {
		event->fields[n].parsed = format.fields[n];
		event->fields[n].open.name = event->fields[n].parsed.name;
		event->fields[n].open.type = format.fields[n].type;
		event->fields[n].open.element = format.fields[n].element;
		event->fields[n].open.conversion = format.fields[n].conversion;
		if (!result)
			result = read_labels_load(trace, &event->fields[n], event->open.format, enums);
	}
	trace_events_lay_out(event, &format);
	event->valid = true;
	return result;
}

static bool name_ends(const char *name, const char *suffix)
{
	const size_t bytes = strlen(name), wanted = strlen(suffix);

	return bytes >= wanted && !strcmp(name + bytes - wanted, suffix);
}

/* Return: the kind that readers see. Those who see a span with an id may rely on its first fields. */
static unsigned check_kind(const struct table *table, const struct read_event *event, unsigned kind)
{
	if (kind >= WIRE_KINDS) {
		trace_events_fault(table, "kind of the event is unknown");
		return BURIN_KIND_EVENT;
	}
	if ((kind == WIRE_KIND_BEGIN || kind == WIRE_KIND_SPAN_BEGIN) &&
	    !name_ends(event->open.name, ".begin"))
		trace_events_fault(table, "the name of a begin does not end in .begin");
	if ((kind == WIRE_KIND_END || kind == WIRE_KIND_SPAN_END) && !name_ends(event->open.name, ".end"))
		trace_events_fault(table, "the name of an end does not end in .end");
	if (wire_has_span_id(kind) && !event->has_span_id) {
		trace_events_fault(
			table,
			"the first field of a span with an id is not span_id: it is read as another event");
		return BURIN_KIND_EVENT;
	}
	return kind;
}

static int load_entry(struct table *table, uint32_t id, struct read_event *event)
{
	const char *why = NULL, *name, *format, *file, *refused_file, *enums;
	struct wire_event entry = { 0 };
	int result;

	table->offset = sizeof(struct wire_events) + (uint64_t)(id - 1) * table->entry_bytes;
	/* An older entry is shorter: the members that it lacks stay 0. */
	memcpy(&entry, table->entries + (size_t)(id - 1) * table->entry_bytes, table->entry_bytes);
	name = trace_events_text_at(table, entry.name, WIRE_NAME_MAX);
	format = trace_events_text_at(table, entry.format, WIRE_FORMAT_MAX);
	file = trace_events_text_at(table, entry.file, WIRE_FILE_MAX);
	refused_file = trace_events_text_at(table, entry.refused_file, WIRE_FILE_MAX);
	enums = trace_events_text_at(table, entry.enums, WIRE_ENUMS_MAX);
	if (!name || !name_valid(name)) {
		trace_events_fault(table, "the event has no valid name: its records cannot be read");
		return 0;
	}
	if (format_types_count(entry.types) < 0) {
		trace_events_fault(table,
				   "the types of the event are not a valid list: its records cannot be read");
		return 0;
	}
	if (!format || !file || !refused_file)
		trace_events_fault(table,
				   "format or file name of the event lie outside the text or are too long");
	if (!enums || !wire_enum_valid(enums)) {
		trace_events_fault(table, "the enums of the event are not valid: its values have no names");
		enums = "";
	}
	event->open = (struct burin_event){
		.id = id,
		.name = name,
		.format = format ? format : "",
		.file = file ? file : "",
		.line = entry.line,
		.pid = entry.pid,
		.refused = entry.refused,
		.refused_file = refused_file ? refused_file : "",
		.refused_line = entry.refused_line,
	};
	event->types = entry.types;
	event->enums = enums;
	result = set_fields(table->trace, event, entry.types, enums, &why);
	if (!result && !event->spelled)
		read_fault(table->trace, BURIN_FAULT_EVENTS, table->file, table->offset,
			   "the format of %s: %s", name, why ? why : "cannot be read");
	event->open.kind = check_kind(table, event, entry.kind);
	return result;
}

static int load_table(struct burin_trace *trace, const char *file, const char *data, size_t bytes)
{
	struct table table = { .trace = trace, .entries = data + sizeof(struct wire_events), .file = file };
	struct wire_events header;
	size_t count, left;

	if (bytes < sizeof(header)) {
		trace_events_fault(&table, "shorter than its header");
		return 0;
	}
	memcpy(&header, data, sizeof(header));
	left = bytes - sizeof(header);
	if (header.magic != WIRE_EVENTS_MAGIC && header.magic != WIRE_EVENTS_MAGIC_1) {
		trace_events_fault(&table, "not an event table");
		return 0;
	}
	if (header.count > WIRE_ID_MAX) {
		trace_events_fault(&table, "more events than there are ids");
		return 0;
	}
	table.entry_bytes =
		header.magic == WIRE_EVENTS_MAGIC ? sizeof(struct wire_event) : WIRE_EVENT_BYTES_1;
	count = header.count;
	if (count > left / table.entry_bytes) {
		trace_events_fault(&table, "the file ends within the entries");
		return 0;
	}
	left -= count * table.entry_bytes;
	table.text = table.entries + count * table.entry_bytes;
	table.text_bytes = header.text_bytes < left ? header.text_bytes : (uint32_t)left;
	if (header.text_bytes != left)
		trace_events_fault(&table, header.text_bytes < left ? "the file does not end with its text"
								    : "the file ends within its text");
	trace->refused = header.refused ? trace_events_text_at(&table, header.refused, REFUSED_MAX) : NULL;
	if (header.refused && !trace->refused)
		trace_events_fault(&table, "the list of refused events lies outside the text or is too long");
	if (table.text_bytes && *table.text && trace->strict)
		trace_events_fault(&table, "the text does not begin with a NUL");

	if (read_memory_take(trace, file, 0, bytes + count * sizeof(*trace->events)))
		return 0;
	trace->events = calloc(count ? count : 1, sizeof(*trace->events));
	if (!trace->events)
		return -ENOMEM;
	trace->event_count = (unsigned)count;
	for (uint32_t id = 1; id <= count; id++)
		if (load_entry(&table, id, &trace->events[id - 1]))
			return -ENOMEM;
	return 0;
}

static int load_chunk(struct burin_trace *trace, unsigned chunk)
{
	/* The largest possible table: every entry has a name, a format, two file names and enums of its own. */
	const uint64_t limit =
		sizeof(struct wire_events) +
		(uint64_t)WIRE_ID_MAX * (sizeof(struct wire_event) + WIRE_NAME_MAX + WIRE_FORMAT_MAX +
					 2 * WIRE_FILE_MAX + WIRE_ENUMS_MAX + 5) +
		REFUSED_MAX + 2;
	char path[READ_FILE_NAME_MAX];
	const char *file = read_chunk_file(trace, chunk, events_file, path);
	size_t bytes = 0;
	int result = read_directory_load(trace, file, limit, &trace->event_text, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result) {
		read_fault_file(trace, BURIN_FAULT_EVENTS, file, result);
		return 0;
	}
	return load_table(trace, file, trace->event_text, bytes);
}

/* Ids are the same in all chunks, and the newest has most of them. */
int read_events_load(struct burin_trace *trace)
{
	int result = 0;

	for (unsigned chunk = trace->chunk_count; chunk-- > 0 && !result && !trace->event_count;) {
		free(trace->event_text);
		trace->event_text = NULL;
		free(trace->events);
		trace->events = NULL;
		result = load_chunk(trace, chunk);
	}
	return result;
}

int read_name_events_make(struct burin_trace *trace)
{
	static const struct {
		const char *name, *fields[WIRE_ARGS_MAX];
		uint8_t types[WIRE_ARGS_MAX];
	} definitions[] = {
		[WIRE_NAME_PROCESS - 1] = { "burin.process",
					    { "pid", "parent", "exe", "command", "since", "gone" },
					    { WIRE_U32, WIRE_U32, WIRE_STR, WIRE_STR, WIRE_U64, WIRE_U64 } },
		[WIRE_NAME_THREAD - 1] = { "burin.thread",
					   { "pid", "name", "since", "gone" },
					   { WIRE_U32, WIRE_STR, WIRE_U64, WIRE_U64 } },
		[WIRE_NAME_CHANGE - 1] = { "burin.change",
					   { "number", "kind", "pid", "uid", "program", "command", "text",
					     "value", "first", "last", "dropped", "events" },
					   { WIRE_U64, WIRE_STR, WIRE_U32, WIRE_U32, WIRE_STR, WIRE_STR,
					     WIRE_STR, WIRE_U64, WIRE_U32, WIRE_U32, WIRE_U64, WIRE_STR } },
	};

	for (unsigned n = 0; n < READ_NAME_EVENTS; n++) {
		struct read_event *event = &trace->name_events[n];
		struct format format = { .count = 0 };

		for (; format.count < WIRE_ARGS_MAX && definitions[n].types[format.count]; format.count++) {
			struct format_field *field = &format.fields[format.count];

			strcpy(field->name, definitions[n].fields[format.count]);
			field->type = definitions[n].types[format.count];
		}
		event->fields = calloc(format.count, sizeof(*event->fields));
		if (!event->fields)
			return -ENOMEM;
		event->open = (struct burin_event){ .id = n + 1,
						    .name = definitions[n].name,
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
		trace_events_lay_out(event, &format);
		event->valid = true;
	}
	return 0;
}

void read_events_free(struct burin_trace *trace)
{
	for (unsigned n = 0; n < trace->event_count; n++) {
		for (unsigned field = 0; trace->events[n].fields && field < trace->events[n].open.fields;
		     field++)
			free(trace->events[n].fields[field].labels);
		free(trace->events[n].fields);
	}
	for (unsigned n = 0; n < READ_NAME_EVENTS; n++)
		free(trace->name_events[n].fields);
	free(trace->events);
	free(trace->event_text);
}

/* Copies a field up to the tab or the line's end, truncated to fit. Return: the text after it. */
static const char *take_field(const char *at, char *out, size_t room)
{
	const size_t bytes = strcspn(at, "\t\n");

	snprintf(out, room, "%.*s", (int)bytes, at);
	return at[bytes] == '\t' ? at + bytes + 1 : at + bytes;
}

bool read_refusal_next(const struct burin_trace *trace, const char **at, struct read_refusal *refusal)
{
	char number[16];

	if (!*at)
		*at = trace->refused ? trace->refused : "";
	if (!**at)
		return false;
	*at = take_field(*at, refusal->name, sizeof(refusal->name));
	*at = take_field(*at, refusal->file, sizeof(refusal->file));
	*at = take_field(*at, number, sizeof(number));
	refusal->line = (unsigned)strtoul(number, NULL, 10);
	*at = take_field(*at, number, sizeof(number));
	refusal->times = (unsigned)strtoul(number, NULL, 10);
	*at = take_field(*at, refusal->why, sizeof(refusal->why));
	*at += strcspn(*at, "\n");
	*at += **at == '\n';
	return true;
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
	for (unsigned n = 0; n < event->fields; n++)
		if (!strcmp(read_event_of(event)->fields[n].open.name, name))
			return (int)n;
	return -ENOENT;
}
