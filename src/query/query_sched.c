/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The table of the scheduler: the times that threads spent in each state, as `burin report --sched` adds them up (view/sched/sched_states.h). */
#include <errno.h>

#include "query/query_kinds.h"
#include "view/sched/sched_read.h"

enum {
	SCHED_TIME,
	SCHED_DURATION,
	SCHED_TID,
	SCHED_PID,
	SCHED_THREAD,
	SCHED_PROGRAM,
	SCHED_STATE,
	SCHED_CPU,
	SCHED_REASON,
	SCHED_WAKER,
	SCHED_COLUMNS
};

static const struct query_field sched_columns[] = {
	[SCHED_TIME] = { "time", QUERY_INTEGER },   [SCHED_DURATION] = { "duration", QUERY_INTEGER },
	[SCHED_TID] = { "tid", QUERY_INTEGER },	    [SCHED_PID] = { "pid", QUERY_INTEGER },
	[SCHED_THREAD] = { "thread", QUERY_TEXT },  [SCHED_PROGRAM] = { "program", QUERY_TEXT },
	[SCHED_STATE] = { "state", QUERY_TEXT },    [SCHED_CPU] = { "cpu", QUERY_INTEGER },
	[SCHED_REASON] = { "reason", QUERY_TEXT },  /* blocked: in what */
	[SCHED_WAKER] = { "waker", QUERY_INTEGER }, /* the thread that made it runnable */
};

static const char *const sched_state_names[SCHED_STATES] = {
	[SCHED_RUNNING] = "running",
	[SCHED_RUNNABLE] = "runnable",
	[SCHED_BLOCKED] = "blocked",
};

struct sched_stored {
	int64_t time, duration; /* ns */
	uint32_t thread;	/* index */
	uint32_t tid, cpu, waker;
	uint32_t reason; /* string */
	enum sched_state state;
};

struct sched_filler {
	struct query_store *store;
	struct sched sched;
	struct kernel_view view;
};

static int sched_store(void *data, const struct sched_interval *interval)
{
	struct sched_filler *filler = data;
	struct sched_stored *row;

	if (interval->begin >= interval->end || interval->state >= SCHED_STATES)
		return 0;
	row = query_store_add(filler->store, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->time = (int64_t)interval->begin;
	row->duration = (int64_t)(interval->end - interval->begin);
	row->thread = interval->thread;
	row->tid = filler->sched.threads[interval->thread].tid;
	row->state = interval->state;
	row->cpu = interval->state == SCHED_BLOCKED ? SCHED_NO_CPU : interval->cpu;
	row->reason = interval->state == SCHED_BLOCKED ? interval->what : 0;
	row->waker = interval->waker ? filler->sched.threads[interval->waker - 1].tid : 0;
	return 0;
}

/* Threads that the recorded ones only met are left out. They are known at the end. */
static void sched_keep_recorded(struct sched_filler *filler)
{
	struct sched_stored *rows = filler->store->rows;
	size_t kept = 0;

	for (size_t n = 0; n < filler->store->count; n++)
		if (sched_recorded(&filler->sched, rows[n].thread))
			rows[kept++] = rows[n];
	filler->store->count = kept;
}

static int sched_make(struct query *query, const struct query_table *table, struct query_store *store)
{
	struct sched_filler filler = { .store = store };
	const struct burin_record *record;
	struct burin_cursor *cursor = NULL;
	uint64_t begin, end;
	int result;

	(void)table;
	filler.sched.closed = sched_store;
	filler.sched.data = &filler;
	result = sched_read_begin(&filler.sched, &filler.view, query->trace, &query->strings);
	if (!result)
		result = burin_cursor_open(&cursor, query->trace, NULL);
	while (!result && (result = burin_cursor_next(cursor, &record)) > 0)
		result = sched_read_record(&filler.sched, &filler.view, record,
					   sched_read_ns(query->trace, record->time));
	burin_cursor_close(cursor);
	burin_trace_range(query->trace, &begin, &end);
	if (!result)
		result = sched_finish(&filler.sched, sched_read_ns(query->trace, end));
	if (!result)
		sched_keep_recorded(&filler);
	kernel_view_free(&filler.view);
	sched_free(&filler.sched);
	return result == -ENODATA ? 0 : result;
}

static void sched_value(const struct query *query, const void *data, unsigned column,
			struct query_value *value)
{
	const struct sched_stored *row = data;

	query_null(value);
	switch (column) {
	case SCHED_TIME:
		query_integer(value, row->time);
		break;
	case SCHED_DURATION:
		query_integer(value, row->duration);
		break;
	case SCHED_TID:
		query_integer(value, row->tid);
		break;
	case SCHED_STATE:
		query_text(value, sched_state_names[row->state]);
		break;
	case SCHED_CPU:
		if (row->cpu != SCHED_NO_CPU)
			query_integer(value, row->cpu);
		break;
	case SCHED_REASON:
		query_string_value(query, row->reason, value);
		break;
	case SCHED_WAKER:
		if (row->waker)
			query_integer(value, row->waker);
		break;
	default:
		query_of_thread(burin_trace_thread(query->trace, row->tid,
						   burin_trace_ticks(query->trace, row->time)),
				QUERY_OF_PID + (enum query_of)(column - SCHED_PID), value);
	}
}

const struct query_kind query_sched = {
	.fields = sched_columns,
	.field_count = SCHED_COLUMNS,
	.make = sched_make,
	.row_bytes = sizeof(struct sched_stored),
	.value = sched_value,
};
