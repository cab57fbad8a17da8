/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A slice of time of a replay; see replay.h. Its records give the ends of calls and the events, in order. The begins
 * are those of the same calls and of the calls that cross the slice's end, sorted. Both are merged, thread by thread
 * a stack of open calls is kept, and each call and event is printed at its place.
 *
 * A call belongs to a slice in one of four ways: it begins and ends there (its record says both), it ends there and
 * began before (`active`, and a record), it begins there and ends later (`crossing`), or it is around all of it
 * (`active` only). `active` moves on from slice to slice of a worker, which get ever later ones; for an earlier slice
 * it is made from the begin (find_active()).
 *
 * Workers share nothing that they write: the job's crossing calls are complete before. view_ordered puts their
 * outputs in the order of slices.
 *
 * A begin and an end in one tick need an order. Of two begins the lower depth comes first. At an end, its own begin
 * comes before it, and so do those of calls around it that began in that tick (replay_slice_is_before()).
 *
 * An end finds its begin by all that both have, from the top down: a forged trace need not have ends in the order of
 * begins. If there is none, the begin was left out, and so is the end.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "read/profile/profile_parts.h"
#include "read/trace.h"
#include "view/calls/replay/replay_parts.h"

/* A record of the slice: the end of a call, or an event. */
struct item {
	struct replay_call call;
	uint64_t time;
	size_t text; /* of an event, in `texts`; SIZE_MAX: it is a call */
	size_t bytes;
};

struct replay_worker {
	struct burin_cursor *cursor;
	struct view_line_formatter formatter;
	struct replay_threads threads;
	struct replay_calls active; /* calls that were open when the last slice began */
	size_t next;		    /* the first crossing call that is not in `active` */
	size_t last;		    /* number of the last slice + 1 */
	/* Of the slice: */
	struct replay_calls begins;
	struct item *items;
	size_t item_count, item_room;
	struct view_buffer texts;
	struct arena values;
};

/* A slice while it is rendered. */
struct slice {
	struct replay_job *job;
	struct replay_worker *worker;
	struct view_ordered *ordered;
	struct view_buffer *out;
	uint64_t begin, end; /* ticks; end: 0: none */
	size_t number;
};

bool replay_workers_make(struct replay_job *job)
{
	job->workers = calloc(job->replay->threads, sizeof(*job->workers));
	for (unsigned n = 0; job->workers && n < job->replay->threads; n++)
		job->workers[n].formatter.lines = &job->lines;
	return job->workers != NULL;
}

void replay_workers_free(struct replay_job *job)
{
	for (unsigned n = 0; job->workers && n < job->replay->threads; n++) {
		struct replay_worker *worker = &job->workers[n];

		burin_cursor_close(worker->cursor);
		replay_threads_free(&worker->threads);
		free(worker->active.list);
		free(worker->begins.list);
		free(worker->items);
		view_buffer_free(&worker->texts);
		arena_free(&worker->values);
	}
	free(job->workers);
}

/* ---- The contents of a slice */

/* Bring `active` to the begin of this slice. */
static int find_active(const struct slice *slice)
{
	struct replay_worker *worker = slice->worker;
	const struct replay_calls *crossing = &slice->job->crossing;
	size_t kept = 0;
	int result = 0;

	if (worker->last > slice->number) {
		worker->active.count = 0;
		worker->next = 0;
	}
	worker->last = slice->number + 1;
	for (size_t n = 0; n < worker->active.count; n++)
		if (worker->active.list[n].end >= slice->begin)
			worker->active.list[kept++] = worker->active.list[n];
	worker->active.count = kept;
	for (; !result && worker->next < crossing->count && crossing->list[worker->next].begin < slice->begin;
	     worker->next++)
		if (crossing->list[worker->next].end >= slice->begin)
			result = replay_calls_add(&worker->active, &crossing->list[worker->next]);
	return result;
}

/* The crossing calls that begin in this slice. */
static int find_beginning(const struct slice *slice)
{
	struct replay_worker *worker = slice->worker;
	const struct replay_calls *crossing = &slice->job->crossing;
	int result = 0;

	worker->begins.count = 0;
	for (size_t n = worker->next; !result && n < crossing->count; n++) {
		struct replay_call call = crossing->list[n];

		if (slice->end && call.begin >= slice->end)
			break;
		call.order = UINT32_MAX;
		result = replay_calls_add(&worker->begins, &call);
	}
	return result;
}

static int add_item(struct replay_worker *worker, const struct item *item)
{
	if (!array_reserve(worker->items, worker->item_room, worker->item_count + 1))
		return -ENOMEM;
	worker->items[worker->item_count++] = *item;
	return 0;
}

static int replay_slice_add_call(const struct slice *slice, struct replay_thread *thread,
				 struct replay_call *call)
{
	struct replay_worker *worker = slice->worker;
	int result = 0;

