/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where threads spent their time; see sched_report.h.
 *
 * Counting comes first, rows afterwards. During the pass it is not known which threads are recorded ones
 * (sched_recorded() needs all records), nor their last names. So intervals are counted by thread index; at the end
 * each thread finds its row by its name and program, and threads of one row are added up.
 *
 * A tally is by thread, what, and stack. Each interval with a stack counts twice: in the tally of its stack, and in
 * that of all stacks. So a part's sum is right also where some of its waits have no stack.
 *
 * Times that are selected cut intervals at both sides. The pass begins at the trace's begin nevertheless: the state
 * of a thread at `from` follows from the records before. It ends at `to`, and the open intervals are closed there.
 *
 * A runnable interval without a waker follows a preemption: it counts as one, and has no latency.
 */
#include "view/sched/sched_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "read/trace.h"
#include "view/calls/call_threads.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_stacks.h"

enum tally_kind {
	TALLY_BLOCKED, /* id: string of what */
	TALLY_WAKER,   /* id: index of the waker */
};

/* What is counted for a thread and something else. */
struct tally {
	uint32_t thread, id;
	uint32_t stack; /* string; 0: of all stacks */
	enum tally_kind kind;
	uint64_t count, time;
};

/* What is counted for a thread. */
struct counts {
	uint64_t time[SCHED_STATES];
	uint64_t runs, preempted;
	struct call_durations latencies; /* of wake-ups */
};

struct maker {
	struct sched_report *report;
	const struct view_profile_filter *filter;
	struct kernel_view view;
	struct sched sched;
	struct sched_stacks stacks;
	uint64_t from, to;     /* ns */
	struct counts *counts; /* by thread */
	size_t counts_room;
	struct tally *tallies;
	size_t tally_count, tally_room;
	struct hash_table tally_numbers;
	struct call_threads threads;
	struct view_where *where;  /* of threads */
	struct sched_row **row_of; /* by thread; NULL: not selected */
};

/* ---- counting */

static struct tally *find_tally(struct maker *maker, const struct tally *key)
{
	const uint64_t hash = hash_pair(hash_pair(key->thread, key->id), hash_pair(key->kind, key->stack));
	struct tally *tally;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&maker->tally_numbers, hash, &at));) {
		tally = &maker->tallies[number - 1];
		if (tally->thread == key->thread && tally->id == key->id && tally->kind == key->kind &&
		    tally->stack == key->stack)
			return tally;
	}
	if (maker->tally_count == UINT32_MAX ||
	    !array_reserve(maker->tallies, maker->tally_room, maker->tally_count + 1) ||
	    !hash_table_reserve(&maker->tally_numbers))
		return NULL;
	tally = &maker->tallies[maker->tally_count++];
	*tally = *key;
	hash_table_add(&maker->tally_numbers, hash, (uint32_t)maker->tally_count);
	return tally;
}

/* Count an interval, as one of all stacks, and as one of its own. @key: which one, with its stack */
static int add_tally(struct maker *maker, struct tally key, uint64_t time)
{
	struct tally *tally;

	for (;; key.stack = 0) {
		tally = find_tally(maker, &key);
		if (!tally)
			return -ENOMEM;
		tally->count++;
		tally->time += time;
		if (!key.stack)
			return 0;
	}
}

static int count_blocked(struct maker *maker, const struct sched_interval *interval, uint64_t time)
{
	struct tally key = { .thread = interval->thread, .id = interval->what, .kind = TALLY_BLOCKED };

	if (interval->stack)
		key.stack = sched_stack_of(&maker->report->strings,
					   maker->report->strings.texts[interval->stack]);
	maker->report->has_stacks |= key.stack != 0;
	if (sched_stacks_exist(&maker->stacks))
		key.stack = sched_stack_join(&maker->report->strings, key.stack,
					     sched_stacks_sleeper(&maker->stacks,
								  maker->sched.threads[interval->thread].tid,
								  interval->begin, interval->end));
	return add_tally(maker, key, time);
}

static int count_waker(struct maker *maker, const struct sched_interval *interval, uint64_t time)
{
	struct tally key = { .thread = interval->thread, .id = interval->waker - 1, .kind = TALLY_WAKER };

	if (sched_stacks_exist(&maker->stacks))
		key.stack = sched_stacks_waker(&maker->stacks, maker->sched.threads[interval->thread].tid,
					       interval->begin);
	return add_tally(maker, key, time);
}

