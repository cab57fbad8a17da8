/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Spans, joined from items; see span_join.h.
 *
 * Items come in order of time. A thread has a stack of frames, its open spans: an end closes the innermost frame of its definition,
 * and the frames above it have no end. When a frame is closed, its time is added to the children of the frame below. So at its own end a
 * frame knows how long its children took, and nothing of a span that has ended is kept.
 *
 * A call is one item, at its end: spans within it have ended before, and count as children of the frame below both. They are moved to the call
 * then. For this, and only if calls are wanted, ->done keeps the spans that ended within the innermost frame. Without any frame
 * nothing closes that list: beyond DONE_MAX its older half is merged in pairs, so a call that contains more has children that are one pair
 * too many or too few.
 *
 * A system call is a frame, too. A thread is in one of them at a time.
 */
#include "view/spans/span_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"

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
	bool out;   /* it does not fulfil the user's conditions */
	bool needs; /* its end has conditions, too */
};

struct done {
	uint64_t begin, time;
};

struct span_thread {
	uint32_t tid;
	struct frame *frames;
	size_t frame_count, frame_room;
	struct done *done;
	size_t done_count, done_room;
};

/* ---- Values */

static uint64_t hash_values(const struct span_values *values)
{
	uint64_t hash = 0;

	for (unsigned n = 0; n < SPAN_BY_FIELDS; n++)
		hash = hash_pair(hash, values->texts[n]);
	return hash;
}

/* Return: the number of values, which are entered if they are new; UINT32_MAX: no memory. */
static uint32_t enter_values(struct span_join *join, const struct span_values *values)
{
	static const struct span_values none;
	const uint64_t hash = hash_values(values);
	uint32_t number;

	if (!memcmp(values, &none, sizeof(none)))
		return 0;
	for (size_t at = 0; (number = hash_table_next(&join->value_numbers, hash, &at));)
		if (!memcmp(&join->values[number], values, sizeof(*values)))
			return number;
	number = join->value_count;
	if (number == UINT32_MAX || !array_reserve(join->values, join->value_room, (size_t)number + 1) ||
	    !hash_table_reserve(&join->value_numbers))
		return UINT32_MAX;
	join->values[number] = *values;
	join->value_count++;
	hash_table_add(&join->value_numbers, hash, number);
	return number;
}

/* The values of an item, on top of others. */
static uint32_t take_values(struct span_join *join, const struct read_ahead_items *items,
			    const struct span_item *item, uint32_t others)
{
	struct span_values values = join->values[others];
	uint32_t at = item->text;
	struct span_text text;

	if (at == UINT32_MAX)
		return others;
	while (span_next_text(items, &at, &text))
		if (text.by < SPAN_BY_FIELDS)
			values.texts[text.by] = view_string(join->strings, text.text);
	return enter_values(join, &values);
}

/* ---- Threads, and the caller */

static int find_thread(struct span_join *join, uint32_t tid, struct span_thread **thread)
{
	const uint64_t hash = hash_pair(tid, 0);
	uint32_t number;

	if (join->last && join->threads[join->last - 1].tid == tid) {
		*thread = &join->threads[join->last - 1];
		return 0;
	}
	for (size_t at = 0; (number = hash_table_next(&join->numbers, hash, &at));)
		if (join->threads[number - 1].tid == tid)
			break;
	if (!number) {
		if (!array_reserve(join->threads, join->room, join->count + 1) ||
		    !hash_table_reserve(&join->numbers))
			return -ENOMEM;
		join->threads[join->count++] = (struct span_thread){ .tid = tid };
		number = (uint32_t)join->count;
		hash_table_add(&join->numbers, hash, number);
	}
	join->last = number;
	*thread = &join->threads[number - 1];
	return 0;
}

/* Give a span to the caller, if it is wanted. Those that conditions leave out never come here. */
static int give_span(struct span_join *join, struct span_ended span)
{
	struct span_thread *thread;
	int error;

	if (!join->events.definitions[span.definition].wanted)
		return 0;
	error = find_thread(join, span.tid, &thread);
	if (error)
		return error;
	span.thread = (uint32_t)(thread - join->threads);
	return join->give(join->data, &span);
}

static void count_unbegun(struct span_join *join, const struct span_item *item)
{
	join->unbegun += join->events.definitions[item->definition].wanted && !item->out && !item->needs;
}

/* ---- Spans of a thread */

static struct frame *innermost(const struct span_thread *thread)
{
	return thread->frame_count ? &thread->frames[thread->frame_count - 1] : NULL;
}