	call->order = (uint32_t)worker->item_count;
	if (thread->last_call > call->begin)
		call->flags |= REPLAY_CALLS;
	if (thread->last_event > call->begin)
		call->flags |= REPLAY_EVENTS;
	thread->last_call = call->end;
	if (call->begin >= slice->begin)
		result = replay_calls_add(&worker->begins, call);
	return result ? result
		      : add_item(worker,
				 &(struct item){ .call = *call, .time = call->end, .text = SIZE_MAX });
}

static int replay_slice_add_event(const struct slice *slice, struct replay_thread *thread,
				  const struct burin_record *record)
{
	struct replay_worker *worker = slice->worker;
	struct item item = { .call = { .tid = record->tid,
				       .stack = read_calls_stack(slice->job->lines.calls.calls, record->tid,
								 record->time) },
			     .time = record->time,
			     .text = worker->texts.used };

	thread->last_event = record->time;
	if (slice->job->replay->style.json)
		view_line_formatter_render(&worker->formatter, record, &worker->texts);
	else
		replay_line_event(slice->job, &(struct replay_line){ &worker->formatter, record, NULL, 0 },
				  &worker->texts);
	item.bytes = worker->texts.used - item.text;
	return worker->texts.failed ? -ENOMEM : add_item(worker, &item);
}

static int read_records(const struct slice *slice)
{
	struct replay_worker *worker = slice->worker;
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = slice->begin,
						      .to = slice->end };
	const struct burin_record *record;
	int result = worker->cursor ? read_cursor_span(worker->cursor, slice->begin, slice->end)
				    : burin_cursor_open(&worker->cursor, slice->job->trace, &options);

	worker->item_count = 0;
	worker->texts.used = 0;
	arena_free(&worker->values);
	while (!result && (result = burin_cursor_next(worker->cursor, &record)) > 0) {
		struct replay_thread *thread = replay_thread_find(
			&worker->threads, replay_key_at(slice->job, record), slice->number + 1);
		struct replay_call call;

		result = thread ? 0 : -ENOMEM;
		if (thread && replay_take(slice->job, &worker->formatter, record, &call))
			result = replay_take_values(slice->job, record, &worker->values, &call)
					 ?: replay_slice_add_call(slice, thread, &call);
		else if (thread && replay_has_event(slice->job, &worker->formatter, record))
			result = replay_slice_add_event(slice, thread, record);
	}
	return result;
}

/* ---- Printing */

static const struct burin_event no_event;

static void print_call(const struct slice *slice, const struct replay_thread *thread,
		       const struct replay_call *call, enum replay_form form, unsigned level)
{
	const struct burin_record record = { .tid = call->tid,
					     .time = form == REPLAY_END ? call->end : call->begin,
					     .event = &no_event };
	const struct replay_line line = { &slice->worker->formatter, &record, call, thread->above + level };

	replay_line_call(slice->job, &line, form, slice->out);
}

static unsigned level_of(const struct replay_thread *thread, const struct replay_call *call)
{
	return (uint16_t)(call->depth - thread->base);
}

static bool is_leaf(const struct replay_job *job, const struct replay_thread *thread,
		    const struct replay_call *call)
{
	const bool deepest = job->replay->depth && level_of(thread, call) + 1 >= job->replay->depth;

	return !(call->flags & REPLAY_EVENTS) && (deepest || !(call->flags & REPLAY_CALLS));
}

/* Whether a call that begins is printed. */
static bool replay_slice_is_shown(const struct replay_job *job, const struct replay_thread *thread,
				  const struct replay_call *call)
{
	return (!job->functions || thread->rooted) &&
	       (!job->replay->depth || level_of(thread, call) < job->replay->depth);
}

/* A selected function begins, and none is open: the calls are printed from here. */
static void begin_root(const struct slice *slice, struct replay_thread *thread, struct replay_call *call,
		       bool print)
{
	size_t count = slice->job->replay->backtrace;

	if (count > thread->open.count)
		count = thread->open.count;
	thread->rooted = true;
	thread->base = call->depth;
	thread->above = 0;
	call->flags |= REPLAY_ROOT;
	for (size_t n = thread->open.count - count; print && n < thread->open.count; n++) {
		struct replay_call caller = thread->open.list[n];

		caller.begin = call->begin;
		print_call(slice, thread, &caller, REPLAY_ABOVE,
			   (unsigned)(n - (thread->open.count - count)));
	}
	thread->above = (uint16_t)count;
}