/* An interval that ended, cut to the selected times. */
static int count_interval(void *data, const struct sched_interval *interval)
{
	struct maker *maker = data;
	const uint64_t begin = interval->begin > maker->from ? interval->begin : maker->from,
		       end = interval->end < maker->to ? interval->end : maker->to;
	struct counts *counts;
	int error = 0;

	if (begin >= end)
		return 0;
	if (!array_reserve_zeroed(maker->counts, maker->counts_room, (size_t)interval->thread + 1))
		return -ENOMEM;
	counts = &maker->counts[interval->thread];
	counts->time[interval->state] += end - begin;
	counts->runs += interval->state == SCHED_RUNNING;
	if (interval->state == SCHED_BLOCKED)
		error = count_blocked(maker, interval, end - begin);
	if (error || interval->state != SCHED_RUNNABLE)
		return error;
	if (!interval->waker) {
		counts->preempted++;
		return 0;
	}
	if (!call_durations_add(&counts->latencies, end - begin))
		return -ENOMEM;
	return count_waker(maker, interval, end - begin);
}

static int sched_report_read_all(struct maker *maker)
{
	const struct burin_trace *trace = maker->report->trace;
	const struct burin_cursor_options options = { .size = sizeof(options), .to = maker->filter->to };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	uint64_t begin, end;
	int result = burin_cursor_open(&cursor, trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0)
		result = sched_read_record(&maker->sched, &maker->view, record,
					   sched_read_ns(trace, record->time));
	burin_cursor_close(cursor);
	burin_trace_range(trace, &begin, &end);
	if (maker->filter->to && maker->filter->to < end)
		end = maker->filter->to;
	return result ? result : sched_finish(&maker->sched, sched_read_ns(trace, end));
}

/* ---- rows */

static uint64_t sched_report_clip(const struct maker *maker, uint64_t ns)
{
	return ns < maker->from ? maker->from : ns > maker->to ? maker->to : ns;
}

/* The row of a thread, with the name that it had at its end. */
static int sched_report_add_thread(struct maker *maker, size_t number)
{
	const struct sched_thread *thread = &maker->sched.threads[number];
	const uint64_t wall = sched_report_clip(maker, thread->end) - sched_report_clip(maker, thread->begin);
	struct call_thread_span span = { .tid = 0 };
	struct sched_report *report = maker->report;
	struct counts *counts;
	struct sched_row *row;
	int error;

	if (!sched_recorded(&maker->sched, number) || number >= maker->counts_room || !wall)
		return 0;
	error = call_threads_find(&maker->threads, thread->tid,
				  burin_trace_ticks(report->trace, (int64_t)thread->end), &span);
	if (error || !span.selected)
		return error;
	row = (struct sched_row *)call_rows_find(&report->rows, &maker->threads, span.group, 0, sizeof(*row));
	if (!row)
		return -ENOMEM;
	counts = &maker->counts[number];
	maker->row_of[number] = row;
	row->threads++;
	row->row.self += counts->time[SCHED_RUNNING];
	row->row.total += wall;
	for (unsigned state = 0; state < SCHED_STATES; state++)
		row->time[state] += counts->time[state];
	row->runs += counts->runs;
	row->preempted += counts->preempted;
	return call_durations_join(&row->row.durations, &counts->latencies) ? 0 : -ENOMEM;
}

/* "worker", "worker/1234" in rows by thread id; an interrupt is no thread. */
static uint32_t name_waker(struct maker *maker, const struct sched_thread *waker)
{
	const struct burin_thread *thread =
		burin_trace_thread(maker->report->trace, waker->tid,
				   burin_trace_ticks(maker->report->trace, (int64_t)waker->end));
	char text[128];

	if (!waker->tid)
		return view_string(&maker->report->strings, "[interrupt]");
	if (maker->threads.parts & 1u << VIEW_TID)
		snprintf(text, sizeof(text), "%.96s/%" PRIu32, thread ? thread->name : "[unknown]",
			 waker->tid);
	else
		snprintf(text, sizeof(text), "%.96s", thread ? thread->name : "[unknown]");
	return view_string(&maker->report->strings, text);
}

static int sched_report_by_text(const void *a, const void *b)
{
	const struct sched_part *one = a, *other = b;

	return number_order(one->text, other->text) ?: number_order(one->stack, other->stack);
}

static int sched_report_by_time(const void *a, const void *b)
{
	const struct sched_part *one = a, *other = b;

	return number_order(other->time, one->time) ?: sched_report_by_text(a, b);
}

static int sched_report_by_count(const void *a, const void *b)
{
	const struct sched_part *one = a, *other = b;

	return number_order(other->count, one->count) ?: sched_report_by_time(a, b);
}

/* Put parts of one text together, and sort. */
static void sched_report_merge(struct sched_parts *parts, int (*order)(const void *a, const void *b))
{
	size_t kept = 0;

	if (!parts->count)
		return;
	qsort(parts->parts, parts->count, sizeof(*parts->parts), sched_report_by_text);
	for (size_t n = 1; n < parts->count; n++) {
		if (sched_report_by_text(&parts->parts[kept], &parts->parts[n]) != 0) {
			parts->parts[++kept] = parts->parts[n];
			continue;
		}
		parts->parts[kept].count += parts->parts[n].count;
		parts->parts[kept].time += parts->parts[n].time;
	}
	parts->count = kept + 1;
	qsort(parts->parts, parts->count, sizeof(*parts->parts), order);
}

