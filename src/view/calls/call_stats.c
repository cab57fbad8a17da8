/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls, counted; see call_stats.h.
 *
 * A row's total counts recursion once: only if no call of the same key is open on the stack (key_use: `open`). The
 * walk comes from the outside to the inside, so the outermost call is the first that is seen. The use of a key is by
 * stack, in pages that are made when a key of them is first met: most stacks have few of all keys.
 *
 * A stack may go from thread to thread. So the row that a use remembers holds for one group of threads only, and is
 * looked up again when the group has changed; `open` stays, since it is of the stack.
 *
 * Functions that are not selected are walked through like all others, since their times are no self time of their
 * callers. They have no row in the frame (frame.user is 0), so their ends are not counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/trace.h"
#include "view/calls/call_stats.h"
#include "view/calls/call_threads.h"
#include "view/calls/call_walk.h"
#include "view/symbol_label.h"

enum {
	PAGE = 256, /* keys of a page */
};

/* A key on a stack. */
struct key_use {
	struct call_row *row; /* of `group` */
	uint32_t group;
	uint32_t open; /* calls of it around the present one */
};

/* A stack's keys, in pages that are allocated when they are needed. */
struct stack_keys {
	struct call_thread_span thread;
	size_t page_count;
	struct key_use *pages[];
};

struct counter {
	struct call_stats *stats;
	struct call_threads threads;
	uint32_t *keys; /* by function */
	bool *selected; /* by function */
	uint32_t key_count;
	const struct call_stats_visitor *visitor; /* the user's; NULL: none */
	int result;
};

/* ---- Calls to rows */

static inline struct stack_keys *keys_of(struct counter *counter, struct call_walk_stack *stack)
{
	const size_t pages = counter->key_count / PAGE + 1;
	struct stack_keys *keys = stack->user;

	if (__builtin_expect(!keys, 0)) {
		keys = stack->user = calloc(1, sizeof(*keys) + pages * sizeof(keys->pages[0]));
		if (keys)
			keys->page_count = pages;
	}
	return keys;
}

static struct key_use *call_stats_use_of(struct stack_keys *keys, uint32_t key)
{
	struct key_use **page = &keys->pages[key / PAGE];

	if (__builtin_expect(!*page, 0))
		*page = calloc(PAGE, sizeof(**page));
	return *page ? &(*page)[key % PAGE] : NULL;
}

/* Find the thread at the time of a call. */
static int call_stats_find_thread(struct counter *counter, struct stack_keys *keys, uint32_t tid,
				  uint64_t time)
{
	if (__builtin_expect(call_threads_has(&keys->thread, tid, time), 1))
		return 0;
	return call_threads_find(&counter->threads, tid, time, &keys->thread);
}

static bool call_stats_select_call(void *data, struct call_walk_stack *stack, uint64_t end)
{
	struct counter *counter = data;
	struct stack_keys *keys = keys_of(counter, stack);
	const int error = keys ? call_stats_find_thread(counter, keys, stack->tid, end) : -ENOMEM;

	if (__builtin_expect(error, 0))
		counter->result = error;
	return !error && keys->thread.selected;
}

static int call_stats_count_call(struct call_row *row, const struct call_frame *frame)
{
	const uint64_t time = frame->end - frame->begin;

	row->calls++;
	return frame->open || call_durations_add(&row->durations, time) ? 0 : -ENOMEM;
}

static int call_stats_enter_call(void *data, struct call_walk_stack *stack)
{
	struct counter *counter = data;
	struct call_frame *frame = &stack->frames[stack->count - 1];
	struct stack_keys *keys = keys_of(counter, stack);
	const uint32_t key = counter->keys[frame->function];
	struct key_use *use = keys ? call_stats_use_of(keys, key) : NULL;

	if (__builtin_expect(!use, 0))
		return -ENOMEM;
	if (__builtin_expect(!use->row || use->group != keys->thread.group, 0)) {
		use->row = call_rows_find(&counter->stats->rows, &counter->threads, keys->thread.group, key,
					  sizeof(*use->row));
		use->group = keys->thread.group;
		if (!use->row)
			return -ENOMEM;
	}
	frame->user = counter->selected[frame->function] ? (uint64_t)(uintptr_t)use->row : 0;
	if (!frame->user)
		return counter->result;
	if (!use->open++)
		use->row->total += frame->end - frame->begin;
	counter->stats->by_function[frame->function]++;
	counter->stats->without_caller += stack->count == 1 && frame->depth;
	return call_stats_count_call(use->row, frame) ?: counter->result;
}

static void call_stats_leave_call(void *data, struct call_walk_stack *stack)
{
	struct counter *counter = data;
	const struct call_frame *frame = &stack->frames[stack->count - 1];
	struct call_row *row = (struct call_row *)(uintptr_t)frame->user; // NOLINT: it was a pointer
	const struct call_stats_visitor *visitor = counter->visitor;
	uint32_t around;

	if (!row)
		return;
	row->self += call_walk_self(frame);
	around = --call_stats_use_of(stack->user, counter->keys[frame->function])->open;
	if (visitor && !frame->open && !counter->result)
		counter->result = visitor->seen(visitor->data, row, frame->end, call_walk_self(frame),
						around ? 0 : frame->end - frame->begin);
}

static void free_stack(void *user)
{
	struct stack_keys *keys = user;

	for (size_t n = 0; keys && n < keys->page_count; n++)
		free(keys->pages[n]);
	free(keys);
}

/* ---- Functions to keys */

