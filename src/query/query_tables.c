/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables of a trace. */
#include "query/query.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/query_kinds.h"

enum {
	RECORD_BYTES = 32,    /* about, on disk */
	STORE_ROWS = 1000000, /* guessed before a table was read */
};

static const struct {
	const char *name;
	const struct query_kind *kind;
	unsigned choice;
} fixed_tables[] = {
	{ "events", &query_events, 0 },
	{ "counters", &query_counters, 0 },
	{ "spans", &query_spans, QUERY_SPANS_OF_EVENTS },
	{ "syscalls", &query_spans, QUERY_SPANS_OF_SYSCALLS },
	{ "calls", &query_spans, QUERY_SPANS_OF_CALLS },
	{ "samples", &query_samples, 0 },
	{ "stacks", &query_stacks, 0 },
	{ "frames", &query_frames, 0 },
	{ "sched", &query_sched, 0 },
	{ "threads", &query_threads, 0 },
	{ "processes", &query_processes, 0 },
	{ "losses", &query_losses, 0 },
};

/*
 * The name of an event's table: the event's, with its id behind it if a table before it has that name without regard to case. Names of events
 * end in no `#` and digits, so no other table has such a name. Engines keep names that begin with "sqlite_" for themselves.
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

static int table_add(struct query *query, const char *name, const struct query_kind *kind, unsigned choice,
		     const struct burin_event *event)
{
	struct query_table *table = &query->tables[query->count];
	const int error = table_name(query, name, event ? event->id : 0, table->name);

	if (error)
		return error;
	table->kind = kind;
	table->choice = choice;
	table->columns = kind->field_count + (event ? event->fields : 0);
	table->event = event;
	query->count++;
	return 0;
}

int query_make(struct query *query, const struct burin_trace *trace, unsigned threads)
{
	const size_t fixed = sizeof(fixed_tables) / sizeof(*fixed_tables);
	int error;

	*query = (struct query){ .trace = trace, .threads = threads };
	query->tables = calloc(burin_trace_events(trace) + fixed, sizeof(*query->tables));
	if (!query->tables)
		return -ENOMEM;
	error = burin_profile_open(&query->profile, trace);
	if (error == -ENODATA)
		error = 0;
	for (size_t n = 0; n < fixed && !error; n++)
		error = table_add(query, fixed_tables[n].name, fixed_tables[n].kind, fixed_tables[n].choice,
				  NULL);
	for (unsigned id = 1; id <= burin_trace_events(trace) && !error; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (event)
			error = table_add(query, event->name, &query_one_event, 0, event);
	}
	return error;
}

void query_free(struct query *query)
{
	for (unsigned n = 0; n < query->count; n++)
		free(query->tables[n].store.rows);
	free(query->tables);
	burin_profile_close(query->profile);
	view_strings_free(&query->names);
	view_strings_free(&query->strings);
}

double query_rows(const struct query *query, const struct query_table *table)
{
	if (!table->kind->make)
		return 1 + (double)query->trace->stored / RECORD_BYTES;
	return table->store.made ? 1 + (double)table->store.count : STORE_ROWS;
}

int query_prepare(struct query *query, struct query_table *table)
{
	return table->kind->make ? query_store_make(query, table) : 0;
}

ssize_t query_parts(const struct query *query, const struct query_table *table,
		    const struct query_bounds *bounds, struct query_part **parts)
{
	*parts = NULL;
	if (bounds->from > bounds->to)
		return 0;
	if (!table->kind->make)
		return query_records_parts(query, bounds, parts);
	*parts = malloc(sizeof(**parts));
	if (!*parts)
		return -ENOMEM;
	**parts = (struct query_part){ bounds->from, bounds->to };
	return 1;
}

int query_scan_begin(struct query_scan *scan, struct query *query, struct query_table *table,
		     const struct query_bounds *bounds)
{
	*scan = (struct query_scan){ .query = query, .table = table, .bounds = bounds };
	if (bounds->from > bounds->to) {
		scan->done = true;
		return 0;
	}
	return table->kind->make ? query_store_begin(scan, query, table) : query_records_begin(scan);
}

int query_scan_next(struct query_scan *scan)
{
	if (scan->records)
		return query_records_next(scan);
	query_store_next(scan);
	return 0;
}

ssize_t query_scan_batch(struct query_scan *scan, struct query_batch *batch)
{
	return scan->records ? query_records_batch(scan, batch) : query_store_batch(scan, batch);
}

void query_scan_end(struct query_scan *scan)
{
	if (scan->records)
		query_records_end(scan);
	free(scan->block);
	free(scan->layout);
	scan->records = NULL;
	scan->block = NULL;
	scan->layout = NULL;
	scan->done = true;
}

void query_scan_value(const struct query_scan *scan, unsigned column, struct query_value *value)
{
	if (scan->records)
		query_records_value(scan, column, value);
	else
		scan->table->kind->value(scan->query, scan->row, column, value);
}

int64_t query_scan_row(const struct query_scan *scan)
{
	const struct query_store *store = &scan->table->store;

	if (scan->records)
		return query_records_row(scan);
	return (scan->row - (const char *)store->rows) / (int64_t)scan->table->kind->row_bytes + 1;
}
