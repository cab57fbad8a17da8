/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls, counted; see syscall_stats.h. */
#include "view/syscalls/syscall_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "view/calls/call_threads.h"
#include "view/syscalls/syscall_pairs.h"
#include "view/syscalls/syscall_where.h"

struct counter {
	struct syscall_stats *stats;
	const struct view_profile_filter *filter;
	struct kernel_view view;
	struct view_where *where; /* by id of an event; NULL: there are no conditions */
	struct syscall_pairs pairs;
	struct call_threads threads;
	struct call_thread_span *spans; /* by index of the pairs' threads */
	size_t span_room;
	bool by_call;
	uint8_t *selected; /* by string of a call: 0: not looked at, 1: no, 2: yes */
	size_t selected_room;
};

/* ---- rows */

static bool add_error(struct syscall_row *row, int error)
{
	row->errors++;
	for (size_t n = 0; n < row->error_count; n++)
		if (row->by_error[n].error == error)
			return row->by_error[n].calls++, true;
	if (!array_reserve(row->by_error, row->error_room, row->error_count + 1))
		return false;
	row->by_error[row->error_count++] = (struct syscall_error){ error, 1 };
	return true;
}

/* ---- what is selected */

static bool call_selected(struct counter *counter, uint32_t call)
{
	const struct view_globs *symbols = &counter->filter->symbols;

	if (!symbols->count)
		return true;
	if (!array_reserve_zeroed(counter->selected, counter->selected_room, (size_t)call + 1))
		return false;
	if (!counter->selected[call])
		counter->selected[call] = 1 + view_globs_match(symbols, counter->stats->strings.texts[call]);
	return counter->selected[call] == 2;
}

/* Find the group of a thread at a time. Return: 1: it is selected; 0; -ENOMEM. */
static int syscall_stats_find_group(struct counter *counter, size_t thread, uint64_t time, uint32_t *group)
{
	const uint32_t tid = counter->pairs.threads[thread].tid;
	struct call_thread_span *span;
	int error;

	if (!array_reserve_zeroed(counter->spans, counter->span_room, thread + 1))
		return -ENOMEM;
	span = &counter->spans[thread];
	if (!call_threads_has(span, tid, time)) {
		error = call_threads_find(&counter->threads, tid, time, span);
		if (error)
			return error;
	}
	*group = span->group;
	return span->selected;
}

/* ---- calls */

/* A call, with or without its ends. @begin, @end: 0: not in the trace; @result: NULL: unknown */
static int syscall_stats_count_call(struct counter *counter, size_t thread, uint32_t call, uint64_t begin,
				    uint64_t end, const int64_t *result)
{
	const uint64_t first = begin ? begin : end, last = end ? end : begin;
	struct syscall_row *row;
	uint32_t group = 0;
	int selected;

	if (first < counter->filter->from || (counter->filter->to && last >= counter->filter->to) ||
	    !call_selected(counter, call))
		return 0;
	selected = syscall_stats_find_group(counter, thread, last, &group);
	if (selected <= 0)
		return selected;
	row = (struct syscall_row *)call_rows_find(&counter->stats->rows, &counter->threads, group,
						   counter->by_call ? call : 0, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->row.calls++;
	if (result && kernel_is_error(*result) && !add_error(row, (int)-*result))
		return -ENOMEM;
	if (!begin || !end) {
		counter->stats->unbegun += !begin;
		counter->stats->unended += !end;
		return 0;
	}
	row->row.self = row->row.total += end - begin;
	return call_durations_add(&row->row.durations, end - begin) ? 0 : -ENOMEM;
}

/* @last: the thread as it was in the call */
static int count_unended(struct counter *counter, size_t thread, const struct syscall_thread *last,
			 uint32_t call)
{
	const uint64_t before = counter->stats->unended, begin = last->begin;
	const int error = call && !last->out && !last->needs
				  ? syscall_stats_count_call(counter, thread, call, begin, 0, NULL)
				  : 0;

	if (call && kernel_never_ends(counter->stats->strings.texts[call]))
		counter->stats->unended = before;
	return error;
}

/* A call begins. */
static int syscall_stats_enter(struct counter *counter, size_t number, uint32_t call, uint64_t begin,
			       const struct burin_record *record)
{
	struct syscall_thread *thread = &counter->pairs.threads[number];
	const struct syscall_thread last = *thread;
	const uint32_t id = record->event->id;

	thread->out = !view_where_end_holds(counter->where, id, record);
	thread->needs = view_where_needs(counter->where, id);
	return count_unended(counter, number, &last, syscall_enter(thread, call, begin));
}

/* A call ends. Without its begin, conditions of that do not hold. */
static int syscall_stats_leave(struct counter *counter, size_t number, const struct kernel_event *event,
			       const struct burin_record *record)
{
	struct syscall_thread *thread = &counter->pairs.threads[number];
	const struct syscall_thread last = *thread;
	const uint32_t id = record->event->id;
	uint32_t call = kernel_view_call(&counter->view, event, record), unended;
	uint64_t begin;
	int64_t result;
	bool paired;
	int error;

	if (!kernel_view_result(event, record, &result))
		return 0;
	call = kernel_view_ended(&counter->view, call, result, thread->call);
	paired = syscall_leave(thread, call, &begin, &unended);
	error = count_unended(counter, number, &last, unended);
	if (error || (!paired && !result && kernel_ends_twice(counter->stats->strings.texts[call])))
		return error;
	if ((paired ? last.out : view_where_needs(counter->where, id)) ||
	    !view_where_end_holds(counter->where, id, record))
		return 0;
	return syscall_stats_count_call(counter, number, call, paired ? begin : 0, record->time, &result);
}

static int syscall_stats_take_record(struct counter *counter, const struct kernel_event *event,
				     const struct burin_record *record)
{
	const size_t number = syscall_pairs_find(&counter->pairs, record->tid);
	const uint32_t call = kernel_view_call(&counter->view, event, record);
	struct syscall_thread *thread;
	uint64_t open, found;

	if (number == SIZE_MAX)
		return -ENOMEM;
	if (event->kind == KERNEL_ENTER)
		return syscall_stats_enter(counter, number, call, record->time, record);
	if (event->kind == KERNEL_LEAVE)
		return syscall_stats_leave(counter, number, event, record);
	thread = &counter->pairs.threads[number];
	open = thread->call == call ? thread->begin : 0;
	found = kernel_view_begin(&counter->view, record, open);
	if (found != open)
		return syscall_stats_enter(counter, number, call, found, record);
	thread->out = !view_where_end_holds(counter->where, record->event->id, record);
	return 0;
}

static int syscall_stats_count_all(struct counter *counter)
{
	struct burin_cursor_options options = { .size = sizeof(options), .to = counter->filter->to };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, counter->stats->trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		const struct kernel_event *event = kernel_view_event(&counter->view, record);

		result = 0;
		if (event->kind == KERNEL_ENTER || event->kind == KERNEL_LEAVE || event->kind == KERNEL_LATE)
			result = syscall_stats_take_record(counter, event, record);
	}
	burin_cursor_close(cursor);
	for (size_t n = 0; n < counter->pairs.count && !result; n++)
		result =
			count_unended(counter, n, &counter->pairs.threads[n], counter->pairs.threads[n].call);
	return result;
}

