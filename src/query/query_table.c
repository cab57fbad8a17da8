/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of a trace, and their scans by a cursor. */
#include "query/query_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "wire/wire_format.h"

/*
 * The name of an event's table: the event's, with its id behind it if a table before it has that name without regard to case. Names of events end in no
 * `#` and digits, so no other table has such a name. Engines keep names that begin with "sqlite_" for themselves.
 */
static int table_name(struct query *query, const char *wanted, uint32_t id, char name[QUERY_NAME])
{
	char low[QUERY_NAME];
	uint32_t text, count = query->names.count;

	snprintf(name, QUERY_NAME, "%s%.400s", strncasecmp(wanted, "sqlite_", 7) ? "" : "_", wanted);
	for (size_t n = 0; n == 0 || name[n - 1]; n++)
		low[n] = (char)tolower((unsigned char)name[n]);
	text = view_string(&query->names, low);
	if (text < count || !text)
		snprintf(name + strlen(name), 16, "#%" PRIu32, id);
	return query->names.failed ? -ENOMEM : 0;
}

static int table_add(struct query *query, const char *name, enum query_kind kind, unsigned columns,
		     const struct burin_event *event)
{
	struct query_table *table = &query->tables[query->count];
	const int error = table_name(query, name, event ? event->id : 0, table->name);

	if (error)
		return error;
	table->kind = kind;
	table->columns = columns;
	table->event = event;
	query->count++;
	return 0;
}

int query_make(struct query *query, const struct burin_trace *trace)
{
	int error;

	*query = (struct query){ .trace = trace };
	query->tables = calloc(burin_trace_events(trace) + 2, sizeof(*query->tables));
	if (!query->tables)
		return -ENOMEM;
	view_losses_read(trace, &query->losses);
	error = table_add(query, "events", QUERY_EVENTS, QUERY_EVENT + 1, NULL);
	if (!error)
		error = table_add(query, "losses", QUERY_LOSSES, 2, NULL);
	for (unsigned id = 1; id <= burin_trace_events(trace) && !error; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (event)
			error = table_add(query, event->name, QUERY_ONE_EVENT, QUERY_EVENT + event->fields,
					  event);
	}
	return error;
}

void query_free(struct query *query)
{
	free(query->tables);
	view_strings_free(&query->names);
}

static const struct {
	const char *name;
	enum query_type type;
} fixed[] = {
	[QUERY_TIME] = { "time", QUERY_INTEGER },  [QUERY_CPU] = { "cpu", QUERY_INTEGER },
	[QUERY_TID] = { "tid", QUERY_INTEGER },	   [QUERY_PID] = { "pid", QUERY_INTEGER },
	[QUERY_THREAD] = { "thread", QUERY_TEXT }, [QUERY_EVENT] = { "event", QUERY_TEXT },
};

static enum query_type field_column_type(unsigned type)
{
	switch (type) {
	case BURIN_TYPE_F32:
	case BURIN_TYPE_F64:
		return QUERY_REAL;
	case BURIN_TYPE_STR:
		return QUERY_TEXT;
	case BURIN_TYPE_BYTES:
	case BURIN_TYPE_ARRAY:
		return QUERY_BLOB;
	default:
		return QUERY_INTEGER;
	}
}

/* Whether a name is that of a fixed column, or of one of the first fields. */
static bool column_name_used(const struct burin_event *event, unsigned fields, const char *name)
{
	for (unsigned n = 0; n < QUERY_EVENT; n++)
		if (!strcasecmp(fixed[n].name, name))
			return true;
	for (unsigned n = 0; n < fields; n++)
		if (!strcasecmp(burin_event_field(event, n)->name, name))
			return true;
	return false;
}

/* A name that is used gets the field's number, and underscores until no field has it. So two of them end in different numbers. */
static void column_name(const struct burin_event *event, unsigned number, char name[QUERY_NAME])
{
	const char *wanted = burin_event_field(event, number)->name;
	size_t end;

	snprintf(name, QUERY_NAME, "%.400s", wanted);
	if (!column_name_used(event, number, name))
		return;
	snprintf(name, QUERY_NAME, "%.400s_%u", wanted, number + 1);
	for (end = strlen(name); end < QUERY_NAME - 1 && column_name_used(event, event->fields, name);
	     end++) {
		name[end] = '_';
		name[end + 1] = '\0';
	}
}

enum query_type query_column(const struct query_table *table, unsigned column, char name[QUERY_NAME])
{
	if (table->kind == QUERY_LOSSES) {
		strcpy(name, column ? "count" : "cause");
		return column ? QUERY_INTEGER : QUERY_TEXT;
	}
	if (column < QUERY_EVENT || table->kind == QUERY_EVENTS) {
		strcpy(name, fixed[column].name);
		return fixed[column].type;
	}
	column_name(table->event, column - QUERY_EVENT, name);
	return field_column_type(burin_event_field(table->event, column - QUERY_EVENT)->type);
}

/* A time in ns is rounded down, so it is at or after a whole one exactly if its ticks are. */
void query_from(const struct query *query, struct query_bounds *bounds, int64_t ns)
{
	uint64_t ticks = burin_trace_ticks(query->trace, ns);

	if (ticks > bounds->from)
		bounds->from = ticks;
}

void query_to(const struct query *query, struct query_bounds *bounds, int64_t ns)
{
	uint64_t ticks;

	if (ns == INT64_MAX)
		return;
	ticks = burin_trace_ticks(query->trace, ns + 1);
	if (!ticks)
		ticks = 1;
	if (!bounds->to || ticks < bounds->to)
		bounds->to = ticks;
}