static int replay_slice_begin_call(const struct slice *slice, struct replay_call call, bool print)
{
	const struct replay_job *job = slice->job;
	struct replay_thread *thread = replay_thread_find(&slice->worker->threads, replay_key(&call),
							  2 * job->slices + slice->number);
	int result;

	if (!thread)
		return -ENOMEM;
	if (job->functions && !thread->rooted && job->functions[call.function])
		begin_root(slice, thread, &call, print);
	if (!replay_slice_is_shown(job, thread, &call))
		call.flags |= REPLAY_HIDDEN;
	result = replay_calls_add(&thread->open, &call);
	if (result || !print || (call.flags & REPLAY_HIDDEN))
		return result;
	print_call(slice, thread, &call, is_leaf(job, thread, &call) ? REPLAY_LEAF : REPLAY_BEGIN,
		   level_of(thread, &call));
	return view_ordered_pause(slice->ordered, slice->number, slice->out);
}

/* The open call of a record; NULL: it began before all that is printed. */
static struct replay_call *replay_slice_find_open(const struct replay_thread *thread,
						  const struct replay_call *call)
{
	for (size_t n = thread->open.count; n > 0; n--) {
		struct replay_call *open = &thread->open.list[n - 1];

		if (open->begin == call->begin && open->depth == call->depth &&
		    open->function == call->function && open->end == call->end)
			return open;
	}
	return NULL;
}

static int replay_slice_end_call(const struct slice *slice, const struct item *item)
{
	struct replay_thread *thread = replay_thread_find(&slice->worker->threads, replay_key(&item->call),
							  2 * slice->job->slices + slice->number);
	struct replay_call *open = thread ? replay_slice_find_open(thread, &item->call) : NULL, call;

	if (!open)
		return thread ? 0 : -ENOMEM;
	call = *open;
	for (struct replay_call *last = &thread->open.list[--thread->open.count]; open < last; open++)
		open[0] = open[1];
	if (!(call.flags & REPLAY_HIDDEN) && !is_leaf(slice->job, thread, &call))
		print_call(slice, thread, &call, REPLAY_END, level_of(thread, &call));
	if (call.flags & REPLAY_ROOT)
		thread->rooted = false;
	return view_ordered_pause(slice->ordered, slice->number, slice->out);
}

static int replay_slice_print_event(const struct slice *slice, const struct item *item)
{
	const struct replay_job *job = slice->job;
	const struct replay_thread *thread = replay_thread_find(
		&slice->worker->threads, replay_key(&item->call), 2 * job->slices + slice->number);
	const char *text = slice->worker->texts.bytes + item->text;
	unsigned level = 0;

	if (!thread)
		return -ENOMEM;
	if (job->functions && !thread->rooted)
		return 0;
	if (thread->open.count)
		level = level_of(thread, &thread->open.list[thread->open.count - 1]) + 1;
	if (job->replay->depth && level > job->replay->depth)
		level = job->replay->depth;
	if (job->replay->style.json)
		view_buffer_put(slice->out, text, item->bytes);
	else
		replay_line_indent(text, item->bytes, thread->above + level, slice->out);
	return view_ordered_pause(slice->ordered, slice->number, slice->out);
}

/* Whether a begin comes before an item. Of an item at the same time, a call's own begin and those before it do. */
static bool replay_slice_is_before(const struct replay_call *begin, const struct item *item)
{
	if (begin->begin != item->time)
		return begin->begin < item->time;
	return item->text != SIZE_MAX ||
	       (item->call.begin == item->time && begin->order <= item->call.order) ||
	       (item->call.begin == item->time && begin->depth < item->call.depth);
}

static int print_items(const struct slice *slice)
{
	const struct replay_worker *worker = slice->worker;
	const struct replay_calls *begins = &worker->begins;
	size_t at = 0;
	int result = 0;

	for (size_t n = 0; !result && n < worker->item_count; n++) {
		const struct item *item = &worker->items[n];

		while (!result && at < begins->count && replay_slice_is_before(&begins->list[at], item))
			result = replay_slice_begin_call(slice, begins->list[at++], true);
		if (!result)
			result = item->text == SIZE_MAX ? replay_slice_end_call(slice, item)
							: replay_slice_print_event(slice, item);
	}
	while (!result && at < begins->count)
		result = replay_slice_begin_call(slice, begins->list[at++], true);
	return result;
}

int replay_slice(void *data, unsigned number, size_t slice_number, struct view_ordered *ordered,
		 struct view_buffer *out)
{
	struct replay_job *job = data;
	const struct slice slice = { job,	  &job->workers[number],     ordered,
				     out,	  job->bounds[slice_number], job->bounds[slice_number + 1],
				     slice_number };
	int result = find_active(&slice);

	if (!result)
		result = find_beginning(&slice);
	if (!result)
		result = read_records(&slice);
	if (result)
		return result;
	replay_calls_sort(&slice.worker->begins);
	for (size_t n = 0; !result && n < slice.worker->active.count; n++)
		result = replay_slice_begin_call(&slice, slice.worker->active.list[n], false);
	return result ? result : print_items(&slice);
}
