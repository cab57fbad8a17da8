/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls, decoded span by span; see call_spans.h.
 *
 * Threads take spans from the end of the trace towards its begin, and the caller gets them in the same order. A slot
 * has one of these states, all of them changed under `lock`:
 *
 *	free	->ready is false: its span is not taken, or is being decoded by the thread that took it
 *	ready	decoded; it belongs to the caller, from call_spans_next() to the next call of it
 *	passed	the caller came for the next span: `passed` is behind it, and the slot is free again
 *
 * The span decides the slot: its number modulo the slots. A thread may take a span only if the one before in that
 * slot has been passed. There is one slot more than threads, so that each can decode while the caller still reads
 * one. So no span is overwritten, and the one for which the caller waits is always taken by some thread: spans are
 * taken in order, and only later ones wait for the caller.
 *
 * If some threads cannot be made, the others do it all; if none can, the caller decodes by itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "read/trace.h"
#include "view/calls/call_spans.h"
#include "wire/wire_call.h"

enum {
	SPAN_BYTES = 1 << 20,
	SPAN_BYTES_RING = 1 << 16, /* per ring, since each span seeks in each ring anew */
	THREADS_MAX = 16,
	TIES_MAX = 64, /* calls of one tick that are compared */
};

/* A span that a thread decodes, or has decoded. */
struct slot {
	struct call_span_call *calls;
	size_t count, room;
	int result;
	bool ready;
};

struct call_spans {
	const struct burin_trace *trace;
	const struct burin_calls *calls;
	uint64_t *bounds;
	size_t span_count;
	/* Spans are counted from the last one: span 0 ends with the trace. A span's slot is its number modulo the slots. */
	struct slot slots[THREADS_MAX + 1];
	size_t slot_count;
	size_t taken;  /* spans that threads have taken */
	size_t passed; /* spans that the caller no longer needs */
	size_t next;   /* the span for the caller */
	bool stop;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[THREADS_MAX];
	unsigned thread_count;
	struct burin_cursor *cursor; /* of the caller, if there are no threads */
};

/*
 * Two calls of one stack that end in one tick may be in two rings, and then come in the order of the rings: put the callee
 * first. A call without a duration keeps its place: it takes no time from any call.
 */
static void order_ties(struct call_span_call *calls, size_t count)
{
	const struct call_span_call last = calls[count - 1];
	const uint64_t key = call_stack_key(last.stack, last.tid);
	size_t at = count - 1, wanted = at;

	while (at && calls[at - 1].end == last.end && count - at < TIES_MAX) {
		const struct call_span_call *other = &calls[--at];

		if (call_stack_key(other->stack, other->tid) != key)
			continue;
		if (last.begin == last.end || last.begin < other->begin ||
		    !call_is_deeper(last.depth, other->depth))
			break;
		wanted = at;
	}
	for (at = count - 1; at > wanted; at--)
		calls[at] = calls[at - 1];
	calls[wanted] = last;
}

static int call_spans_add_call(struct slot *slot, const struct burin_call *call)
{
	if (!array_reserve(slot->calls, slot->room, slot->count + 1))
		return -ENOMEM;
	slot->calls[slot->count++] =
		(struct call_span_call){ .begin = call->begin < call->end ? call->begin : call->end,
					 .end = call->end,
					 .function = call->function,
					 .tid = call->tid,
					 .depth = call->depth,
					 .stack = call->stack };
	if (__builtin_expect(slot->count > 1 && slot->calls[slot->count - 2].end == call->end, 0))
		order_ties(slot->calls, slot->count);
	return 0;
}

/* If a record is a switch of a guest, add it. */
static int call_spans_add_switch(struct slot *slot, const struct burin_record *record)
{
	uint64_t vcpu, from, to;

	if (strcmp(record->event->name, WIRE_GUEST_SWITCH_EVENT) != 0 || burin_record_u64(record, 0, &vcpu) ||
	    burin_record_u64(record, 1, &from) || burin_record_u64(record, 2, &to))
		return 0;
	if (!array_reserve(slot->calls, slot->room, slot->count + 1))
		return -ENOMEM;
	slot->calls[slot->count++] = (struct call_span_call){ .begin = record->time,
							      .end = record->time,
							      .function = CALL_SPAN_SWITCH,
							      .tid = (uint32_t)vcpu,
							      .depth = (uint32_t)from,
							      .stack = (uint32_t)to };
	return 0;
}

