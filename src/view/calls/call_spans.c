/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls, decoded span by span; see call_spans.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "view/calls/call_spans.h"
#include "view/read_ahead.h"
#include "wire/wire_call.h"

enum {
	TIES_MAX = 64, /* calls of one tick that are compared */
};

struct call_spans {
	struct read_ahead *ahead;
	const struct burin_calls *calls;
	const struct view_where *where;
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

/* Return: false: no memory. */
static bool append_call(struct read_ahead_items *items, const struct call_span_call *call)
{
	struct call_span_call *calls;

	if (!array_reserve_items(&items->items, &items->room, items->count + 1, sizeof(*calls), SIZE_MAX,
				 false))
		return false;
	calls = items->items;
	calls[items->count++] = *call;
	return true;
}

static int call_spans_add_call(struct read_ahead_items *items, const struct burin_call *call)
{
	struct call_span_call *calls;

	if (!append_call(items,
			 &(struct call_span_call){ .begin = call->begin < call->end ? call->begin : call->end,
						   .end = call->end,
						   .function = call->function,
						   .tid = call->tid,
						   .depth = call->depth,
						   .stack = call->stack }))
		return -ENOMEM;
	calls = items->items;
	if (__builtin_expect(items->count > 1 && calls[items->count - 2].end == call->end, 0))
		order_ties(calls, items->count);
	return 0;
}

/* If a record is a switch of a guest, add it. */
static int call_spans_add_switch(struct read_ahead_items *items, const struct burin_record *record)
{
	uint64_t vcpu, from, to;

	if (strcmp(record->event->name, WIRE_GUEST_SWITCH_EVENT) != 0 || burin_record_u64(record, 0, &vcpu) ||
	    burin_record_u64(record, 1, &from) || burin_record_u64(record, 2, &to))
		return 0;
	return append_call(items, &(struct call_span_call){ .begin = record->time,
							    .end = record->time,
							    .function = CALL_SPAN_SWITCH,
							    .tid = (uint32_t)vcpu,
							    .depth = (uint32_t)from,
							    .stack = (uint32_t)to })
		       ? 0
		       : -ENOMEM;
}

static int call_spans_decode(const void *data, const struct burin_record *record,
			     struct read_ahead_items *items)
{
	const struct call_spans *spans = data;
	struct burin_call call;

	if (burin_calls_call(spans->calls, record, &call))
		return call_spans_add_switch(items, record);
	return !spans->where || view_where_holds(spans->where, record) ? call_spans_add_call(items, &call)
								       : 0;
}

int call_where_make(struct view_where **where, const struct burin_trace *trace,
		    const struct burin_calls *calls, const struct view_conditions *conditions)
{
	const unsigned count = burin_trace_events(trace);
	bool *selected;
	int result;

	*where = NULL;
	if (!conditions->list.count)
		return 0;
	selected = calloc((size_t)count + 1, sizeof(*selected));
	if (!selected)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++)
		selected[n] = burin_calls_is_call(calls, burin_trace_event(trace, n + 1));
	result = view_where_make(where, trace, NULL, conditions, selected);
	free(selected);
	return result;
}

/* Without recorded arguments it has no record: then it is tested as the one that its end would have had, but for the CPU. */
bool call_where_open_holds(const struct view_where *where, const struct burin_trace *trace,
			   const struct burin_calls *calls, uint32_t number, const struct burin_call *call)
{
	const struct burin_record *values = where ? burin_calls_open_record(calls, number) : NULL;
	const struct {
		uint32_t function, low;
		uint16_t high, depth;
	} payload = { call->function, (uint32_t)call->begin, (uint16_t)(call->begin >> 32),
		      (uint16_t)call->depth };
	struct burin_record record = { .tid = call->tid,
				       .time = call->end,
				       .cpu = UINT32_MAX,
				       .payload = (const void *)&payload,
				       .payload_bytes = sizeof(payload) };

	if (!where)
		return true;
	if (values)
		record = *values;
	for (unsigned n = 1; !record.event && n <= burin_trace_events(trace); n++) {
		const struct burin_event *event = burin_trace_event(trace, n);

		if (event && burin_calls_is_call(calls, event) && strcmp(event->name, WIRE_CALL_EVENT) == 0)
			record.event = event;
	}
	return !record.event || view_where_end_holds(where, record.event->id - 1, &record);
}

int call_spans_open(struct call_spans **result, const struct burin_trace *trace,
		    const struct burin_calls *calls, uint64_t from, uint64_t to, unsigned threads,
		    const struct view_where *where)
{
	struct call_spans *spans = malloc(sizeof(*spans));
	int error;

	*result = NULL;
	if (!spans)
		return -ENOMEM;
	spans->calls = calls;
	spans->where = where;
	error = read_ahead_open(&spans->ahead, &(struct read_ahead_work){ .trace = trace,
									  .from = from,
									  .to = to,
									  .threads = threads,
									  .backwards = true,
									  .decode = call_spans_decode,
									  .data = spans });
	if (error) {
		free(spans);
		return error;
	}
	*result = spans;
	return 0;
}

int call_spans_next(struct call_spans *spans, const struct call_span_call **span, size_t *count)
{
	const struct read_ahead_items *items;
	const int result = read_ahead_next(spans->ahead, &items);

	if (result > 0) {
		*span = items->items;
		*count = items->count;
	}
	return result;
}

void call_spans_close(struct call_spans *spans)
{
	if (!spans)
		return;
	read_ahead_close(spans->ahead);
	free(spans);
}
