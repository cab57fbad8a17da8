/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Between the files of query/: kinds of tables, and their means. */
#ifndef BURIN_QUERY_QUERY_KINDS_H
#define BURIN_QUERY_QUERY_KINDS_H

#include <string.h>

#include "query/query.h"

extern const struct query_kind query_events, query_counters, query_one_event; /* rows are records */
extern const struct query_kind query_spans, query_samples, query_stacks, query_frames, query_sched,
	query_threads, query_processes, query_losses;

/* The columns of records before an event's fields. */
enum {
	RECORD_TIME,
	RECORD_CPU,
	RECORD_TID,
	RECORD_PID,
	RECORD_THREAD,
	RECORD_PROGRAM,
	RECORD_FIRST_FIELD, /* of the table of an event */
	RECORD_EVENT = RECORD_FIRST_FIELD,
	RECORD_FIELDS, /* of all events */
	COUNTER_VALUE = RECORD_FIELDS,
};

/* Choices of query_spans. */
enum {
	QUERY_SPANS_OF_EVENTS,
	QUERY_SPANS_OF_SYSCALLS,
	QUERY_SPANS_OF_CALLS,
};

static inline void query_null(struct query_value *value)
{
	*value = (struct query_value){ .type = QUERY_NULL };
}

static inline void query_integer(struct query_value *value, int64_t number)
{
	*value = (struct query_value){ .type = QUERY_INTEGER, .integer = number };
}

/* @text: of the trace, or of the query's strings; NULL: none */
static inline void query_text(struct query_value *value, const char *text)
{
	*value = (struct query_value){ .type = text ? QUERY_TEXT : QUERY_NULL,
				       .bytes = text,
				       .size = text ? strlen(text) : 0,
				       .lasting = true };
}

/* query_program - the name of a program: the last part of its path. @path: NULL: unknown */
static inline void query_program(struct query_value *value, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	query_text(value, slash ? slash + 1 : path);
}

/* query_string - the number of a text among the query's strings; 0: none. */
static inline uint32_t query_string(struct query *query, const char *text)
{
	return text ? view_string(&query->strings, text) : 0;
}

static inline void query_string_value(const struct query *query, uint32_t string, struct query_value *value)
{
	query_text(value, string ? query->strings.texts[string] : NULL);
}

/* query_of_thread - a thread's process, its name, and its program. @thread: NULL: unknown */
enum query_of {
	QUERY_OF_PID,
	QUERY_OF_THREAD,
	QUERY_OF_PROGRAM,
};

void query_of_thread(const struct burin_thread *thread, enum query_of of, struct query_value *value);

/* query_value_is - whether a value is an integer or a text that is wanted. */
bool query_value_is(const struct query_value *value, const struct query_value *wanted);

/* ---- query_records.c */
ssize_t query_records_parts(const struct query *query, const struct query_bounds *bounds,
			    struct query_part **parts);
int query_records_begin(struct query_scan *scan);
int query_records_next(struct query_scan *scan);
ssize_t query_records_batch(struct query_scan *scan, struct query_batch *batch);
void query_records_end(struct query_scan *scan);
void query_records_value(const struct query_scan *scan, unsigned column, struct query_value *value);
int64_t query_records_row(const struct query_scan *scan);

/* ---- query_store.c */
/* Adds a row of zeros. Return: NULL: no memory. */
void *query_store_add(struct query_store *store, size_t row_bytes);
/* Makes the rows, if they are not made. Return: 0 or -ENOMEM. */
int query_store_make(struct query *query, struct query_table *table);
int query_store_begin(struct query_scan *scan, struct query *query, struct query_table *table);
void query_store_next(struct query_scan *scan);
ssize_t query_store_batch(struct query_scan *scan, struct query_batch *batch);

#endif