static const struct span_definition *definition_of(const struct span_join *join, const struct frame *frame)
{
	return &join->events.definitions[frame->definition];
}

static bool is_syscall(const struct span_join *join, const struct frame *frame)
{
	return frame && definition_of(join, frame)->kind == SPAN_OF_SYSCALL;
}

/* The innermost frame has no end. Its children become those of the frame below. */
static int drop_frame(struct span_join *join, struct span_thread *thread)
{
	const struct frame frame = thread->frames[--thread->frame_count];
	struct frame *below = innermost(thread);

	if (below)
		below->children += frame.children;
	if (definition_of(join, &frame)->endless || frame.out || frame.needs)
		return 0;
	return give_span(join, (struct span_ended){ .definition = frame.definition,
						    .parent = frame.parent,
						    .values = frame.values,
						    .tid = thread->tid,
						    .begin = frame.begin });
}

static int push_frame(struct span_join *join, struct span_thread *thread, const struct frame *frame)
{
	const uint32_t parent = thread->frame_count ? innermost(thread)->definition : 0;
	struct frame *added;

	if (thread->frame_count == FRAMES_MAX && (frame->out || frame->needs))
		return 0;
	if (thread->frame_count == FRAMES_MAX)
		return give_span(join, (struct span_ended){ .definition = frame->definition,
							    .values = frame->values,
							    .tid = thread->tid,
							    .begin = frame->begin });
	if (!array_reserve(thread->frames, thread->frame_room, thread->frame_count + 1))
		return -ENOMEM;
	added = &thread->frames[thread->frame_count];
	*added = *frame;
	added->parent = parent;
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

/* A span has ended. @around: the frame that it is in; NULL: none */
static int add_child(const struct span_join *join, struct span_thread *thread, struct frame *around,
		     uint64_t begin, uint64_t time)
{
	if (around)
		around->children += time;
	if (!join->events.calls)
		return 0;
	if (thread->done_count >= DONE_MAX && !around)
		merge_done(thread);
	if (!array_reserve(thread->done, thread->done_room, thread->done_count + 1))
		return -ENOMEM;
	thread->done[thread->done_count++] = (struct done){ begin, time };
	return 0;
}

/* The innermost frame ends, by an item. */
static int close_frame(struct span_join *join, struct span_thread *thread, const struct span_item *item,
		       uint32_t values, bool failed)
{
	const struct frame frame = thread->frames[--thread->frame_count];
	const bool out = frame.out || item->out;
	const uint64_t end = item->time;
	const uint32_t tid = thread->tid;
	int error;

	thread->done_count = frame.done;
	error = add_child(join, thread, innermost(thread), frame.begin,
			  definition_of(join, &frame)->wanted && !out ? end - frame.begin : frame.children);
	return error || out ? error
			    : give_span(join, (struct span_ended){ .definition = frame.definition,
								   .parent = frame.parent,
								   .values = values,
								   .tid = tid,
								   .end_tid = tid,
								   .begin = frame.begin,
								   .end = end,
								   .children = frame.children,
								   .failed = failed });
}

static int take_begin(struct span_join *join, struct span_thread *thread, const struct span_item *item,
		      uint32_t values)
{
	return push_frame(join, thread,
			  &(struct frame){ .begin = item->time,
					   .definition = item->definition,
					   .values = values,
					   .out = item->out,
					   .needs = item->needs });
}

static int take_end(struct span_join *join, struct span_thread *thread, const struct read_ahead_items *items,
		    const struct span_item *item)
{
	size_t at = thread->frame_count;
	uint32_t values;
	int error = 0;

	while (at && thread->frames[at - 1].definition != item->definition)
		at--;
	if (!at) {
		count_unbegun(join, item);
		return 0;
	}
	while (thread->frame_count > at && !error)
		error = drop_frame(join, thread);
	values = take_values(join, items, item, thread->frames[at - 1].values);
	if (error || values == UINT32_MAX)
		return -ENOMEM;
	return close_frame(join, thread, item, values, item->result);
}

/* ---- System calls */

/* Whether the frame of a system call is that of one that ends. A successful execveat has the number of execve at its end. */
static bool ends_syscall(const struct span_join *join, const struct frame *frame,
			 const struct span_item *item)
{
	const char *const *texts = join->strings->texts;
	const struct span_definition *definitions = join->events.definitions;

	if (frame->definition == item->definition)
		return true;
	return !item->key[0] && !strcmp(texts[definitions[frame->definition].name], "syscall:execveat") &&
	       !strcmp(texts[definitions[item->definition].name], "syscall:execve");
}

static int end_syscall(struct span_join *join, struct span_thread *thread,
		       const struct read_ahead_items *items, const struct span_item *item)
{
	const struct frame *frame = innermost(thread);
	const struct span_definition *definition = &join->events.definitions[item->definition];
	uint32_t values;

	if (is_syscall(join, frame) && ends_syscall(join, frame, item)) {
		values = take_values(join, items, item, frame->values);
		return values == UINT32_MAX ? -ENOMEM
					    : close_frame(join, thread, item, values, item->result < 0);
	}
	if (!definition->births || item->key[0])
		count_unbegun(join, item);
	return is_syscall(join, frame) ? drop_frame(join, thread) : 0;
}

static int take_syscall(struct span_join *join, struct span_thread *thread,
			const struct read_ahead_items *items, const struct span_item *item)
{
	const struct span_role *role = &join->events.roles[item->role];
	struct frame *frame = innermost(thread);
	struct span_item begin = *item;
	uint32_t values;
	int error;

	if (role->side == SPAN_END)
		return end_syscall(join, thread, items, item);
	if (role->side == SPAN_LATE) {
		if (is_syscall(join, frame) && frame->definition == item->definition &&
		    kernel_view_is_begin(&join->events.view, item->begin, frame->begin)) {
			frame->out = item->out; /* it has what the begin could not read */
			return 0;
		}
		begin.time = item->begin;
	}
	values = take_values(join, items, item, 0);
	error = values == UINT32_MAX ? -ENOMEM : 0;
	if (!error && is_syscall(join, frame))
		error = drop_frame(join, thread);
	return error ? error : take_begin(join, thread, &begin, values);
}

/* The definition of a system call whose name is in the record. Return: false: no memory. */
static bool name_syscall(struct span_join *join, const struct read_ahead_items *items, struct span_item *item)
{
	uint32_t at = item->text;
	struct span_text text;
	char name[TEXT_SHORT + 16];

	if (!span_next_text(items, &at, &text) || text.by != SPAN_BY_FIELDS)
		return true;
	snprintf(name, sizeof(name), "syscall:%s", text.text);
	item->definition = span_events_define(&join->events, SPAN_OF_SYSCALL, name);
	return item->definition != 0;
}

/* ---- Calls and pairs */

/*
 * The spans that ended within a call become its children, and are no more those of the frame around it. Frames that began within the call,
 * and are still open, stay above; the spans that ended in them are in both.
 */
static uint64_t take_children(struct span_thread *thread, uint64_t begin, size_t around)
{
	const size_t base = around ? thread->frames[around - 1].done : 0;
	const size_t above = around < thread->frame_count ? thread->frames[around].done : SIZE_MAX;
	uint64_t children = 0;

	while (thread->done_count > base && thread->done[thread->done_count - 1].begin >= begin) {
		const uint64_t time = thread->done[--thread->done_count].time;

		children += time;
		if (around && thread->done_count < above)
			thread->frames[around - 1].children -= time;
	}
	return children;
}

static int take_call(struct span_join *join, struct span_thread *thread, const struct read_ahead_items *items,
		     const struct span_item *item)
{
	struct span_ended span = { .definition = item->definition,
				   .values = take_values(join, items, item, 0),
				   .tid = item->tid,
				   .end_tid = item->tid,
				   .begin = item->begin,
				   .end = item->time };
	size_t around = thread->frame_count;
	int error;

	if (span.values == UINT32_MAX)
		return -ENOMEM;
	while (around && thread->frames[around - 1].begin > item->begin)
		around--;
	span.parent = around ? thread->frames[around - 1].definition : 0;
	span.children = take_children(thread, item->begin, around);
	error = add_child(join, thread, around ? &thread->frames[around - 1] : NULL, span.begin,
			  span.end - span.begin);
	for (size_t n = around; n < thread->frame_count; n++)
		thread->frames[n].done = thread->done_count;
	return error ? error : give_span(join, span);
}

static int take_pair(struct span_join *join, const struct read_ahead_items *items,
		     const struct span_item *item)
{
	struct span_open_pair pair = { .key = { item->key[0], item->key[1] },
				       .begin = item->time,
				       .definition = item->definition,
				       .tid = item->tid,
				       .out = item->out,
				       .needs = item->needs };

	if (join->events.roles[item->role].side == SPAN_BEGIN) {
		pair.values = take_values(join, items, item, 0);
		if (pair.values == UINT32_MAX)
			return -ENOMEM;
		if (join->open_count == OPEN_PAIRS_MAX && (pair.out || pair.needs))
			return 0;
		if (join->open_count == OPEN_PAIRS_MAX)
			return give_span(join, (struct span_ended){ .definition = pair.definition,
								    .values = pair.values,
								    .tid = pair.tid,
								    .begin = pair.begin });
		join->open_count++;
		return span_open_push(&join->open, &pair) ? 0 : -ENOMEM;
	}
	if (!span_open_pop(&join->open, &pair)) {
		count_unbegun(join, item);
		return 0;
	}
	join->open_count--;
	if (pair.out || item->out)
		return 0;
	pair.values = take_values(join, items, item, pair.values);
	if (pair.values == UINT32_MAX)
		return -ENOMEM;
	return give_span(join, (struct span_ended){ .definition = pair.definition,
						    .values = pair.values,
						    .tid = pair.tid,
						    .end_tid = item->tid,
						    .begin = pair.begin,
						    .end = item->time,
						    .failed = item->result });
}

/* ---- The whole */

static int take_item(struct span_join *join, const struct read_ahead_items *items,
		     const struct span_item *item)
{
	const struct span_role *role = &join->events.roles[item->role];
	struct span_item named = *item;
	struct span_thread *thread;
	uint32_t values;

	if (span_has_key(role->kind))
		return take_pair(join, items, item);
	if (find_thread(join, item->tid, &thread) != 0)
		return -ENOMEM;
	if (role->kind == SPAN_OF_CALL)
		return take_call(join, thread, items, item);
	if (role->kind == SPAN_OF_SYSCALL)
		return name_syscall(join, items, &named) ? take_syscall(join, thread, items, &named) : 0;
	if (role->side == SPAN_END)
		return take_end(join, thread, items, item);
	values = take_values(join, items, item, 0);
	return values == UINT32_MAX ? -ENOMEM : take_begin(join, thread, item, values);
}

static int take_all(struct span_join *join, struct read_ahead *ahead)
{
	const struct read_ahead_items *items;
	int result;

	while ((result = read_ahead_next(ahead, &items)) > 0) {
		const struct span_item *list = items->items;

		result = 0;
		for (size_t n = 0; n < items->count && !result; n++)
			result = take_item(join, items, &list[n]);
		if (result)
			break;
	}
	return result;
}

static int give_open_pair(void *data, const struct span_open_pair *pair)
{
	if (pair->out || pair->needs)
		return 0;
	return give_span(data, (struct span_ended){ .definition = pair->definition,
						    .values = pair->values,
						    .tid = pair->tid,
						    .begin = pair->begin });
}

/* Those that are open at the end of the trace. Threads that find_thread() adds have no frames. */
static int give_open(struct span_join *join)
{
	int error = 0;

	for (size_t n = 0; n < join->count; n++)
		while (join->threads[n].frame_count && !error)
			error = drop_frame(join, &join->threads[n]);
	return error ? error : span_open_each(&join->open, give_open_pair, join);
}

int span_join_read(struct span_join *join, uint64_t from, uint64_t to, unsigned threads)
{
	struct read_ahead *ahead;
	int result = read_ahead_open(&ahead, &(struct read_ahead_work){ .trace = join->trace,
									.from = from,
									.to = to,
									.threads = threads,
									.decode = span_events_decode,
									.data = &join->events });

	if (!result)
		result = take_all(join, ahead);
	read_ahead_close(ahead);
	return result ? result : give_open(join);
}

int span_join_make(struct span_join *join, const struct burin_trace *trace, const struct span_choice *choice,
		   struct view_strings *strings, const char **missing)
{
	int result;

	*join = (struct span_join){ .trace = trace, .strings = strings };
	result = span_events_make(&join->events, trace, choice, strings, missing);
	if (!result && !array_reserve_zeroed(join->values, join->value_room, 1))
		result = -ENOMEM;
	join->value_count = 1;
	return result;
}

void span_join_free(struct span_join *join)
{
	for (size_t n = 0; n < join->count; n++) {
		free(join->threads[n].frames);
		free(join->threads[n].done);
	}
	free(join->threads);
	free(join->values);
	hash_table_free(&join->numbers);
	hash_table_free(&join->value_numbers);
	span_open_free(&join->open);
	span_events_free(&join->events);
}
