/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The critical path of spans; see critical.h.
 *
 * One pass through the trace, in order of time. Each record changes the states of threads first (sched_states.c);
 * then spans begin or end. So at the end of a span all states up to then are known: those that are over lie in the
 * history (sched_history.h), the present one in struct sched_thread.
 *
 * An end belongs to the innermost open begin of its name in its thread. Begins within it have no end. They, and those
 * of threads that have ended or that are open at the end of the trace, count as `unended` and have no path.
 *
 * No open span began before the history's floor. find_floor() looks for the true one after some spans, and when too much is
 * kept. A span that never ends must not need memory for ever: the history forgets then, and `dropped` counts it.
 *
 * A path is made of tasks on a stack of our own: a thread, and a time in it. The history cuts this time into pieces, one
 * for each state, so the pieces of a task add up to its time. A blocked
 * piece that a thread ended becomes a task of that thread, with the piece's time. So each level adds up to the waits
 * of the one above it, and the first to the span.
 *
 * Nothing makes such a task shorter than the one before it: two threads may have woken each other in one tick, after
 * the same sleep. DEPTH_MAX ends that; the piece where it does is CRITICAL_UNKNOWN.
 */
#include "view/sched/critical.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "read/trace.h"
#include "view/calls/call_threads.h"
#include "view/sched/sched_history.h"
#include "view/sched/sched_names.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_stacks.h"

enum {
	DEPTH_MAX = 64,	   /* threads that woke each other */
	OPEN_MAX = 1024,   /* spans of a thread in each other */
	FLOOR_EVERY = 256, /* spans, after which the oldest open one is looked for */
};

/* Whether an event is an end of spans. */
struct span_event {
	enum {
		SPAN_NONE,
		SPAN_BEGIN,
		SPAN_END
	} side;
	uint32_t name; /* string */
};

struct open_span {
	uint32_t name;
	uint64_t begin;
	bool out; /* the conditions of its begin do not hold */
};

/* The open spans of a thread. */
struct open_spans {
	struct open_span *open;
	size_t open_count, open_room;
};

/* A part of a path that is still to be followed. */
struct task {
	uint32_t thread; /* index */
	uint32_t node, span, depth;
	uint64_t from, to;
};

struct maker {
	struct critical *critical;
	const struct view_profile_filter *filter;
	struct kernel_view view;
	struct sched sched;
	struct sched_stacks stacks;
	struct span_event *events; /* by id */
	struct view_where *where;  /* by id of an event; NULL: there are no conditions */
	struct call_threads threads;
	struct sched_history history;
	struct sched_names names;
	struct open_spans *spans; /* by thread */
	size_t span_room;
	size_t open_count; /* spans of all */
	unsigned closed;
	struct task *tasks;
	size_t task_count, task_room;
	struct hash_table node_numbers;
};

/* ---- kept states */

static struct open_spans *spans_of(struct maker *maker, size_t thread)
{
	return array_reserve_zeroed(maker->spans, maker->span_room, thread + 1) ? &maker->spans[thread]
										: NULL;
}

/* The begin of the oldest open span. Spans of threads that have ended never end. */
static uint64_t find_floor(void *data, uint64_t now)
{
	struct maker *maker = data;
	uint64_t floor = now;

	for (size_t n = 0; n < maker->span_room && n < maker->sched.count; n++) {
		struct open_spans *spans = &maker->spans[n];

		if (maker->sched.threads[n].ended) {
			maker->critical->unended += spans->open_count;
			maker->open_count -= spans->open_count;
			spans->open_count = 0;
		}
		if (spans->open_count && spans->open[0].begin < floor)
			floor = spans->open[0].begin;
	}
	return floor;
}

static int keep_interval(void *data, const struct sched_interval *interval)
{
	struct maker *maker = data;

	if (!maker->open_count)
		maker->history.floor = interval->end; /* none needs it */
	return sched_history_keep(&maker->history, interval->thread, interval);
}

/* ---- nodes */

static uint32_t critical_find_node(struct maker *maker, const struct critical_node *wanted)
{
	struct critical *critical = maker->critical;
	const uint64_t hash =
		hash_pair(hash_pair(wanted->parent ? wanted->parent : ~wanted->span, wanted->thread),
			  hash_pair(hash_pair(wanted->what, wanted->state << 2 | wanted->end),
				    hash_pair(wanted->stack, wanted->waker)));
	struct critical_node *node;
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&maker->node_numbers, hash, &at));) {
		node = &critical->nodes[number];
		if (node->parent == wanted->parent && node->span == wanted->span &&
		    node->thread == wanted->thread && node->what == wanted->what &&
		    node->stack == wanted->stack && node->waker == wanted->waker &&
		    node->state == wanted->state && node->end == wanted->end)
			return number;
	}
	number = critical->count ? (uint32_t)critical->count : 1;
	if (number == UINT32_MAX || !array_reserve(critical->nodes, critical->room, (size_t)number + 1) ||
	    !hash_table_reserve(&maker->node_numbers))
		return 0;
	critical->nodes[number] = *wanted;
	critical->count = (size_t)number + 1;
	hash_table_add(&maker->node_numbers, hash, number);
	return number;
}

