/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans, joined from items and counted; see span_stats.h.
 *
 * Items come in order of time. A thread has a stack of frames, its open spans: an end closes the innermost frame of its definition,
 * and the frames above it have no end. When a frame is closed, its time is added to the children of the frame below. So at its own end a
 * frame knows how long its children took, and nothing of a span that has ended is kept.
 *
 * A call is one item, at its end: spans within it have ended before, and count as children of the frame below both. They are moved to the call
 * then. For this, and only if calls are counted, ->done keeps the spans that ended within the innermost frame. Without any frame
 * nothing closes that list: beyond DONE_MAX its older half is merged in pairs, so a call that contains more has children that are one pair
 * too many or too few.
 *
 * A system call is a frame, too. A thread is in one of them at a time.
 */
#include "view/spans/span_stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "view/spans/span_open.h"

enum {
	FRAMES_MAX = 1024,  /* of a thread: a loop with a missing end must not need memory for ever */
	DONE_MAX = 1 << 20, /* of a thread */
	OPEN_PAIRS_MAX = 4 << 20,
};

/* An open span of a thread. */
struct frame {
	uint64_t begin, children; /* ticks */
	size_t done;		  /* where the list of spans within it begins */
	uint32_t definition, parent, values;
};

struct done {
	uint64_t begin, time;
};

struct span_thread {
	uint32_t tid;
	struct call_thread_span span;
	bool counted;
	struct frame *frames;
	size_t frame_count, frame_room;
	struct done *done;
	size_t done_count, done_room;
};

/* The row of the last span of a definition. */
struct last_row {
	struct span_row *row;
	uint32_t parent, values, group;
};

struct span_counter {
	struct span_stats *stats;
	const struct span_options *options;
	struct span_events events;
	struct call_threads threads;
	struct span_thread *list;
	size_t count, room;
	struct hash_table numbers; /* of threads */
	size_t last;		   /* thread + 1 of the last item; 0: none */
	struct hash_table key_numbers, value_numbers;
	struct last_row *rows; /* by definition */
	size_t row_room;
	struct span_open open;
	size_t open_count;
};

/* A span that has ended, or has not. */
struct ended {
	uint32_t definition, parent, values, tid;
	uint64_t begin, end; /* end 0: it has not */
	uint64_t children;
	bool failed;
};

/* ---- Values and keys */

static uint64_t hash_values(const struct span_values *values)
{
	uint64_t hash = 0;

	for (unsigned n = 0; n < SPAN_BY_FIELDS; n++)
		hash = hash_pair(hash, values->texts[n]);
	return hash;
}

/* Return: the number of values, which are entered if they are new; UINT32_MAX: no memory. */
static uint32_t enter_values(struct span_counter *counter, const struct span_values *values)
{
	struct span_stats *stats = counter->stats;
	static const struct span_values none;
	const uint64_t hash = hash_values(values);
	uint32_t number;

	if (!memcmp(values, &none, sizeof(none)))
		return 0;
	for (size_t at = 0; (number = hash_table_next(&counter->value_numbers, hash, &at));)
		if (!memcmp(&stats->values[number], values, sizeof(*values)))
			return number;
	number = stats->value_count;
	if (number == UINT32_MAX || !array_reserve(stats->values, stats->value_room, (size_t)number + 1) ||
	    !hash_table_reserve(&counter->value_numbers))
		return UINT32_MAX;
	stats->values[number] = *values;
	stats->value_count++;
	hash_table_add(&counter->value_numbers, hash, number);
	return number;
}

/* The values of an item, on top of others. */
static uint32_t take_values(struct span_counter *counter, const struct read_ahead_items *items,
			    const struct span_item *item, uint32_t others)
{
	struct span_values values = counter->stats->values[others];
	uint32_t at = item->text;
	struct span_text text;

	if (at == UINT32_MAX)
		return others;
	while (span_next_text(items, &at, &text))
		if (text.by < SPAN_BY_FIELDS)
			values.texts[text.by] = view_string(&counter->stats->strings, text.text);
	return enter_values(counter, &values);
}

