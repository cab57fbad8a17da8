/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls and threads of a replay, and the first pass; see replay.h.
 *
 * The first pass finds calls that cross the end of a slice. Without it a slice could not be printed: its records have
 * the calls that end there, and the others are not known before the trace's end. It also notes whether something lies
 * within such a call (REPLAY_CALLS, REPLAY_EVENTS), which decides whether it is printed as a block or as a leaf.
 *
 * Ranges of slices are read at once (replay_calls_walk()). A range cannot know what ended in earlier ranges within a call that
 * began there. join_range() adds that afterwards, range by range in order of time: for each thread, the last call
 * that ended and the last event are enough, since only the latest of them decides.
 *
 * Threads share the open calls. replay_calls_forget_ended() sets one bit of one of them, atomically, and none reads it before all
 * threads have ended.
 *
 * An open call may have a record, if it ended while the trace was written. Then the record counts, and the open call
 * is hidden. It is known by begin, thread, depth and function.
 *
 * replay_thread_find() forgets a thread's state when the span is another one. So one table serves the reading and the
 * printing of each slice, without being cleared: numbers of slices, and numbers above them for the printing, are the
 * spans.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "read/profile/profile_parts.h"
#include "view/calls/replay/replay_parts.h"
#include "view/records/call_values_text.h"

int replay_calls_add(struct replay_calls *calls, const struct replay_call *call)
{
	if (!array_reserve(calls->list, calls->room, calls->count + 1))
		return -ENOMEM;
	calls->list[calls->count++] = *call;
	return 0;
}

static int by_begin(const void *one, const void *other)
{
	const struct replay_call *a = one, *b = other;

	return number_order(a->begin, b->begin) ?: number_order(a->depth, b->depth)
							   ?: number_order(a->order, b->order);
}

void replay_calls_sort(struct replay_calls *calls)
{
	if (calls->count)
		qsort(calls->list, calls->count, sizeof(*calls->list), by_begin);
}

static struct replay_thread *begin_anew(struct replay_thread *thread, uint64_t span)
{
	if (thread->span == span)
		return thread;
	thread->span = span;
	thread->last_call = thread->last_event = 0;
	thread->open.count = 0;
	thread->rooted = false;
	thread->base = thread->above = 0;
	return thread;
}

struct replay_thread *replay_thread_find(struct replay_threads *threads, uint64_t key, uint64_t span)
{
	const uint64_t hash = hash_pair(key, 0);
	uint32_t number = threads->last;
	size_t at = 0;

	if (number && threads->list[number - 1].key == key)
		return begin_anew(&threads->list[number - 1], span);
	while ((number = hash_table_next(&threads->numbers, hash, &at)))
		if (threads->list[number - 1].key == key)
			break;
	if (!number) {
		if (!array_reserve(threads->list, threads->room, threads->count + 1) ||
		    !hash_table_reserve(&threads->numbers))
			return NULL;
		threads->list[threads->count++] = (struct replay_thread){ .key = key, .span = span };
		number = (uint32_t)threads->count;
		hash_table_add(&threads->numbers, hash, number);
	}
	threads->last = number;
	return begin_anew(&threads->list[number - 1], span);
}

uint64_t replay_key_at(const struct replay_job *job, const struct burin_record *record)
{
	return call_stack_key(read_calls_stack(job->lines.calls.calls, record->tid, record->time),
			      record->tid);
}

void replay_threads_free(struct replay_threads *threads)
{
	for (size_t n = 0; n < threads->count; n++)
		free(threads->list[n].open.list);
	free(threads->list);
	hash_table_free(&threads->numbers);
}

static bool replay_calls_is_selected(const struct replay_job *job, struct view_line_formatter *formatter,
				     const struct burin_record *record)
{
	const struct view_replay *replay = job->replay;
	const struct view_thread_label *label;

	if (replay->tids.count && !view_set_has(&replay->tids, record->tid))
		return false;
	if (job->where && !view_where_holds(job->where, record))
		return false;
	if (!replay->pids.count)
		return true;
	label = view_line_formatter_label(formatter, record);
	return label->has_pid && view_set_has(&replay->pids, label->pid);
}

bool replay_take(const struct replay_job *job, struct view_line_formatter *formatter,
		 const struct burin_record *record, struct replay_call *call)
{
	struct burin_call found;

	call->begin = UINT64_MAX;
	if (burin_calls_call(job->lines.calls.calls, record, &found))
		return false;
	*call = (struct replay_call){ .begin = found.begin,
				      .end = found.end,
				      .function = found.function,
				      .tid = found.tid,
				      .stack = found.stack,
				      .depth = (uint16_t)found.depth };
	return replay_calls_is_selected(job, formatter, record) &&
	       (!job->replay->min_ns || view_call_ns(job->trace, &found) >= job->replay->min_ns);
}

int replay_take_values(const struct replay_job *job, const struct burin_record *record, struct arena *arena,
		       struct replay_call *call)
{
	struct burin_call_values values;
	struct view_buffer text = { .used = 0 };
	struct json json;