static int call_spans_decode(const struct call_spans *spans, size_t number, struct burin_cursor **cursor,
			     struct slot *slot)
{
	const uint64_t *bounds = &spans->bounds[spans->span_count - 1 - number];
	const struct burin_cursor_options options = { .size = sizeof(options),
						      .from = bounds[0],
						      .to = bounds[1] };
	const struct burin_record *record;
	struct burin_call call;
	int result = *cursor ? read_cursor_span(*cursor, options.from, options.to)
			     : burin_cursor_open(cursor, spans->trace, &options);

	slot->count = 0;
	while (!result && (result = burin_cursor_next(*cursor, &record)) > 0)
		result = burin_calls_call(spans->calls, record, &call) ? call_spans_add_switch(slot, record)
								       : call_spans_add_call(slot, &call);
	return result;
}

/* A span to decode, once its slot is free. Return: false: there are no more. */
static bool call_spans_take_span(struct call_spans *spans, size_t *number)
{
	bool is_span;

	pthread_mutex_lock(&spans->lock);
	while (!spans->stop && spans->taken < spans->span_count &&
	       spans->taken >= spans->passed + spans->slot_count)
		pthread_cond_wait(&spans->changed, &spans->lock);
	is_span = !spans->stop && spans->taken < spans->span_count;
	if (is_span)
		*number = spans->taken++;
	pthread_mutex_unlock(&spans->lock);
	return is_span;
}

static void *call_spans_work(void *data)
{
	struct call_spans *spans = data;
	struct burin_cursor *cursor = NULL;
	size_t number;

	while (call_spans_take_span(spans, &number)) {
		struct slot *slot = &spans->slots[number % spans->slot_count];
		const int result = call_spans_decode(spans, number, &cursor, slot);

		pthread_mutex_lock(&spans->lock);
		slot->result = result;
		slot->ready = true;
		pthread_cond_broadcast(&spans->changed);
		pthread_mutex_unlock(&spans->lock);
	}
	burin_cursor_close(cursor);
	return NULL;
}

int call_spans_open(struct call_spans **result, const struct burin_trace *trace,
		    const struct burin_calls *calls, uint64_t from, uint64_t to, unsigned threads)
{
	struct call_spans *spans = calloc(1, sizeof(*spans));
	uint64_t bytes = (uint64_t)SPAN_BYTES_RING * burin_trace_rings(trace);
	ssize_t count;

	*result = NULL;
	if (!spans)
		return -ENOMEM;
	spans->trace = trace;
	spans->calls = calls;
	count = read_time_partition(trace, from, to, bytes < SPAN_BYTES ? SPAN_BYTES : bytes, &spans->bounds);
	if (count < 0) {
		free(spans);
		return (int)count;
	}
	spans->span_count = (size_t)count;
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	spans->slot_count = threads + 1;
	pthread_mutex_init(&spans->lock, NULL);
	pthread_cond_init(&spans->changed, NULL);
	if (threads > 1 && spans->span_count > 1)
		while (spans->thread_count < threads &&
		       !pthread_create(&spans->threads[spans->thread_count], NULL, call_spans_work, spans))
			spans->thread_count++;
	*result = spans;
	return 0;
}

static int next_of_threads(struct call_spans *spans, struct slot *slot)
{
	int result;

	pthread_mutex_lock(&spans->lock);
	if (spans->next) {
		spans->slots[(spans->next - 1) % spans->slot_count].ready = false;
		spans->passed = spans->next;
		pthread_cond_broadcast(&spans->changed);
	}
	while (!slot->ready)
		pthread_cond_wait(&spans->changed, &spans->lock);
	result = slot->result;
	pthread_mutex_unlock(&spans->lock);
	return result;
}

int call_spans_next(struct call_spans *spans, const struct call_span_call **span, size_t *count)
{
	struct slot *slot = &spans->slots[spans->next % spans->slot_count];
	int result;

	if (spans->next == spans->span_count)
		return 0;
	result = spans->thread_count ? next_of_threads(spans, slot)
				     : call_spans_decode(spans, spans->next, &spans->cursor, slot);
	spans->next++;
	*span = slot->calls;
	*count = slot->count;
	return result < 0 ? result : 1;
}

void call_spans_close(struct call_spans *spans)
{
	if (!spans)
		return;
	pthread_mutex_lock(&spans->lock);
	spans->stop = true;
	pthread_cond_broadcast(&spans->changed);
	pthread_mutex_unlock(&spans->lock);
	for (unsigned n = 0; n < spans->thread_count; n++)
		pthread_join(spans->threads[n], NULL);
	burin_cursor_close(spans->cursor);
	for (size_t n = 0; n < spans->slot_count; n++)
		free(spans->slots[n].calls);
	pthread_cond_destroy(&spans->changed);
	pthread_mutex_destroy(&spans->lock);
	free(spans->bounds);
	free(spans);
}