/* Return: the number of a key; 0: no memory. */
static uint32_t enter_key(struct span_counter *counter, const struct span_key *key)
{
	struct span_stats *stats = counter->stats;
	const uint64_t hash = hash_pair(hash_pair(key->span, key->parent), key->values);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&counter->key_numbers, hash, &at));)
		if (!memcmp(&stats->keys[number], key, sizeof(*key)))
			return number;
	number = stats->key_count ? stats->key_count : 1;
	if (number == UINT32_MAX || !array_reserve(stats->keys, stats->key_room, (size_t)number + 1) ||
	    !hash_table_reserve(&counter->key_numbers))
		return 0;
	stats->keys[number] = *key;
	stats->key_count = number + 1;
	hash_table_add(&counter->key_numbers, hash, number);
	return number;
}

/* ---- Rows */

static uint32_t name_of(const struct span_counter *counter, uint32_t definition)
{
	return definition ? counter->events.definitions[definition].name : 0;
}

static struct span_row *find_row(struct span_counter *counter, const struct ended *span, uint32_t group)
{
	const struct span_key key = { .span = name_of(counter, span->definition),
				      .parent = counter->options->by_parent ? name_of(counter, span->parent)
									    : 0,
				      .values = span->values };
	struct last_row *last;
	uint32_t number;

	if (!array_reserve_zeroed(counter->rows, counter->row_room, (size_t)span->definition + 1))
		return NULL;
	last = &counter->rows[span->definition];
	if (last->row && last->parent == key.parent && last->values == key.values && last->group == group)
		return last->row;
	number = enter_key(counter, &key);
	if (!number)
		return NULL;
	*last = (struct last_row){ (struct span_row *)call_rows_find(&counter->stats->rows, &counter->threads,
								     group, number, sizeof(struct span_row)),
				   key.parent, key.values, group };
	return last->row;
}

static int find_thread(struct span_counter *counter, uint32_t tid, struct span_thread **thread)
{
	const uint64_t hash = hash_pair(tid, 0);
	uint32_t number;

	if (counter->last && counter->list[counter->last - 1].tid == tid) {
		*thread = &counter->list[counter->last - 1];
		return 0;
	}
	for (size_t at = 0; (number = hash_table_next(&counter->numbers, hash, &at));)
		if (counter->list[number - 1].tid == tid)
			break;
	if (!number) {
		if (!array_reserve(counter->list, counter->room, counter->count + 1) ||
		    !hash_table_reserve(&counter->numbers))
			return -ENOMEM;
		counter->list[counter->count++] = (struct span_thread){ .tid = tid };
		number = (uint32_t)counter->count;
		hash_table_add(&counter->numbers, hash, number);
	}
	counter->last = number;
	*thread = &counter->list[number - 1];
	return 0;
}

/* Whether the thread of a span is selected. Return: 1 and its group; 0; -ENOMEM. */
static int find_group(struct span_counter *counter, const struct ended *span, uint32_t *group)
{
	const uint64_t time = span->end ? span->end : span->begin;
	struct span_thread *thread;
	int error = find_thread(counter, span->tid, &thread);

	if (!error && !call_threads_has(&thread->span, span->tid, time))
		error = call_threads_find(&counter->threads, span->tid, time, &thread->span);
	if (error)
		return error;
	counter->stats->threads += thread->span.selected && !thread->counted;
	thread->counted |= thread->span.selected;
	*group = thread->span.group;
	return thread->span.selected;
}

static int count_span(struct span_counter *counter, const struct ended *span)
{
	struct span_row *row;
	uint64_t time;
	uint32_t group = 0;
	int selected;

	if (span->begin < counter->options->filter->from ||
	    !counter->events.definitions[span->definition].wanted)
		return 0;
	selected = find_group(counter, span, &group);
	if (selected <= 0)
		return selected;
	row = find_row(counter, span, group);
	if (!row)
		return -ENOMEM;
	if (!span->end) {
		row->open++;
		return 0;
	}
	time = span->end - span->begin;
	row->row.calls++;
	row->failed += span->failed;
	row->row.total += time;
	row->row.self += time - (span->children < time ? span->children : time);
	return call_durations_add(&row->row.durations, time) ? 0 : -ENOMEM;
}

static void count_unbegun(struct span_counter *counter, const struct span_item *item)
{
	counter->stats->unbegun += counter->events.definitions[item->definition].wanted;
}

/* ---- Spans of a thread */

static struct frame *innermost(const struct span_thread *thread)
{
	return thread->frame_count ? &thread->frames[thread->frame_count - 1] : NULL;
}

static const struct span_definition *definition_of(const struct span_counter *counter,
						   const struct frame *frame)
{
	return &counter->events.definitions[frame->definition];
}