/* The key of a function; its name is that of its outermost frame: others were inlined at its beginning. */
static uint32_t key_of(struct view_keys *keys, const struct burin_calls *calls, uint32_t function)
{
	struct burin_stack stack = { .location = 0 };
	uint32_t count;

	burin_profile_stack(burin_calls_profile(calls), function, &stack);
	return *view_keys_of(keys, stack.location, &count);
}

static int call_stats_find_keys(struct counter *counter, const struct view_globs *symbols)
{
	struct call_stats *stats = counter->stats;
	const uint32_t count = burin_calls_functions(stats->calls);

	counter->keys = calloc((size_t)count + 1, sizeof(*counter->keys));
	counter->selected = calloc((size_t)count + 1, sizeof(*counter->selected));
	stats->by_function = calloc((size_t)count + 1, sizeof(*stats->by_function));
	if (!counter->keys || !counter->selected || !stats->by_function)
		return -ENOMEM;
	for (uint32_t n = 0; n <= count; n++) {
		const char *name;

		counter->keys[n] = key_of(&stats->keys, stats->calls, n);
		name = view_key_text(&stats->names, key_of(&stats->names, stats->calls, n), VIEW_SYMBOL);
		counter->selected[n] = !symbols->count;
		for (size_t glob = 0; glob < symbols->count; glob++)
			counter->selected[n] |= view_symbol_fits(symbols->globs[glob], name);
	}
	counter->key_count = stats->keys.count;
	return view_keys_failed(&stats->keys) || view_keys_failed(&stats->names) ? -ENOMEM : 0;
}

static int call_stats_by_count(const void *a, const void *b)
{
	const struct call_counted *one = a, *other = b;

	return number_order(other->calls, one->calls) ?: number_order(one->key, other->key);
}

/* The functions whose calls were only counted. */
static int list_counted(const struct counter *counter)
{
	struct call_stats *stats = counter->stats;
	const uint32_t count = burin_calls_functions(stats->calls);

	stats->counted = calloc((size_t)count + 1, sizeof(*stats->counted));
	if (!stats->counted)
		return -ENOMEM;
	for (uint32_t n = 1; n <= count; n++) {
		const uint64_t calls = counter->selected[n] ? burin_calls_count(stats->calls, n) : 0;

		stats->by_function[n] += calls;
		if (calls)
			stats->counted[stats->counted_count++] =
				(struct call_counted){ key_of(&stats->names, stats->calls, n), calls };
	}
	if (stats->counted_count)
		qsort(stats->counted, stats->counted_count, sizeof(*stats->counted), call_stats_by_count);
	return 0;
}

/* ---- The whole */

/* Drop rows of functions that are not selected, and sum up. */
static void call_stats_sum_up(struct call_stats *stats)
{
	struct call_rows *rows = &stats->rows;
	size_t kept = 0;

	for (size_t n = 0; n < rows->count; n++) {
		struct call_row *row = rows->rows[n];

		if (!row->calls) {
			free(row);
			continue;
		}
		rows->rows[kept++] = row;
		rows->time += row->self;
		stats->call_count += row->calls;
		stats->open += row->calls - row->durations.count;
	}
	rows->count = kept;
}

static int call_stats_count_all(struct counter *counter, const struct view_profile_filter *filter,
				unsigned threads)
{
	const bool any_thread = !counter->threads.parts && !filter->pids.count && !filter->threads.count &&
				!filter->programs.count;
	const struct call_visitor visitor = { .select = any_thread ? NULL : call_stats_select_call,
					      .enter = call_stats_enter_call,
					      .leave = call_stats_leave_call,
					      .free_stack = free_stack,
					      .data = counter };
	struct call_walk_options options = {
		.from = filter->from, .to = filter->to, .threads = threads, .tids = &counter->stats->threads
	};
	struct view_where *where = NULL;
	int result = call_stats_find_keys(counter, &filter->symbols);

	if (!result)
		result =
			call_where_make(&where, counter->stats->trace, counter->stats->calls, &filter->where);
	options.where = where;
	if (!result)
		result = call_walk(counter->stats->trace, counter->stats->calls, &options, &visitor);
	view_where_free(where);
	result = result ? result : counter->result;
	return result ? result : list_counted(counter);
}

int call_stats_make(struct call_stats *stats, const struct burin_trace *trace,
		    const struct view_profile_filter *filter, unsigned parts, unsigned threads,
		    const struct call_stats_visitor *visitor)
{
	struct counter counter = { .stats = stats, .visitor = visitor };
	int result;

	*stats = (struct call_stats){ .trace = trace };
	result = burin_calls_open(&stats->calls, trace);
	if (result)
		return result;
	result = view_keys_make(&stats->keys, burin_calls_profile(stats->calls), parts, true)
			 ?: view_keys_make(&stats->names, burin_calls_profile(stats->calls),
					   1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, true);
	call_threads_init(&counter.threads, trace, filter, &stats->keys.strings, parts);
	if (!result)
		result = call_stats_count_all(&counter, filter, threads);
	call_stats_sum_up(stats);
	call_threads_free(&counter.threads);
	free(counter.keys);
	free(counter.selected);
	if (result)
		call_stats_free(stats);
	return result;
}

void call_stats_free(struct call_stats *stats)
{
	call_rows_free(&stats->rows);
	free(stats->counted);
	free(stats->by_function);
	if (stats->calls) {
		view_keys_free(&stats->keys);
		view_keys_free(&stats->names);
	}
	burin_calls_close(stats->calls);
	*stats = (struct call_stats){ .trace = NULL };
}
