/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Begins and ends of calls by time; see uftrace_order.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "export/uftrace/uftrace_order.h"
#include "wire/wire_call.h"
#include "file/create.h"
#include "file/write.h"
#include "read/trace.h"
#include "view/losses.h"

enum {
	SPAN_BYTES = 16 << 20, /* of the trace, read at once */
	LANES_MAX = 64,	       /* of a thread */
	BUFFER_MIN = 1024,     /* words; a record has two, and perhaps UFTRACE_VALUES_WORDS */
	BUFFER_MAX = 16384,
	TID_UNUSED = (1 << 22) + 1, /* the kernel's tids are smaller */
};

struct items {
	struct uftrace_item *list;
	size_t count, room;
};

uint64_t uftrace_order_ns(const struct burin_trace *trace, uint64_t ticks)
{
	const int64_t ns = burin_trace_ns(trace, ticks), zero = burin_trace_ns(trace, 0);

	return ns > zero ? (uint64_t)ns - (uint64_t)zero : 0;
}

/* ---- Lanes */

static struct uftrace_lane *uftrace_order_add_lane(struct uftrace_order *order, uint32_t thread)
{
	if (!array_reserve_zeroed(order->lanes, order->lane_room, order->lane_count + 1))
		return NULL;
	order->lanes[order->lane_count] = (struct uftrace_lane){ .thread = thread, .first = UINT64_MAX };
	return &order->lanes[order->lane_count++];
}

/* The first lane of a thread: its index + 1; 0: no memory. */
static uint32_t first_lane(struct uftrace_order *order, uint32_t thread)
{
	const uint64_t hash = hash_pair(thread, 1);
	uint32_t number;

	for (size_t at = 0; (number = hash_table_next(&order->table, hash, &at));)
		if (order->lanes[number - 1].thread == thread)
			return number;
	if (!hash_table_reserve(&order->table) || !uftrace_order_add_lane(order, thread))
		return 0;
	hash_table_add(&order->table, hash, (uint32_t)order->lane_count);
	return (uint32_t)order->lane_count;
}

/* The lane behind another one of the same thread, which is made if there is none. Index + 1; 0: no memory. */
static uint32_t next_lane(struct uftrace_order *order, uint32_t number)
{
	if (!order->lanes[number - 1].next) {
		if (!uftrace_order_add_lane(order, order->lanes[number - 1].thread))
			return 0;
		order->lanes[number - 1].next = (uint32_t)order->lane_count;
	}
	return order->lanes[number - 1].next;
}

/* ---- Output, from the last record to the first */

static int make_file(struct uftrace_order *order, const struct uftrace_lane *lane)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "%u.dat", lane->tid);
	fd = uftrace_directory_make(order->directory, name);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Files are opened for each buffer: there may be more threads than descriptors. */
static int uftrace_order_flush(struct uftrace_order *order, struct uftrace_lane *lane)
{
	const uint64_t *from;
	char name[32];
	int fd, error;

	if (!lane->buffered) /* perhaps without a buffer */
		return 0;
	from = lane->buffer + lane->buffer_room - lane->buffered;
	snprintf(name, sizeof(name), "%u.dat", lane->tid);
	fd = create_reopen(order->directory->fd, name);
	if (fd < 0)
		return fd;
	error = write_fully(fd, from, lane->buffered * sizeof(*from), lane->left * sizeof(*from));
	if (close(fd) != 0 && !error)
		error = -errno;
	lane->buffered = 0;
	return error;
}