/* ---- paths */

static int critical_push(struct maker *maker, const struct task *task)
{
	if (!array_reserve(maker->tasks, maker->task_room, maker->task_count + 1))
		return -ENOMEM;
	maker->tasks[maker->task_count++] = *task;
	return 0;
}

static void add_stacks(struct maker *maker, uint32_t tid, const struct sched_interval *blocked,
		       struct critical_node *wanted)
{
	wanted->stack = sched_stacks_sleeper(&maker->stacks, tid, blocked->begin, blocked->end);
	if (blocked->waker)
		wanted->waker = sched_stacks_waker(&maker->stacks, tid, blocked->end);
}

/* A task, while its time is cut into pieces. */
struct followed {
	struct maker *maker;
	struct task task;
};

/*
 * Add a time of a thread in one state. A wait is followed to the thread that ended it.
 * @whole: the interval that it is a part of
 */
static int critical_add_piece(void *data, const struct sched_interval *piece,
			      const struct sched_interval *whole)
{
	const struct followed *followed = data;
	struct maker *maker = followed->maker;
	const struct task *task = &followed->task;
	struct critical_span *span = &maker->critical->spans[task->span];
	const bool blocked = piece->state == SCHED_BLOCKED;
	struct critical_node wanted = { .parent = task->node,
					.span = task->span,
					.depth = task->depth,
					.thread = sched_names_find(&maker->names, &maker->sched, task->thread,
								   piece->begin),
					.state = piece->state,
					.what = blocked ? piece->what : 0 };
	uint32_t node;

	if (!task->node)
		span->states[piece->state] += piece->end - piece->begin;
	if (blocked && (!piece->waker || task->depth + 1 >= DEPTH_MAX))
		wanted.end = CRITICAL_UNKNOWN;
	else if (blocked && !maker->sched.threads[piece->waker - 1].tid)
		wanted.end = CRITICAL_INTERRUPT;
	if (blocked && sched_stacks_exist(&maker->stacks))
		add_stacks(maker, maker->sched.threads[task->thread].tid, whole, &wanted);
	node = critical_find_node(maker, &wanted);
	if (!node)
		return -ENOMEM;
	maker->critical->nodes[node].count++;
	maker->critical->nodes[node].time += piece->end - piece->begin;
	if (!blocked || wanted.end != CRITICAL_THREAD)
		return 0;
	return critical_push(maker, &(struct task){ .thread = piece->waker - 1,
						    .node = node,
						    .span = task->span,
						    .depth = task->depth + 1,
						    .from = piece->begin,
						    .to = piece->end });
}

static int critical_follow(struct maker *maker, const struct task *task)
{
	const struct sched_interval now = sched_history_now(&maker->sched, task->thread);
	struct followed followed = { maker, *task };

	return sched_history_cut(&maker->history, task->thread, task->from, task->to, &now,
				 critical_add_piece, &followed);
}

/*
 * The stack of tasks is empty before and after. It is a stack of our own, since a path can be DEPTH_MAX deep and each
 * level has many pieces.
 */
static int add_span(struct maker *maker, size_t thread, uint32_t name, uint64_t begin, uint64_t end)
{
	struct critical *critical = maker->critical;
	struct critical_span *span;
	size_t number = 0;
	int error;

	while (number < critical->span_count && critical->spans[number].name != name)
		number++;
	if (number == critical->span_count) {
		if (!array_reserve(critical->spans, critical->span_room, critical->span_count + 1))
			return -ENOMEM;
		critical->spans[critical->span_count++] = (struct critical_span){ .name = name };
	}
	span = &critical->spans[number];
	span->count++;
	span->time += end - begin;
	span->max = end - begin > span->max ? end - begin : span->max;
	error = critical_push(maker, &(struct task){ .thread = (uint32_t)thread,
						     .span = (uint32_t)number,
						     .from = begin,
						     .to = end });
	while (!error && maker->task_count) {
		const struct task task = maker->tasks[--maker->task_count];

		error = critical_follow(maker, &task);
	}
	return error;
}

/* ---- records */

/*
 * At OPEN_MAX a thread has begins without ends, as a loop with a missing end leaves them: further ones are dropped,
 * so memory stays bounded.
 */