static struct sched_parts *parts_of(struct sched_row *row, const struct tally *tally)
{
	if (tally->kind == TALLY_WAKER)
		return tally->stack ? &row->waker_stacks : &row->wakers;
	return tally->stack ? &row->blocked_stacks : &row->blocked;
}

static int add_parts(struct maker *maker)
{
	for (size_t n = 0; n < maker->tally_count; n++) {
		const struct tally *tally = &maker->tallies[n];
		struct sched_row *row = maker->row_of[tally->thread];
		struct sched_parts *parts;

		if (!row)
			continue;
		parts = parts_of(row, tally);
		if (!array_reserve(parts->parts, parts->room, parts->count + 1))
			return -ENOMEM;
		parts->parts[parts->count++] = (struct sched_part){
			.text = tally->kind == TALLY_WAKER
					? name_waker(maker, &maker->sched.threads[tally->id])
					: tally->id,
			.stack = tally->stack,
			.count = tally->count,
			.time = tally->time,
		};
	}
	return 0;
}

static int make_rows(struct maker *maker)
{
	struct sched_report *report = maker->report;
	int result = 0;

	maker->row_of = calloc(maker->sched.count + 1, sizeof(struct sched_row *));
	if (!maker->row_of)
		return -ENOMEM;
	for (size_t n = 0; n < maker->sched.count && !result; n++)
		result = sched_report_add_thread(maker, n);
	if (!result)
		result = add_parts(maker);
	for (size_t n = 0; n < report->rows.count; n++) {
		struct sched_row *row = (struct sched_row *)report->rows.rows[n];

		sched_report_merge(&row->blocked, sched_report_by_time);
		sched_report_merge(&row->wakers, sched_report_by_count);
		sched_report_merge(&row->blocked_stacks, sched_report_by_time);
		sched_report_merge(&row->waker_stacks, sched_report_by_count);
		report->threads += row->threads;
		report->wall += row->row.total;
		for (unsigned state = 0; state < SCHED_STATES; state++)
			report->time[state] += row->time[state];
	}
	call_rows_sort(&report->rows, CALL_BY_SELF);
	return result;
}

/* ---- the whole */

static void sched_report_free_maker(struct maker *maker)
{
	for (size_t n = 0; n < maker->counts_room; n++)
		call_durations_free(&maker->counts[n].latencies);
	free(maker->counts);
	free(maker->tallies);
	free(maker->row_of);
	hash_table_free(&maker->tally_numbers);
	call_threads_free(&maker->threads);
	view_where_free(maker->where);
	kernel_view_free(&maker->view);
	sched_free(&maker->sched);
	sched_stacks_free(&maker->stacks);
}

int sched_report_make(struct sched_report *report, const struct burin_trace *trace,
		      const struct view_profile_filter *filter, unsigned parts)
{
	struct maker maker = { .report = report,
			       .filter = filter,
			       .from = sched_read_ns(trace, filter->from),
			       .to = filter->to ? sched_read_ns(trace, filter->to) : UINT64_MAX };
	int result;

	*report = (struct sched_report){ .trace = trace };
	if (!filter->from)
		maker.from = 0;
	maker.sched.closed = count_interval;
	maker.sched.data = &maker;
	call_threads_init(&maker.threads, trace, filter, &report->strings, parts);
	result = sched_read_begin(&maker.sched, &maker.view, trace, &report->strings);
	if (!result)
		result = view_where_make_tasks(&maker.where, trace, &filter->where);
	maker.threads.where = maker.where;
	report->has_wakes = !result && maker.view.has[KERNEL_WAKING];
	if (!result)
		result = sched_stacks_make(&maker.stacks, trace, &report->strings);
	report->has_stacks = sched_stacks_exist(&maker.stacks);
	if (!result)
		result = sched_report_read_all(&maker);
	if (!result)
		result = make_rows(&maker);
	report->missing = sched_missing(&maker.sched, report->has_wakes);
	if (!result && report->strings.failed)
		result = -ENOMEM;
	sched_report_free_maker(&maker);
	if (result)
		sched_report_free(report);
	return result;
}

void sched_report_free(struct sched_report *report)
{
	for (size_t n = 0; n < report->rows.count; n++) {
		struct sched_row *row = (struct sched_row *)report->rows.rows[n];

		free(row->blocked.parts);
		free(row->wakers.parts);
		free(row->blocked_stacks.parts);
		free(row->waker_stacks.parts);
	}
	call_rows_free(&report->rows);
	view_strings_free(&report->strings);
	*report = (struct sched_report){ .trace = NULL };
}