int query_scan_begin(struct query_scan *scan, const struct query *query, const struct query_table *table,
		     const struct query_bounds *bounds)
{
	const struct burin_cursor_options options = {
		.size = sizeof(options),
		.from = bounds->from,
		.to = bounds->to,
	};
	int result;

	*scan = (struct query_scan){ .query = query, .table = table, .bounds = *bounds };
	if (table->kind == QUERY_LOSSES || (bounds->to && bounds->from >= bounds->to))
		return 0;
	result = burin_cursor_open(&scan->cursor, query->trace, &options);
	return result ? result : query_scan_next(scan);
}

static bool scan_wants(const struct query_scan *scan, const struct burin_record *record)
{
	return (!scan->table->event || record->event == scan->table->event) &&
	       (!scan->bounds.has_tid || record->tid == scan->bounds.tid) &&
	       (!scan->bounds.has_cpu || record->cpu == scan->bounds.cpu);
}

int query_scan_next(struct query_scan *scan)
{
	int result;

	if (scan->table->kind == QUERY_LOSSES) {
		scan->loss++;
		return 0;
	}
	do
		result = burin_cursor_next(scan->cursor, &scan->record);
	while (result > 0 && !scan_wants(scan, scan->record));
	if (result <= 0)
		scan->record = NULL;
	return result < 0 ? result : 0;
}

bool query_scan_done(const struct query_scan *scan)
{
	return scan->table->kind == QUERY_LOSSES ? scan->loss >= scan->query->losses.count : !scan->record;
}

void query_scan_end(struct query_scan *scan)
{
	burin_cursor_close(scan->cursor);
	scan->cursor = NULL;
}

static void value_text(struct query_value *value, const char *text)
{
	*value = (struct query_value){ .type = QUERY_TEXT, .bytes = text, .size = strlen(text) };
}

static void value_integer(struct query_value *value, uint64_t number)
{
	*value = (struct query_value){ .type = QUERY_INTEGER, .integer = (int64_t)number };
}

/* The bytes of a text, of bytes, and of the elements of an array. Return: 0; a negative errno: it has none. */
static int field_bytes(const struct burin_record *record, unsigned field, struct query_value *value)
{
	const struct burin_field *of = burin_event_field(record->event, field);
	const char *text;
	size_t count;
	int error;

	if (of->type == BURIN_TYPE_STR) {
		error = burin_record_string(record, field, &text, &value->size);
		value->bytes = text;
		return error;
	}
	if (of->type == BURIN_TYPE_BYTES)
		return burin_record_bytes(record, field, &value->bytes, &value->size);
	error = burin_record_array(record, field, &value->bytes, &count);
	value->size = error ? 0 : count * format_type_bytes(of->element);
	return error;
}

static void value_field(const struct burin_record *record, unsigned field, struct query_value *value)
{
	const enum query_type type = field_column_type(burin_event_field(record->event, field)->type);
	uint64_t bits;
	int error = 0;

	*value = (struct query_value){ .type = type };
	if (type == QUERY_REAL)
		error = burin_record_double(record, field, &value->real);
	else if (type != QUERY_INTEGER)
		error = field_bytes(record, field, value);
	else if (burin_record_u64(record, field, &bits) == 0)
		value->integer = (int64_t)bits;
	else
		error = burin_record_i64(record, field, &value->integer);
	if (error)
		value->type = QUERY_NULL;
}

static void value_of_thread(const struct query_scan *scan, unsigned column, struct query_value *value)
{
	const struct burin_record *record = scan->record;
	const struct burin_thread *thread = burin_trace_thread(scan->query->trace, record->tid, record->time);

	if (!thread)
		*value = (struct query_value){ .type = QUERY_NULL };
	else if (column == QUERY_PID)
		value_integer(value, thread->pid);
	else
		value_text(value, thread->name);
}

void query_scan_value(const struct query_scan *scan, unsigned column, struct query_value *value)
{
	const struct burin_record *record = scan->record;

	if (scan->table->kind == QUERY_LOSSES) {
		if (column)
			value_integer(value, scan->query->losses.list[scan->loss].count);
		else
			value_text(value, scan->query->losses.list[scan->loss].key);
	} else if (column == QUERY_TIME) {
		value_integer(value, (uint64_t)burin_trace_ns(scan->query->trace, record->time));
	} else if (column == QUERY_CPU) {
		value_integer(value, record->cpu);
		if (record->cpu == UINT32_MAX)
			value->type = QUERY_NULL;
	} else if (column == QUERY_TID) {
		value_integer(value, record->tid);
	} else if (column < QUERY_EVENT) {
		value_of_thread(scan, column, value);
	} else if (scan->table->kind == QUERY_EVENTS) {
		value_text(value, record->event->name);
	} else {
		value_field(record, column - QUERY_EVENT, value);
	}
}

/* A record is identified by its file, by number among those of all rings, and its offset. */
int64_t query_scan_row(const struct query_scan *scan)
{
	const struct burin_trace *trace = scan->query->trace;
	const struct burin_record *record = scan->record;
	uint64_t file = 0;

	if (scan->table->kind == QUERY_LOSSES)
		return scan->loss + 1;
	for (unsigned n = 0; n < trace->stream_count; n++) {
		const struct read_stream *stream = &trace->streams[n];

		for (unsigned at = 0; at < stream->file_count; at++, file++)
			if (stream->files[at].name == record->file)
				return (int64_t)(file << QUERY_ROW_OFFSET | record->offset);
	}
	return (int64_t)(file << QUERY_ROW_OFFSET | record->offset);
}