static int begin_span(struct maker *maker, struct open_spans *spans, uint32_t name, uint64_t ns, bool out)
{
	if (spans->open_count == OPEN_MAX) {
		maker->critical->unended++;
		return 0;
	}
	if (!array_reserve(spans->open, spans->open_room, spans->open_count + 1))
		return -ENOMEM;
	if (!maker->open_count++)
		maker->history.floor = ns;
	spans->open[spans->open_count++] = (struct open_span){ name, ns, out };
	return 0;
}

static bool critical_is_selected(struct maker *maker, const struct burin_record *record)
{
	const struct view_profile_filter *filter = maker->filter;
	struct call_thread_span span = { .tid = 0 };

	if (!filter->pids.count && !filter->threads.count && !filter->programs.count)
		return true;
	return call_threads_find(&maker->threads, record->tid, record->time, &span) == 0 && span.selected;
}

/* The innermost span of a name ends. Spans in it without an end are dropped. */
static int end_span(struct maker *maker, size_t thread, struct open_spans *spans, uint32_t name,
		    const struct burin_record *record, uint64_t ns)
{
	uint64_t begin;
	size_t at = spans->open_count;
	bool out;
	int error = 0;

	while (at && spans->open[at - 1].name != name)
		at--;
	if (!at) {
		maker->critical->unended++;
		return 0;
	}
	begin = spans->open[--at].begin;
	out = spans->open[at].out || !view_where_end_holds(maker->where, record->event->id, record);
	maker->critical->unended += spans->open_count - at - 1;
	maker->open_count -= spans->open_count - at;
	spans->open_count = at;
	if (!out && begin >= sched_read_ns(maker->critical->trace, maker->filter->from) &&
	    critical_is_selected(maker, record))
		error = add_span(maker, thread, name, begin, ns);
	if (++maker->closed % FLOOR_EVERY == 0)
		maker->history.floor = find_floor(maker, ns);
	return error;
}

static int critical_take_span(struct maker *maker, const struct burin_record *record, uint64_t ns)
{
	const uint32_t id = record->event->id;
	const struct span_event *event =
		&maker->events[record->ring != UINT32_MAX && id <= maker->view.count ? id : 0];
	struct open_spans *spans;
	size_t thread;

	if (event->side == SPAN_NONE)
		return 0;
	thread = sched_find(&maker->sched, record->tid, ns);
	spans = thread == SIZE_MAX ? NULL : spans_of(maker, thread);
	if (!spans)
		return -ENOMEM;
	return event->side == SPAN_BEGIN ? begin_span(maker, spans, event->name, ns,
						      !view_where_end_holds(maker->where, id, record))
					 : end_span(maker, thread, spans, event->name, record, ns);
}

static int critical_read_all(struct maker *maker)
{
	const struct burin_trace *trace = maker->critical->trace;
	const struct burin_cursor_options options = { .size = sizeof(options), .to = maker->filter->to };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	int result = burin_cursor_open(&cursor, trace, &options);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		const uint64_t ns = sched_read_ns(trace, record->time);

		result = sched_read_record(&maker->sched, &maker->view, record, ns);
		if (!result)
			result = critical_take_span(maker, record, ns);
	}
	burin_cursor_close(cursor);
	maker->critical->unended += maker->open_count;
	return result;
}

/* ---- the whole */

/* Note which events begin and end spans that match. Return: how many do; -ENOMEM. */
static int find_events(struct maker *maker, const char *glob)
{
	const char *globs[] = { glob, NULL };
	const struct view_globs wanted = { .globs = globs, .count = 1 };
	struct critical *critical = maker->critical;
	int found = 0;

	maker->events = calloc((size_t)maker->view.count + 1, sizeof(*maker->events));
	for (unsigned id = 1; maker->events && id <= maker->view.count; id++) {
		const struct burin_event *event = burin_trace_event(critical->trace, id);
		const struct kernel_event *kernel = &maker->view.events[id];
		struct span_event *out = &maker->events[id];
		char name[512];
		size_t bytes = event ? strlen(event->name) : 0;

		if (kernel->kind == KERNEL_ENTER && kernel_never_ends(critical->strings.texts[kernel->call]))
			continue;
		if (kernel->kind == KERNEL_ENTER || kernel->kind == KERNEL_LEAVE) {
			out->side = kernel->kind == KERNEL_ENTER ? SPAN_BEGIN : SPAN_END;
			out->name = kernel->call;
		} else if (event && (event->kind == BURIN_KIND_BEGIN || event->kind == BURIN_KIND_END) &&
			   bytes < sizeof(name)) {
			const size_t suffix =
				event->kind == BURIN_KIND_BEGIN ? sizeof(".begin") - 1 : sizeof(".end") - 1;

			memcpy(name, event->name, bytes + 1);
			name[bytes > suffix ? bytes - suffix : bytes] = 0;
			out->side = event->kind == BURIN_KIND_BEGIN ? SPAN_BEGIN : SPAN_END;
			out->name = view_string(&critical->strings, name);
		}
		if (out->side && !view_globs_match(&wanted, critical->strings.texts[out->name]))
			out->side = SPAN_NONE;
		found += out->side != SPAN_NONE;
	}
	return maker->events && !critical->strings.failed ? found : -ENOMEM;
}

