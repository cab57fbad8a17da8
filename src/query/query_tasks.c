/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Small tables: threads and processes as they were announced, and losses. */
#include <errno.h>

#include "query/query_kinds.h"

/* ---- Threads: a row for each name that one had */

static const struct query_field thread_columns[] = {
	{ "tid", QUERY_INTEGER }, { "time", QUERY_INTEGER }, { "pid", QUERY_INTEGER },
	{ "thread", QUERY_TEXT }, { "program", QUERY_TEXT },
};

struct thread_stored {
	int64_t tid;
	const struct burin_thread *thread;
};

static int threads_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const struct burin_thread *thread;

	(void)table;
	for (size_t n = 0; (thread = burin_trace_thread_at(query->trace, n)); n++) {
		struct thread_stored *row = query_store_add(store, sizeof(*row));

		if (!row)
			return -ENOMEM;
		*row = (struct thread_stored){ thread->tid, thread };
	}
	return 0;
}

static void thread_value(const struct query *query, const void *data, unsigned column,
			 struct query_value *value)
{
	const struct thread_stored *row = data;

	switch (column) {
	case 0:
		query_integer(value, row->tid);
		break;
	case 1:
		query_integer(value, burin_trace_ns(query->trace, row->thread->time));
		break;
	case 2:
		query_integer(value, row->thread->pid);
		break;
	case 3:
		query_text(value, row->thread->name);
		break;
	default:
		query_program(value, row->thread->process ? row->thread->process->exe : NULL);
	}
}

const struct query_kind query_threads = {
	.fields = thread_columns,
	.field_count = sizeof(thread_columns) / sizeof(*thread_columns),
	.make = threads_make,
	.row_bytes = sizeof(struct thread_stored),
	.value = thread_value,
};

/* ---- Processes: a row for each program that one executed */

static const struct query_field process_columns[] = {
	{ "pid", QUERY_INTEGER },  { "time", QUERY_INTEGER }, { "parent", QUERY_INTEGER },
	{ "program", QUERY_TEXT }, { "exe", QUERY_TEXT },     { "command", QUERY_TEXT },
};

struct process_stored {
	int64_t pid;
	const struct burin_process *process;
};

static int processes_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const struct burin_process *process;

	(void)table;
	for (size_t n = 0; (process = burin_trace_process_at(query->trace, n)); n++) {
		struct process_stored *row = query_store_add(store, sizeof(*row));

		if (!row)
			return -ENOMEM;
		*row = (struct process_stored){ process->pid, process };
	}
	return 0;
}

static void process_value(const struct query *query, const void *data, unsigned column,
			  struct query_value *value)
{
	const struct process_stored *row = data;

	switch (column) {
	case 0:
		query_integer(value, row->pid);
		break;
	case 1:
		query_integer(value, burin_trace_ns(query->trace, row->process->time));
		break;
	case 2:
		query_integer(value, row->process->parent);
		break;
	case 3:
		query_program(value, row->process->exe);
		break;
	case 4:
		query_text(value, row->process->exe);
		break;
	default:
		query_text(value, row->process->command);
	}
}

const struct query_kind query_processes = {
	.fields = process_columns,
	.field_count = sizeof(process_columns) / sizeof(*process_columns),
	.make = processes_make,
	.row_bytes = sizeof(struct process_stored),
	.value = process_value,
};

/* ---- Losses: of rings by the packets between which records are missing; the others have no time */

enum {
	LOSS_TIME,
	LOSS_END,
	LOSS_CAUSE,
	LOSS_COUNT,
	LOSS_RING,
	LOSS_CPU,
	LOSS_COLUMNS
};

static const struct query_field loss_columns[] = {
	[LOSS_TIME] = { "time", QUERY_INTEGER }, [LOSS_END] = { "end", QUERY_INTEGER },
	[LOSS_CAUSE] = { "cause", QUERY_TEXT },	 [LOSS_COUNT] = { "count", QUERY_INTEGER },
	[LOSS_RING] = { "ring", QUERY_TEXT },	 [LOSS_CPU] = { "cpu", QUERY_INTEGER },
};

struct loss_stored {
	int64_t time; /* ns; INT64_MIN: unknown */
	int64_t end;  /* ns; INT64_MAX: unknown */
	const char *cause;
	uint64_t count;
	const struct burin_ring *ring; /* NULL: of no ring */
};

static int loss_add(struct query_store *store, struct loss_stored loss)
{
	struct loss_stored *row;

	if (!loss.count)
		return 0;
	row = query_store_add(store, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = loss;
	return 0;
}

/*
 * A ring's count of a cause in the header of each packet says where records are missing: between the ends of two packets. Each chunk of a
 * split recording counts from 0. Losses that no packet shows have no time.
 */
static int losses_of_ring(const struct query *query, const struct read_stream *stream, unsigned cause,
			  struct query_store *store)
{
	struct loss_stored loss = { .cause = burin_loss_name(cause), .ring = &stream->ring };
	uint64_t seen = 0, before = 0;
	int64_t last = INT64_MIN;
	int error = 0;

	for (size_t n = 0; n < stream->packet_count && !error; n++) {
		const struct read_packet *packet = &stream->packets[n];
		const uint64_t lost = packet->lost[cause];

		if (n && stream->files[packet->file].chunk != stream->files[packet[-1].file].chunk)
			before = 0;
		loss.time = last;
		loss.end = last = burin_trace_ns(query->trace, packet->time_end);
		loss.count = lost > before ? lost - before : 0;
		if (loss.count > stream->ring.lost[cause] - seen)
			loss.count = stream->ring.lost[cause] - seen;
		seen += loss.count;
		before = lost;
		error = loss_add(store, loss);
	}
	loss.time = INT64_MIN;
	loss.end = INT64_MAX;
	loss.count = stream->ring.lost[cause] - seen;
	return error ? error : loss_add(store, loss);
}

static int losses_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	const struct burin_trace *trace = query->trace;
	struct view_losses losses;
	int error = 0;

	(void)table;
	for (unsigned n = 0; n < trace->stream_count; n++)
		for (unsigned cause = 0; cause < BURIN_LOST_CAUSES && !error; cause++)
			error = losses_of_ring(query, &trace->streams[n], cause, store);
	view_losses_read(trace, &losses);
	for (unsigned n = 0; n < losses.count && !error; n++)
		if (!losses.list[n].of_rings)
			error = loss_add(store,
					 (struct loss_stored){ INT64_MIN, INT64_MAX, losses.list[n].key,
							       losses.list[n].count, NULL });
	return error;
}

static void loss_value(const struct query *query, const void *data, unsigned column,
		       struct query_value *value)
{
	const struct loss_stored *row = data;

	(void)query;
	query_null(value);
	switch (column) {
	case LOSS_TIME:
		if (row->time != INT64_MIN)
			query_integer(value, row->time);
		break;
	case LOSS_END:
		if (row->end != INT64_MAX)
			query_integer(value, row->end);
		break;
	case LOSS_CAUSE:
		query_text(value, row->cause);
		break;
	case LOSS_COUNT:
		query_integer(value, (int64_t)row->count);
		break;
	case LOSS_RING:
		query_text(value, row->ring ? row->ring->name : NULL);
		break;
	default:
		if (row->ring && !row->ring->locked)
			query_integer(value, row->ring->cpu);
	}
}

const struct query_kind query_losses = {
	.fields = loss_columns,
	.field_count = LOSS_COLUMNS,
	.make = losses_make,
	.row_bytes = sizeof(struct loss_stored),
	.value = loss_value,
};