static bool is_syscall(const struct span_counter *counter, const struct frame *frame)
{
	return frame && definition_of(counter, frame)->kind == SPAN_OF_SYSCALL;
}

/* The innermost frame has no end. Its children become those of the frame below. */
static int drop_frame(struct span_counter *counter, struct span_thread *thread)
{
	const struct frame frame = thread->frames[--thread->frame_count];
	struct frame *below = innermost(thread);

	if (below)
		below->children += frame.children;
	if (definition_of(counter, &frame)->endless)
		return 0;
	return count_span(counter, &(struct ended){ .definition = frame.definition,
						    .parent = frame.parent,
						    .values = frame.values,
						    .tid = thread->tid,
						    .begin = frame.begin });
}

static int push_frame(struct span_counter *counter, struct span_thread *thread, const struct frame *frame)
{
	const struct frame *below = innermost(thread);
	struct frame *added;

	if (thread->frame_count == FRAMES_MAX)
		return count_span(counter, &(struct ended){ .definition = frame->definition,
							    .values = frame->values,
							    .tid = thread->tid,
							    .begin = frame->begin });
	if (!array_reserve(thread->frames, thread->frame_room, thread->frame_count + 1))
		return -ENOMEM;
	added = &thread->frames[thread->frame_count];
	*added = *frame;
	added->parent = thread->frame_count ? below->definition : 0;
	added->done = thread->done_count;
	thread->frame_count++;
	return 0;
}

/* Halve the older half of a list that has become too long. */
static void merge_done(struct span_thread *thread)
{
	const size_t half = thread->done_count / 2 & ~(size_t)1;

	for (size_t n = 0; n < half; n += 2)
		thread->done[n / 2] = (struct done){ thread->done[n].begin,
						     thread->done[n].time + thread->done[n + 1].time };
	memmove(thread->done + half / 2, thread->done + half,
		(thread->done_count - half) * sizeof(*thread->done));
	thread->done_count -= half / 2;
}

/* A span has ended within the innermost frame. */
static int add_child(const struct span_counter *counter, struct span_thread *thread, uint64_t begin,
		     uint64_t time)
{
	struct frame *around = innermost(thread);

	if (around)
		around->children += time;
	if (!counter->events.calls)
		return 0;
	if (thread->done_count >= DONE_MAX && !around)
		merge_done(thread);
	if (!array_reserve(thread->done, thread->done_room, thread->done_count + 1))
		return -ENOMEM;
	thread->done[thread->done_count++] = (struct done){ begin, time };
	return 0;
}

/* The innermost frame ends. */
static int close_frame(struct span_counter *counter, struct span_thread *thread, uint64_t end,
		       uint32_t values, bool failed)
{
	const struct frame frame = thread->frames[--thread->frame_count];
	const uint32_t tid = thread->tid;
	int error;

	thread->done_count = frame.done;
	error = add_child(counter, thread, frame.begin,
			  definition_of(counter, &frame)->wanted ? end - frame.begin : frame.children);
	return error ? error
		     : count_span(counter, &(struct ended){ .definition = frame.definition,
							    .parent = frame.parent,
							    .values = values,
							    .tid = tid,
							    .begin = frame.begin,
							    .end = end,
							    .children = frame.children,
							    .failed = failed });
}

static int take_begin(struct span_counter *counter, struct span_thread *thread, const struct span_item *item,
		      uint32_t values)
{
	return push_frame(
		counter, thread,
		&(struct frame){ .begin = item->time, .definition = item->definition, .values = values });
}

static int take_end(struct span_counter *counter, struct span_thread *thread,
		    const struct read_ahead_items *items, const struct span_item *item)
{
	size_t at = thread->frame_count;
	uint32_t values;
	int error = 0;

	while (at && thread->frames[at - 1].definition != item->definition)
		at--;
	if (!at) {
		count_unbegun(counter, item);
		return 0;
	}
	while (thread->frame_count > at && !error)
		error = drop_frame(counter, thread);
	values = take_values(counter, items, item, thread->frames[at - 1].values);
	if (error || values == UINT32_MAX)
		return -ENOMEM;
	return close_frame(counter, thread, item->time, values, item->result);
}

/* ---- System calls */

/* Whether the frame of a system call is that of one that ends. A successful execveat has the number of execve at its end. */
static bool ends_syscall(const struct span_counter *counter, const struct frame *frame,
			 const struct span_item *item)
{
	const char *const *texts = counter->stats->strings.texts;

	if (frame->definition == item->definition)
		return true;
	return !item->key[0] && !strcmp(texts[name_of(counter, frame->definition)], "syscall:execveat") &&
	       !strcmp(texts[name_of(counter, item->definition)], "syscall:execve");
}