/* ---- the whole */

static int by_most(const void *a, const void *b)
{
	const struct syscall_error *one = a, *other = b;

	return number_order(other->calls, one->calls) ?: one->error - other->error;
}

static void syscall_stats_sum_up(struct counter *counter)
{
	struct syscall_stats *stats = counter->stats;

	for (size_t n = 0; n < stats->rows.count; n++) {
		struct syscall_row *row = (struct syscall_row *)stats->rows.rows[n];

		stats->calls += row->row.calls;
		stats->errors += row->errors;
		stats->rows.time += row->row.self;
		if (row->error_count)
			qsort(row->by_error, row->error_count, sizeof(*row->by_error), by_most);
	}
	for (size_t n = 0; n < counter->span_room && n < counter->pairs.count; n++)
		stats->threads += counter->spans[n].tid && counter->spans[n].selected;
}

int syscall_stats_make(struct syscall_stats *stats, const struct burin_trace *trace,
		       const struct view_profile_filter *filter, unsigned parts)
{
	struct counter counter = { .stats = stats, .filter = filter, .by_call = parts & 1u << VIEW_SYMBOL };
	int result;

	*stats = (struct syscall_stats){ .trace = trace };
	call_threads_init(&counter.threads, trace, filter, &stats->strings, parts);
	result = kernel_view_make(&counter.view, trace, &stats->strings);
	if (!result && !counter.view.has[KERNEL_ENTER] && !counter.view.has[KERNEL_LEAVE])
		result = -ENODATA;
	if (!result)
		result = syscall_where_make(&counter.where, &counter.view, &filter->where, &filter->symbols);
	if (!result)
		result = syscall_stats_count_all(&counter);
	if (!result && stats->strings.failed)
		result = -ENOMEM;
	syscall_stats_sum_up(&counter);
	kernel_view_free(&counter.view);
	view_where_free(counter.where);
	syscall_pairs_free(&counter.pairs);
	call_threads_free(&counter.threads);
	free(counter.spans);
	free(counter.selected);
	if (result)
		syscall_stats_free(stats);
	return result;
}

void syscall_stats_free(struct syscall_stats *stats)
{
	for (size_t n = 0; n < stats->rows.count; n++)
		free(((struct syscall_row *)stats->rows.rows[n])->by_error);
	call_rows_free(&stats->rows);
	view_strings_free(&stats->strings);
	*stats = (struct syscall_stats){ .trace = NULL };
}