static int critical_compile(struct maker *maker)
{
	const struct view_conditions *conditions = &maker->filter->where;
	struct view_where_end *ends;
	int error;

	if (!conditions->list.count)
		return 0;
	ends = calloc((size_t)maker->view.count + 1, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	for (unsigned id = 1; id <= maker->view.count; id++)
		if (maker->events[id].side != SPAN_NONE)
			ends[id] = (struct view_where_end){
				.event = burin_trace_event(maker->critical->trace, id),
				.name = maker->critical->strings.texts[maker->events[id].name],
				.of = maker->events[id].name,
				.last = maker->events[id].side == SPAN_END,
			};
	error = view_where_make_ends(&maker->where, maker->critical->trace, conditions, ends,
				     maker->view.count + 1);
	free(ends);
	return error;
}

static int critical_by_time(const void *a, const void *b)
{
	const struct critical_span *one = a, *other = b;

	return number_order(other->time, one->time) ?: number_order(one->name, other->name);
}

/* Hang a node below its parent, behind those that are larger. */
static void critical_hang(struct critical *critical, uint32_t number)
{
	struct critical_node *node = &critical->nodes[number];
	uint32_t *link =
		node->parent ? &critical->nodes[node->parent].child : &critical->spans[node->span].child;

	while (*link && critical->nodes[*link].time >= node->time)
		link = &critical->nodes[*link].next;
	node->next = *link;
	*link = number;
}

static void make_tree(struct critical *critical)
{
	for (uint32_t n = 1; n < critical->count; n++)
		critical_hang(critical, n);
	if (critical->span_count)
		qsort(critical->spans, critical->span_count, sizeof(*critical->spans), critical_by_time);
}

uint32_t critical_next(const struct critical *critical, size_t span, uint32_t number)
{
	if (!number)
		return critical->spans[span].child;
	if (critical->nodes[number].child)
		return critical->nodes[number].child;
	while (number && !critical->nodes[number].next)
		number = critical->nodes[number].parent;
	return number ? critical->nodes[number].next : 0;
}

static void critical_free_maker(struct maker *maker)
{
	for (size_t n = 0; n < maker->span_room; n++)
		free(maker->spans[n].open);
	free(maker->spans);
	sched_history_free(&maker->history);
	sched_names_free(&maker->names);
	free(maker->tasks);
	free(maker->events);
	view_where_free(maker->where);
	hash_table_free(&maker->node_numbers);
	call_threads_free(&maker->threads);
	kernel_view_free(&maker->view);
	sched_free(&maker->sched);
	sched_stacks_free(&maker->stacks);
}

int critical_make(struct critical *critical, const struct burin_trace *trace, const char *span,
		  const struct view_profile_filter *filter)
{
	struct maker maker = { .critical = critical,
			       .filter = filter,
			       .history = { .find_floor = find_floor, .data = &maker },
			       .names = { .trace = trace, .strings = &critical->strings } };
	int result;

	*critical = (struct critical){ .trace = trace };
	maker.sched.closed = keep_interval;
	maker.sched.data = &maker;
	call_threads_init(&maker.threads, trace, filter, &critical->strings, 0);
	result = sched_read_begin(&maker.sched, &maker.view, trace, &critical->strings);
	critical->has_wakes = !result && maker.view.has[KERNEL_WAKING];
	if (!result) {
		result = find_events(&maker, span);
		result = result > 0 ? 0 : result ? result : -ENOENT;
	}
	if (!result)
		result = critical_compile(&maker);
	if (!result)
		result = sched_stacks_make(&maker.stacks, trace, &critical->strings);
	if (!result)
		result = critical_read_all(&maker);
	critical->dropped = maker.history.dropped;
	critical->missing = sched_missing(&maker.sched, critical->has_wakes);
	if (!result && critical->strings.failed)
		result = -ENOMEM;
	if (!result)
		make_tree(critical);
	critical_free_maker(&maker);
	if (result)
		critical_free(critical);
	return result;
}

void critical_free(struct critical *critical)
{
	free(critical->spans);
	free(critical->nodes);
	view_strings_free(&critical->strings);
	*critical = (struct critical){ .spans = NULL };
}