static int end_syscall(struct span_counter *counter, struct span_thread *thread,
		       const struct read_ahead_items *items, const struct span_item *item)
{
	const struct frame *frame = innermost(thread);
	const struct span_definition *definition = &counter->events.definitions[item->definition];
	uint32_t values;

	if (is_syscall(counter, frame) && ends_syscall(counter, frame, item)) {
		values = take_values(counter, items, item, frame->values);
		return values == UINT32_MAX
			       ? -ENOMEM
			       : close_frame(counter, thread, item->time, values, item->result < 0);
	}
	if (!definition->births || item->key[0])
		count_unbegun(counter, item);
	return is_syscall(counter, frame) ? drop_frame(counter, thread) : 0;
}

static int take_syscall(struct span_counter *counter, struct span_thread *thread,
			const struct read_ahead_items *items, const struct span_item *item)
{
	const struct span_role *role = &counter->events.roles[item->role];
	const struct frame *frame = innermost(thread);
	struct span_item begin = *item;
	uint32_t values;
	int error;

	if (role->side == SPAN_END)
		return end_syscall(counter, thread, items, item);
	if (role->side == SPAN_LATE) {
		if (is_syscall(counter, frame) && frame->definition == item->definition &&
		    kernel_view_is_begin(&counter->events.view, item->begin, frame->begin))
			return 0;
		begin.time = item->begin;
	}
	values = take_values(counter, items, item, 0);
	error = values == UINT32_MAX ? -ENOMEM : 0;
	if (!error && is_syscall(counter, frame))
		error = drop_frame(counter, thread);
	return error ? error : take_begin(counter, thread, &begin, values);
}

/* The definition of a system call whose name is in the record. Return: false: no memory. */
static bool name_syscall(struct span_counter *counter, const struct read_ahead_items *items,
			 struct span_item *item)
{
	uint32_t at = item->text;
	struct span_text text;
	char name[TEXT_SHORT + 16];

	if (!span_next_text(items, &at, &text) || text.by != SPAN_BY_FIELDS)
		return true;
	snprintf(name, sizeof(name), "syscall:%s", text.text);
	item->definition = span_events_define(&counter->events, SPAN_OF_SYSCALL, name);
	return item->definition != 0;
}

/* ---- Calls and pairs */

static int take_call(struct span_counter *counter, struct span_thread *thread,
		     const struct read_ahead_items *items, const struct span_item *item)
{
	struct frame *around = innermost(thread);
	const size_t base = around ? around->done : 0;
	struct ended span = { .definition = item->definition,
			      .parent = around ? around->definition : 0,
			      .values = take_values(counter, items, item, 0),
			      .tid = item->tid,
			      .begin = item->begin,
			      .end = item->time };
	int error;

	if (span.values == UINT32_MAX)
		return -ENOMEM;
	while (thread->done_count > base && thread->done[thread->done_count - 1].begin >= item->begin)
		span.children += thread->done[--thread->done_count].time;
	if (around)
		around->children -= span.children;
	error = add_child(counter, thread, span.begin, span.end - span.begin);
	return error ? error : count_span(counter, &span);
}

static int take_pair(struct span_counter *counter, const struct read_ahead_items *items,
		     const struct span_item *item)
{
	struct span_open_pair pair = { .key = { item->key[0], item->key[1] },
				       .begin = item->time,
				       .definition = item->definition,
				       .tid = item->tid };

	if (counter->events.roles[item->role].side == SPAN_BEGIN) {
		pair.values = take_values(counter, items, item, 0);
		if (counter->open_count == OPEN_PAIRS_MAX)
			return count_span(counter, &(struct ended){ .definition = pair.definition,
								    .values = pair.values,
								    .tid = pair.tid,
								    .begin = pair.begin });
		counter->open_count++;
		return pair.values != UINT32_MAX && span_open_push(&counter->open, &pair) ? 0 : -ENOMEM;
	}
	if (!span_open_pop(&counter->open, &pair)) {
		count_unbegun(counter, item);
		return 0;
	}
	counter->open_count--;
	pair.values = take_values(counter, items, item, pair.values);
	if (pair.values == UINT32_MAX)
		return -ENOMEM;
	return count_span(counter, &(struct ended){ .definition = pair.definition,
						    .values = pair.values,
						    .tid = pair.tid,
						    .begin = pair.begin,
						    .end = item->time,
						    .failed = item->result });
}