static int uftrace_order_make_room(struct uftrace_order *order, struct uftrace_lane *lane)
{
	const int error = uftrace_order_flush(order, lane);
	uint64_t *larger;
	size_t room = lane->buffer_room ? lane->buffer_room * 4 : BUFFER_MIN;

	if (error || lane->buffer_room >= BUFFER_MAX)
		return error;
	larger = malloc(room * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	free(lane->buffer);
	lane->buffer = larger;
	lane->buffer_room = room;
	return 0;
}

/* Words in front of those that are in the buffer. Return: NULL: *error says why. */
static uint64_t *words_for(struct uftrace_order *order, struct uftrace_lane *lane, size_t count, int *error)
{
	*error = lane->left < count ? -EIO : 0; /* the trace has changed since the first pass */
	while (!*error && lane->buffer_room - lane->buffered < count)
		*error = uftrace_order_make_room(order, lane);
	if (*error)
		return NULL;
	lane->left -= count;
	lane->buffered += count;
	return lane->buffer + lane->buffer_room - lane->buffered;
}

/* @more, @count: words that follow the record */
static int uftrace_order_emit(struct uftrace_order *order, struct uftrace_lane *lane, unsigned type,
			      uint64_t time, uint64_t address, const uint64_t *more, size_t count)
{
	uint64_t *words;
	int error;

	lane->first = time;
	if (!order->writing) {
		lane->words += 2 + count;
		return 0;
	}
	words = words_for(order, lane, 2 + count, &error);
	if (!words)
		return error;
	words[0] = uftrace_order_ns(order->trace, time);
	words[1] = wire_uftrace_word(type, (uint32_t)lane->depth, address) | (count ? WIRE_UFTRACE_MORE : 0);
	if (count)
		memcpy(words + 2, more, count * sizeof(*words));
	return 0;
}

/* ---- Calls */

static uint64_t uftrace_order_address_of(const struct uftrace_order *order, uint32_t function)
{
	return order->writing ? order->addresses[function] : 0;
}

static int uftrace_order_push(struct uftrace_order *order, struct uftrace_lane *lane,
			      const struct uftrace_frame *frame)
{
	(void)order;
	if (!array_reserve(lane->stack, lane->room, lane->depth + 1))
		return -ENOMEM;
	lane->stack[lane->depth++] = *frame;
	if (lane->depth > lane->deepest)
		lane->deepest = (uint32_t)lane->depth;
	return 0;
}

static int uftrace_order_pop(struct uftrace_order *order, struct uftrace_lane *lane)
{
	const struct uftrace_frame frame = lane->stack[--lane->depth];
	const int error = uftrace_order_emit(
		order, lane, WIRE_UFTRACE_ENTRY, frame.begin, uftrace_order_address_of(order, frame.function),
		frame.values ? frame.values->words : NULL, frame.values ? frame.values->arguments : 0);

	free(frame.values);
	return error;
}

/* Whether a call can be a callee of an open one. The recorded depth is its lower 16 bits. */
static bool uftrace_order_nests(const struct uftrace_frame *outer, const struct uftrace_frame *inner)
{
	return inner->begin >= outer->begin && (uint16_t)(inner->depth - outer->depth - 1) < INT16_MAX;
}

/* Emit the begins of calls that began at or after a time. */
static int pop_until(struct uftrace_order *order, struct uftrace_lane *lane, uint64_t time,
		     const struct uftrace_frame *inner)
{
	int error = 0;

	while (!error && lane->depth && lane->stack[lane->depth - 1].begin >= time &&
	       !(inner && uftrace_order_nests(&lane->stack[lane->depth - 1], inner)))
		error = uftrace_order_pop(order, lane);
	return error;
}

static int emit_end(struct uftrace_order *order, struct uftrace_lane *lane, const struct uftrace_item *item)
{
	const struct uftrace_values *values = item->call.values;

	return uftrace_order_emit(order, lane, WIRE_UFTRACE_EXIT, item->time,
				  uftrace_order_address_of(order, item->call.function),
				  values ? values->words + values->arguments : NULL,
				  values ? values->results : 0);
}

/* The values of the call are the lane's if it fits one. */
static int place_call(struct uftrace_order *order, uint32_t number, const struct uftrace_item *item)
{
	int error = 0;

	for (unsigned n = 0; number && n < LANES_MAX; n++) {
		struct uftrace_lane *lane = &order->lanes[number - 1];

		error = pop_until(order, lane, item->time, &item->call);
		if (error)
			return error;
		if (!lane->depth || uftrace_order_nests(&lane->stack[lane->depth - 1], &item->call)) {
			order->call_count++;
			order->other_stacks += n != 0;
			error = emit_end(order, lane, item);
			return error ? error : uftrace_order_push(order, lane, &item->call);
		}
		number = next_lane(order, number);
	}
	order->left_out++;
	free(item->call.values);
	return number ? 0 : -ENOMEM;
}

static int uftrace_order_place(struct uftrace_order *order, const struct uftrace_item *item)
{
	const uint32_t number = first_lane(order, item->tid);
	struct uftrace_lane *lane;
	int error;

	if (!number)
		return -ENOMEM;
	if (item->pid)
		order->lanes[number - 1].pid = item->pid;
	if (!item->event)
		return place_call(order, number, item);
	lane = &order->lanes[number - 1];
	error = pop_until(order, lane, item->time, NULL);
	order->event_count++;
	return error ? error
		     : uftrace_order_emit(order, lane, WIRE_UFTRACE_HAPPENED, item->time,
					  WIRE_UFTRACE_EVENT + item->call.function, NULL, 0);
}

/* When a process executed another program, which ends its open calls; UINT64_MAX: never. */
static uint64_t end_of_program(const struct burin_trace *trace, const struct burin_call *call)
{
	const struct burin_process *process = burin_trace_process(trace, call->pid, UINT64_MAX);
	uint64_t end = UINT64_MAX;

	/* The stack of a guest's task in its kernel outlives an exec. */
	if (!process || process->time <= call->begin || call->tid >= WIRE_GUEST_TID)
		return UINT64_MAX;
	process = burin_trace_process(trace, call->pid, call->begin);
	if (process->time > call->begin)
		return UINT64_MAX; /* the first program of this process */
	for (size_t n = 0; (process = burin_trace_process_at(trace, n)); n++)
		if (process->pid == call->pid && process->time > call->begin && process->time < end)
			end = process->time;
	return end;
}

static int compare_ended(const void *one, const void *other)
{
	const struct uftrace_item *a = one, *b = other;

	return number_order(a->time, b->time) ?: number_order(b->call.depth, a->call.depth);
}

/* The frame of an open call, with its arguments. */
static int open_frame(struct uftrace_order *order, uint32_t n, const struct burin_call *call,
		      struct uftrace_frame *frame)
{
	const struct burin_record *record = burin_calls_open_record(order->calls, n);

	*frame = (struct uftrace_frame){ call->begin, call->function, (uint16_t)call->depth, NULL };
	if (record && uftrace_values_make(order->calls, record, &frame->values))
		return -ENOMEM;
	if (frame->values)
		order->events[call->function] = record->event;
	return 0;
}

/* Calls that an exec ended, in the order of other calls. */
static int find_ended(struct uftrace_order *order)
{
	const uint32_t count = burin_calls_open_count(order->calls);

	for (uint32_t n = 0; n < count; n++) {
		struct burin_call call;
		uint64_t end;

		burin_calls_open_call(order->calls, n, &call);
		end = end_of_program(order->trace, &call);
		if (end == UINT64_MAX)
			continue;
		if (!array_reserve(order->ended, order->ended_room, order->ended_count + 1))
			return -ENOMEM;
		order->ended[order->ended_count] =
			(struct uftrace_item){ .time = end, .tid = call.tid, .pid = call.pid };
		if (open_frame(order, n, &call, &order->ended[order->ended_count].call))
			return -ENOMEM;
		order->ended_count++;
	}
	if (order->ended_count)
		qsort(order->ended, order->ended_count, sizeof(*order->ended), compare_ended);
	return 0;
}

/* Place the calls that an exec ended at or after a time. */
static int place_ended(struct uftrace_order *order, uint64_t time)
{
	int error = 0;

	while (!error && order->ended_left && order->ended[order->ended_left - 1].time >= time)
		error = uftrace_order_place(order, &order->ended[--order->ended_left]);
	return error;
}

/* Calls that had not ended: the outermost of each stack first; each stack is a lane. */
static int place_open(struct uftrace_order *order)
{
	const uint32_t count = burin_calls_open_count(order->calls);
	uint32_t number = 0, stack = 0, tid = 0;

	for (uint32_t n = 0; n < count; n++) {
		struct uftrace_frame frame;
		struct burin_call call;
		int error;

		burin_calls_open_call(order->calls, n, &call);
		if (end_of_program(order->trace, &call) != UINT64_MAX)
			continue;
		if (call.stack != stack || call.tid != tid || !number) {
			number = first_lane(order, call.tid);
			for (unsigned lanes = 1; number && order->lanes[number - 1].depth; lanes++)
				number = lanes < LANES_MAX ? next_lane(order, number) : 0;
			if (!number)
				return -ENOMEM;
			stack = call.stack;
			tid = call.tid;
			order->lanes[number - 1].pid = call.pid;
		}
		error = open_frame(order, n, &call, &frame)
				?: uftrace_order_push(order, &order->lanes[number - 1], &frame);
		if (error)
			return error;
		order->open_count++;
	}
	return 0;
}

/* ---- Reading backwards */

static bool is_sample(const struct burin_event *event)
{
	return !strncmp(event->name, "sample.", 7) && burin_event_find(event, "context") >= 0;
}

static int uftrace_order_take(struct uftrace_order *order, struct items *items,
			      const struct burin_record *record)
{
	const struct burin_thread *thread;
	struct burin_call call;
	struct uftrace_item *item;

	if (!record->event)
		return 0;
	if (is_sample(record->event)) {
		order->sample_count++;
		return 0;
	}
	if (!array_reserve(items->list, items->room, items->count + 1))
		return -ENOMEM;
	item = &items->list[items->count++];
	*item = (struct uftrace_item){ .time = record->time, .tid = record->tid };
	if (!burin_calls_call(order->calls, record, &call)) {
		item->call = (struct uftrace_frame){ call.begin, call.function, (uint16_t)call.depth, NULL };
		if (uftrace_values_make(order->calls, record, &item->call.values))
			return -ENOMEM;
		if (item->call.values)
			order->events[call.function] = record->event;
	} else {
		item->event = true;
		item->call.function = record->event->id;
	}
	/* The process is looked up once for a thread and span. */
	if (items->count > 1 && items->list[items->count - 2].tid == item->tid)
		return 0;
	thread = burin_trace_thread(order->trace, record->tid, record->time);
	item->pid = thread ? thread->pid : 0;
	return 0;
}

static int read_span(struct uftrace_order *order, struct burin_cursor *cursor, uint64_t from, uint64_t to,
		     struct items *items)
{
	const struct burin_record *record;
	int result = read_cursor_span(cursor, from, to);

	items->count = 0;
	while (!result && (result = burin_cursor_next(cursor, &record)) > 0)
		result = uftrace_order_take(order, items, record);
	for (size_t n = items->count; !result && n--;) {
		result = place_ended(order, items->list[n].time);
		if (!result)
			result = uftrace_order_place(order, &items->list[n]);
	}
	return result;
}

static int read_backwards(struct uftrace_order *order)
{
	struct burin_cursor *cursor = NULL;
	struct items items = { .count = 0 };
	uint64_t *bounds = NULL;
	const ssize_t spans = read_time_partition(order->trace, 0, 0, SPAN_BYTES, SPAN_BYTES, &bounds);
	int result = spans < 0 ? (int)spans : burin_cursor_open(&cursor, order->trace, NULL);

	for (ssize_t n = spans - 1; !result && n >= 0; n--)
		result = read_span(order, cursor, bounds[n], bounds[n + 1], &items);
	burin_cursor_close(cursor);
	free(items.list);
	free(bounds);
	return result;
}

/* One record for all losses: uftrace counts them by thread, a trace does not know whose the lost records were. */
static int emit_lost(struct uftrace_order *order)
{
	struct uftrace_lane *lane;
	struct view_losses losses;

	if (!order->writing) {
		view_losses_read(order->trace, &losses);
		order->lost = losses.sum;
	}
	if (!order->lost || !order->lane_count)
		return 0;
	for (size_t n = 0; !order->writing && n < order->lane_count; n++)
		if (order->lanes[n].first < order->lanes[order->lost_lane].first)
			order->lost_lane = n;
	lane = &order->lanes[order->lost_lane];
	return uftrace_order_emit(order, lane, WIRE_UFTRACE_LOST, lane->first, order->lost, NULL, 0);
}

static int uftrace_order_pass(struct uftrace_order *order)
{
	int error = place_open(order);

	order->ended_left = order->ended_count;
	if (!error)
		error = read_backwards(order);
	if (!error)
		error = place_ended(order, 0);
	for (size_t n = 0; !error && n < order->lane_count; n++)
		error = pop_until(order, &order->lanes[n], 0, NULL);
	return error ? error : emit_lost(order);
}

/* uftrace's users know the vCPUs of a guest by the id without what keeps it apart from the host's threads. */
static uint32_t uftrace_order_id_of(const struct uftrace_order *order, uint32_t thread)
{
	const uint32_t id = thread - WIRE_GUEST_VCPU;
	bool taken = thread < WIRE_GUEST_VCPU || thread >= WIRE_GUEST_PID;

	for (size_t n = 0; n < order->lane_count; n++)
		taken |= order->lanes[n].thread == id;
	return taken ? thread : id;
}

static void name_lanes(struct uftrace_order *order)
{
	uint32_t unused = TID_UNUSED;

	for (size_t n = 0; n < order->lane_count; n++)
		if (order->lanes[n].thread >= unused && order->lanes[n].thread < UINT32_MAX / 2)
			unused = order->lanes[n].thread + 1;
	for (size_t n = 0; n < order->lane_count; n++) {
		struct uftrace_lane *lane = &order->lanes[n];
		size_t first = first_lane(order, lane->thread) - 1;

		lane->tid = first == n ? uftrace_order_id_of(order, lane->thread) : unused++;
		lane->pid = order->lanes[first].pid ? order->lanes[first].pid : lane->thread;
	}
}

/* Lanes without records stay in the array, but have no file. */
int uftrace_order_count(struct uftrace_order *order)
{
	int error = find_ended(order);

	order->events =
		calloc((size_t)burin_calls_functions(order->calls) + 1, sizeof(const struct burin_event *));
	if (!order->events)
		error = -ENOMEM;
	if (!error)
		error = uftrace_order_pass(order);
	name_lanes(order);
	return error;
}

int uftrace_order_write(struct uftrace_order *order)
{
	int error = 0;

	order->writing = true;
	order->call_count = order->open_count = order->event_count = order->sample_count = 0;
	order->other_stacks = order->left_out = 0;
	for (size_t n = 0; !error && n < order->lane_count; n++) {
		order->lanes[n].left = order->lanes[n].words;
		if (order->lanes[n].words)
			error = make_file(order, &order->lanes[n]);
	}
	if (!error)
		error = uftrace_order_pass(order);
	for (size_t n = 0; !error && n < order->lane_count; n++) {
		error = uftrace_order_flush(order, &order->lanes[n]);
		if (!error && order->lanes[n].left)
			error = -EIO;
	}
	return error;
}

uint32_t uftrace_order_deepest(const struct uftrace_order *order)
{
	uint32_t deepest = 0;

	for (size_t n = 0; n < order->lane_count; n++)
		if (order->lanes[n].deepest > deepest)
			deepest = order->lanes[n].deepest;
	return deepest;
}

void uftrace_order_free(struct uftrace_order *order)
{
	for (size_t n = 0; n < order->lane_count; n++) {
		for (size_t at = 0; at < order->lanes[n].depth; at++)
			free(order->lanes[n].stack[at].values);
		free(order->lanes[n].stack);
		free(order->lanes[n].buffer);
	}
	free(order->lanes);
	free(order->ended);
	free(order->events);
	hash_table_free(&order->table);
}