	if (!view_values_find(job->lines.calls.calls, record, &values))
		return 0;
	if (job->replay->style.json) {
		json_begin_object(&json, &text, 0);
		view_values_json(record, &values, &json);
		text.used = (size_t)(json.at - text.bytes);
	} else {
		view_values_arguments(record, &values, &text);
		view_buffer_print(&text, "\n");
		view_values_result(record, &values, &text);
	}
	if (!text.failed)
		call->values = arena_keep(arena, text.bytes, text.used);
	view_buffer_free(&text);
	return call->values ? 0 : -ENOMEM;
}

bool replay_has_event(const struct replay_job *job, struct view_line_formatter *formatter,
		      const struct burin_record *record)
{
	return job->events[record->event->id - 1] && replay_calls_is_selected(job, formatter, record);
}

/* The open calls, to find those that have a record, too: they ended while the trace was written. */
struct open_calls {
	struct replay_calls calls;
	struct hash_table numbers;
};

static int replay_calls_add_open(struct replay_job *job, struct open_calls *open)
{
	const struct burin_calls *calls = job->lines.calls.calls;
	const struct view_replay *replay = job->replay;
	struct burin_call call;

	for (uint32_t n = 0; !burin_calls_open_call(calls, n, &call); n++) {
		const struct burin_record *record = burin_calls_open_record(calls, n);
		struct replay_call added = { .begin = call.begin,
					     .end = UINT64_MAX,
					     .function = call.function,
					     .tid = call.tid,
					     .stack = call.stack,
					     .depth = (uint16_t)call.depth,
					     .flags = REPLAY_OPEN };

		/* The table has the pid. */
		if ((replay->tids.count && !view_set_has(&replay->tids, call.tid)) ||
		    (replay->pids.count && !view_set_has(&replay->pids, call.pid)) ||
		    (replay->min_ns && view_call_ns(job->trace, &call) < replay->min_ns) ||
		    !call_where_open_holds(job->where, job->trace, calls, n, &call))
			continue;
		if ((record && replay_take_values(job, record, &job->values[0], &added)) ||
		    replay_calls_add(&open->calls, &added) || !hash_table_reserve(&open->numbers))
			return -ENOMEM;
		hash_table_add(&open->numbers, hash_pair(call.begin, call.tid), (uint32_t)open->calls.count);
	}
	return 0;
}

static void replay_calls_forget_ended(struct open_calls *open, const struct replay_call *call)
{
	size_t at = 0;
	uint32_t number;

	while ((number = hash_table_next(&open->numbers, hash_pair(call->begin, call->tid), &at))) {
		struct replay_call *found = &open->calls.list[number - 1];

		if (found->begin == call->begin && found->tid == call->tid && found->depth == call->depth &&
		    found->function == call->function)
			__atomic_fetch_or(&found->flags, REPLAY_HIDDEN,
					  __ATOMIC_RELAXED); /* threads of replay_calls_walk_all() */
	}
}

static void note_within(struct replay_call *call, const struct replay_thread *thread)
{
	if (thread->last_call > call->begin)
		call->flags |= REPLAY_CALLS;
	if (thread->last_event > call->begin)
		call->flags |= REPLAY_EVENTS;
}

static int keep_open(struct replay_job *job, struct replay_threads *threads, struct open_calls *open)
{
	replay_calls_sort(&open->calls);
	/* The innermost first: what is open within a call is within it. */
	for (size_t n = open->calls.count; n > 0; n--) {
		struct replay_call *call = &open->calls.list[n - 1];
		struct replay_thread *thread = replay_thread_find(threads, replay_key(call), 1);

		if (call->flags & REPLAY_HIDDEN)
			continue;
		if (!thread)
			return -ENOMEM;
		note_within(call, thread);
		if (thread->last_call < call->begin)
			thread->last_call = call->begin;
		if (replay_calls_add(&job->crossing, call))
			return -ENOMEM;
	}
	return 0;
}

uint64_t replay_begin(const struct burin_trace *trace, const struct burin_calls *calls)
{
	struct burin_call call;
	uint64_t begin, end;

	burin_trace_range(trace, &begin, &end);
	for (uint32_t n = 0; !burin_calls_open_call(calls, n, &call); n++)
		begin = call.begin < begin || !begin ? call.begin : begin;
	return begin;
}

/* Slices that one thread goes through in the first pass. */
struct range {
	struct replay_job *job;
	struct open_calls *open;
	size_t first, last; /* slices; `last` exclusive. The last range goes on to the end of the trace */
	struct view_line_formatter *formatter;
	struct replay_threads threads;
	struct replay_calls crossing;
	struct arena *values; /* of these calls */
	uint64_t begin;	      /* the first begin of a call */
	pthread_t thread;
	bool started;
	int result;
};

