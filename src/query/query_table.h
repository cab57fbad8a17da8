/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace as tables: typed columns, and scans that skip what constraints on time, thread, CPU and event exclude. It knows no engine of
 * queries. Rows are records, read one at a time in the order of time; nothing is imported.
 *
 * Tables: `events`, one for each event with a column for each field, and `losses`.
 */
#ifndef BURIN_QUERY_QUERY_TABLE_H
#define BURIN_QUERY_QUERY_TABLE_H

#include "read/trace.h"
#include "view/losses.h"
#include "view/profile/profile_view.h"

enum {
	QUERY_NAME = 512,      /* bytes of a name of a table, with its end */
	QUERY_ROW_OFFSET = 40, /* bits of an offset in a number of a row */
};

enum query_type {
	QUERY_NULL,
	QUERY_INTEGER, /* unsigned numbers above INT64_MAX have the same bits */
	QUERY_REAL,
	QUERY_TEXT,
	QUERY_BLOB,
};

/* The first columns of tables of records. */
enum query_column {
	QUERY_TIME, /* ns since 1970 */
	QUERY_CPU,
	QUERY_TID,
	QUERY_PID,
	QUERY_THREAD,
	QUERY_EVENT, /* in `events`; in others the first field */
};

enum query_kind {
	QUERY_EVENTS,
	QUERY_ONE_EVENT,
	QUERY_LOSSES,
};

struct query_table {
	char name[QUERY_NAME]; /* unique, without regard to case */
	enum query_kind kind;
	const struct burin_event *event;
	unsigned columns;
};

struct query_value {
	enum query_type type;
	int64_t integer;
	double real;
	const void *bytes; /* of text and blobs; valid until the scan moves */
	size_t size;
};

/* The bounds of a scan: rows outside of them are left out. */
struct query_bounds {
	uint64_t from, to; /* ticks; @to exclusive, 0: no end */
	bool has_tid, has_cpu;
	uint32_t tid, cpu;
};

struct query {
	const struct burin_trace *trace;
	struct query_table *tables;
	unsigned count;
	struct view_strings names; /* of tables, in lower case */
	struct view_losses losses;
};

struct query_scan {
	const struct query *query;
	const struct query_table *table;
	struct query_bounds bounds;
	struct burin_cursor *cursor;
	const struct burin_record *record; /* NULL: behind the last row */
	unsigned loss;
};

/* Return: 0 or -ENOMEM. Call query_free() in any case. */
int query_make(struct query *query, const struct burin_trace *trace);
void query_free(struct query *query);

/* The name and type of a column, unique in its table without regard to case. */
enum query_type query_column(const struct query_table *table, unsigned column, char name[QUERY_NAME]);

/* Narrow the bounds to times from, or up to, one in ns since 1970. */
void query_from(const struct query *query, struct query_bounds *bounds, int64_t ns);
void query_to(const struct query *query, struct query_bounds *bounds, int64_t ns);

/* Moves to the first row. Return: 0 or -ENOMEM. Call query_scan_end() in any case. */
int query_scan_begin(struct query_scan *scan, const struct query *query, const struct query_table *table,
		     const struct query_bounds *bounds);
int query_scan_next(struct query_scan *scan);
bool query_scan_done(const struct query_scan *scan);
void query_scan_end(struct query_scan *scan);
void query_scan_value(const struct query_scan *scan, unsigned column, struct query_value *value);
/* The number of the row: the same in each scan, whatever its bounds. */
int64_t query_scan_row(const struct query_scan *scan);

#endif