/* ---- The whole */

static int take_item(struct span_counter *counter, const struct read_ahead_items *items,
		     const struct span_item *item)
{
	const struct span_role *role = &counter->events.roles[item->role];
	struct span_item named = *item;
	struct span_thread *thread;
	uint32_t values;

	if (span_has_key(role->kind))
		return take_pair(counter, items, item);
	if (find_thread(counter, item->tid, &thread) != 0)
		return -ENOMEM;
	if (role->kind == SPAN_OF_CALL)
		return take_call(counter, thread, items, item);
	if (role->kind == SPAN_OF_SYSCALL)
		return name_syscall(counter, items, &named) ? take_syscall(counter, thread, items, &named)
							    : 0;
	if (role->side == SPAN_END)
		return take_end(counter, thread, items, item);
	values = take_values(counter, items, item, 0);
	return values == UINT32_MAX ? -ENOMEM : take_begin(counter, thread, item, values);
}

static int count_all(struct span_counter *counter)
{
	const struct view_profile_filter *filter = counter->options->filter;
	const struct read_ahead_items *items;
	struct read_ahead *ahead;
	int result = read_ahead_open(&ahead, &(struct read_ahead_work){ .trace = counter->stats->trace,
									.from = filter->from,
									.to = filter->to,
									.threads = counter->options->threads,
									.decode = span_events_decode,
									.data = &counter->events });

	while (!result && (result = read_ahead_next(ahead, &items)) > 0) {
		const struct span_item *list = items->items;

		result = 0;
		for (size_t n = 0; n < items->count && !result; n++)
			result = take_item(counter, items, &list[n]);
		if (result)
			break;
	}
	read_ahead_close(ahead);
	return result;
}

static int count_open_pair(void *data, const struct span_open_pair *pair)
{
	return count_span(data, &(struct ended){ .definition = pair->definition,
						 .values = pair->values,
						 .tid = pair->tid,
						 .begin = pair->begin });
}

/* Count those that are open at the end of the trace. Threads that find_thread() adds have no frames. */
static int count_open(struct span_counter *counter)
{
	int error = 0;

	for (size_t n = 0; n < counter->count; n++)
		while (counter->list[n].frame_count && !error)
			error = drop_frame(counter, &counter->list[n]);
	return error ? error : span_open_each(&counter->open, count_open_pair, counter);
}

static void sum_up(struct span_stats *stats)
{
	for (size_t n = 0; n < stats->rows.count; n++) {
		const struct span_row *row = (const struct span_row *)stats->rows.rows[n];

		stats->spans += row->row.calls;
		stats->failed += row->failed;
		stats->open += row->open;
		stats->rows.time += row->row.self;
	}
}

static void free_counter(struct span_counter *counter)
{
	for (size_t n = 0; n < counter->count; n++) {
		free(counter->list[n].frames);
		free(counter->list[n].done);
	}
	free(counter->list);
	free(counter->rows);
	hash_table_free(&counter->numbers);
	hash_table_free(&counter->key_numbers);
	hash_table_free(&counter->value_numbers);
	span_open_free(&counter->open);
	call_threads_free(&counter->threads);
	span_events_free(&counter->events);
}

int span_stats_make(struct span_stats *stats, const struct burin_trace *trace,
		    const struct span_options *options, const char **missing)
{
	struct span_counter counter = { .stats = stats, .options = options };
	int result;

	*stats = (struct span_stats){ .trace = trace };
	call_threads_init(&counter.threads, trace, options->filter, &stats->strings, options->parts);
	result = span_events_make(&counter.events, trace, &options->choice, &stats->strings, missing);
	if (!result && !array_reserve_zeroed(stats->values, stats->value_room, 1))
		result = -ENOMEM;
	stats->value_count = 1;
	if (!result)
		result = count_all(&counter);
	if (!result)
		result = count_open(&counter);
	if (!result && stats->strings.failed)
		result = -ENOMEM;
	sum_up(stats);
	free_counter(&counter);
	if (result)
		span_stats_free(stats);
	return result;
}

void span_stats_free(struct span_stats *stats)
{
	call_rows_free(&stats->rows);
	free(stats->keys);
	free(stats->values);
	view_strings_free(&stats->strings);
	*stats = (struct span_stats){ .trace = NULL };
}