static int walk_record(struct range *range, size_t slice, const struct burin_record *record)
{
	struct replay_thread *thread =
		replay_thread_find(&range->threads, replay_key_at(range->job, record), 1);
	struct replay_call call;
	bool is_call;
	int result = 0;

	if (!thread)
		return -ENOMEM;
	is_call = replay_take(range->job, range->formatter, record, &call);
	if (call.begin < range->begin)
		range->begin = call.begin;
	if (is_call) {
		if (range->open->numbers.count)
			replay_calls_forget_ended(range->open, &call);
		if (call.begin < range->job->bounds[slice]) {
			note_within(&call, thread);
			if (call.begin <
			    range->job->replay->from) /* its end is printed, whatever it called */
				call.flags |= REPLAY_CALLS;
			result = replay_take_values(range->job, record, range->values, &call)
					 ?: replay_calls_add(&range->crossing, &call);
		}
		thread->last_call = call.end;
	} else if (replay_has_event(range->job, range->formatter, record)) {
		thread->last_event = record->time;
	}
	return result;
}

static void *replay_calls_walk(void *data)
{
	struct range *range = data;
	const uint64_t *bounds = range->job->bounds;
	const struct burin_cursor_options options = {
		.size = sizeof(options),
		.from = bounds[range->first],
		.to = range->last < range->job->slices ? bounds[range->last] : 0,
	};
	const struct burin_record *record;
	struct burin_cursor *cursor = NULL;
	size_t slice = range->first;
	int result = burin_cursor_open(&cursor, range->job->trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		while (slice < range->last && bounds[slice + 1] && record->time >= bounds[slice + 1])
			slice++;
		result = walk_record(range, slice, record);
	}
	burin_cursor_close(cursor);
	range->result = result;
	return NULL;
}

/* A thread that the ranges before have seen: what ended there lies within calls that began before. */
static int join_range(struct replay_job *job, struct replay_threads *threads, const struct range *range)
{
	for (size_t n = 0; n < range->crossing.count; n++) {
		struct replay_call call = range->crossing.list[n];
		struct replay_thread *thread = replay_thread_find(threads, replay_key(&call), 1);

		if (!thread)
			return -ENOMEM;
		note_within(&call, thread);
		if (replay_calls_add(&job->crossing, &call))
			return -ENOMEM;
	}
	for (size_t n = 0; n < range->threads.count; n++) {
		const struct replay_thread *seen = &range->threads.list[n];
		struct replay_thread *thread = replay_thread_find(threads, seen->key, 1);

		if (!thread)
			return -ENOMEM;
		if (seen->last_call > thread->last_call)
			thread->last_call = seen->last_call;
		if (seen->last_event > thread->last_event)
			thread->last_event = seen->last_event;
	}
	return 0;
}

static void start_range(struct range *range)
{
	range->formatter = calloc(1, sizeof(*range->formatter));
	if (!range->formatter) {
		range->result = -ENOMEM;
		return;
	}
	range->formatter->lines = &range->job->lines;
	range->started = range->last < range->job->slices &&
			 !pthread_create(&range->thread, NULL, replay_calls_walk, range);
	if (!range->started)
		replay_calls_walk(range);
}

static void free_range(struct range *range)
{
	replay_threads_free(&range->threads);
	free(range->crossing.list);
	free(range->formatter);
}

/* Go through the records from the begin of the first slice to the end of the trace, in several ranges of slices at once. */
static int replay_calls_walk_all(struct replay_job *job, struct replay_threads *threads,
				 struct open_calls *open)
{
	const size_t most = job->slices < REPLAY_RANGES ? job->slices : REPLAY_RANGES;
	const size_t count = job->replay->threads < most ? job->replay->threads : most;
	struct range ranges[REPLAY_RANGES] = { 0 };
	int result = 0;

	for (size_t n = 0; n < count; n++) {
		ranges[n] = (struct range){ .job = job,
					    .open = open,
					    .values = &job->values[n],
					    .begin = UINT64_MAX,
					    .first = job->slices * n / count,
					    .last = job->slices * (n + 1) / count };
		start_range(&ranges[n]); /* the last one in this thread */
	}
	for (size_t n = 0; n < count; n++) {
		if (ranges[n].started)
			pthread_join(ranges[n].thread, NULL);
		if (!result)
			result = ranges[n].result ? ranges[n].result : join_range(job, threads, &ranges[n]);
		if (ranges[n].begin < job->begin)
			job->begin = ranges[n].begin;
		free_range(&ranges[n]);
	}
	return result;
}

int replay_find_crossing(struct replay_job *job)
{
	struct replay_threads threads = { .count = 0 };
	struct open_calls open = { .calls.count = 0 };
	int result = replay_calls_add_open(job, &open);

	job->begin = replay_begin(job->trace, job->lines.calls.calls);
	if (!result)
		result = replay_calls_walk_all(job, &threads, &open);
	if (!result)
		result = keep_open(job, &threads, &open);
	if (!result)
		replay_calls_sort(&job->crossing);
	replay_threads_free(&threads);
	free(open.calls.list);
	hash_table_free(&open.numbers);
	return result;
}
