/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls: records, open calls and counts; their functions are a profile (profile_open.c).
 *
 * A trace has calls in two forms. Those that have ended are records, in the order of their ends, and are read
 * by a cursor. Those that had not ended when the recording or the last chunk did are in the table
 * `calls.open`. A snapshot looks at open calls while threads go on, so one may be in both: its entry has
 * `ending` set, and then it is open only if no record has its thread, begin and depth (note_ended()).
 *
 * Stacks. A thread usually has one, and its number is not needed: `stack` is 0. Coroutines and guests switch
 * between several; records of WIRE_CALL_STACK_EVENT say when. A record of a call has no stack, so it is that
 * of its thread at its end (read_calls_stack()), by binary search in the switches.
 *
 * So opening calls may read the whole trace once (trace_calls_scan()): if an open call may have ended, or if
 * there were switches. Other traces are not read.
 *
 * Numbers of functions are per chunk; function_number() makes them numbers of the whole trace. Open calls and
 * counts are written at the end of a recording, so those of the newest chunk are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "burin/calls.h"
#include "base/containers/array.h"
#include "base/number.h"
#include "read/profile/trace_open_values.h"
#include "read/profile/profile_parts.h"
#include "wire/wire_call.h"

enum {
	CALL_PAYLOAD = 12, /* bytes */
	CALL_FIELDS = 4,
	SWITCH_PAYLOAD = 8,
};

struct open_call {
	uint32_t stack, tid, pid, depth, function;
	uint32_t own;	 /* the stack's number in the session; `stack` is 0 if its thread has no other */
	uint32_t ending; /* 1: it may have a record */
	uint32_t values; /* number of its arguments; 0: none */
	bool ended;	 /* it has a record */
	uint64_t start;
};

/* A thread continued on another stack. */
struct stack_switch {
	uint32_t tid, from, to;
	uint64_t time;
};

struct call_count {
	uint32_t function;
	uint64_t calls;
};

struct burin_calls {
	const struct burin_trace *trace;
	struct burin_profile *functions;
	bool *kinds; /* by event id - 1: its records are calls */
	struct open_call *open;
	uint32_t open_count;
	struct read_open_values values;		/* of these */
	uint64_t *counts;			/* by function */
	uint32_t *same;				/* by function: the lowest number of an equal one */
	const struct burin_event *switch_event; /* NULL: no thread had more than one stack */
	struct stack_switch *switches;		/* by thread and time */
	size_t switch_count, switch_room;
};

static int take_open(void *data, struct read_entry *entry)
{
	struct open_call call;

	(void)data;
	call.stack = read_entry_u32(entry, "the stack's number has more than 32 bits");
	call.tid = read_entry_u32(entry, "the thread's id has more than 32 bits");
	call.pid = read_entry_u32(entry, "the process's id has more than 32 bits");
	call.depth = read_entry_u32(entry, "the depth has more than 32 bits");
	call.function = read_entry_u32(entry, "the function's number has more than 32 bits");
	call.start = read_entry_number(entry, UINT64_MAX, "");
	call.ending = (uint32_t)read_entry_number(entry, 1, "the mark of an end is neither 0 nor 1");
	if (!entry->reason)
		*(struct open_call *)entry->row = call;
	return 0;
}

static int trace_calls_take_count(void *data, struct read_entry *entry)
{
	struct call_count count;

	(void)data;
	count.function = read_entry_u32(entry, "the function's number has more than 32 bits");
	count.calls = read_entry_number(entry, UINT64_MAX, "");
	if (!entry->reason)
		*(struct call_count *)entry->row = count;
	return 0;
}

static uint64_t table_memory(const void *data)
{
	const struct burin_calls *calls = data;

	return read_profile_memory(calls->functions) + calls->open_count * sizeof(*calls->open);
}

/* The number of a chunk's function among those of all chunks; 0: there is none. */
static uint32_t function_number(const struct burin_calls *calls, uint32_t chunk, uint32_t number)
{
	const uint32_t *bases = calls->functions->stack_bases;

	return chunk < calls->trace->chunk_count && number - 1 < bases[chunk + 1] - bases[chunk]
		       ? bases[chunk] + number
		       : 0;
}

static int compare_open(const void *one, const void *other)
{
	const struct open_call *a = one, *b = other;

	return number_order(a->stack, b->stack) ?: number_order(a->depth, b->depth);
}

/* The open calls of the last chunk: those of earlier chunks ended later, or are still open. */
static int load_open(struct burin_calls *calls)
{
	const struct read_table table = {
		".burin/calls.open", WIRE_TABLE_OPEN, 7, sizeof(struct open_call), 0, take_open, table_memory
	};
	const unsigned chunk = read_table_newest(calls->trace, table.file);
	int result = read_table_load(calls->trace, &table, chunk, calls, (void **)&calls->open,
				     &calls->open_count);
	uint32_t kept = 0;

	if (!result)
		result = read_open_values_load(&calls->values, calls->trace, chunk, calls->kinds,
					       calls->open_count);
	for (uint32_t n = 1; n <= calls->values.count; n++)
		if (read_open_values_record(&calls->values, n))
			calls->open[read_open_values_call(&calls->values, n) - 1].values = n;
	for (uint32_t n = 0; n < calls->open_count; n++) {
		struct open_call call = calls->open[n];

		call.function = function_number(calls, chunk, call.function);
		if (call.function && call.start)
			calls->open[kept++] = call;
		else if (calls->open[n].stack) /* otherwise the entry could not be read, which was reported */
			read_fault(calls->trace, BURIN_FAULT_TABLE, table.file, n + 1,
				   call.start ? "a call of a function that does not exist"
					      : "a call without a begin");
	}
	calls->open_count = kept;
	if (kept)
		qsort(calls->open, kept, sizeof(*calls->open), compare_open);
	return result;
}

/* Their records have the time and thread of the calls. */
static void set_open_values(struct burin_calls *calls)
{
	struct burin_call call;

	for (uint32_t n = 0; !burin_calls_open_call(calls, n, &call); n++)
		if (calls->open[n].values)
			read_open_values_set(&calls->values, calls->open[n].values, &call);
}

static int load_counts(struct burin_calls *calls)
{
	const struct read_table table = {
		".burin/calls.counts",	WIRE_TABLE_COUNTS, 2, sizeof(struct call_count), 0,
		trace_calls_take_count, table_memory
	};
	const unsigned chunk = read_table_newest(calls->trace, table.file);
	struct call_count *counts = NULL;
	uint32_t count = 0;
	int result = read_table_load(calls->trace, &table, chunk, calls, (void **)&counts, &count);

	calls->counts = calloc((size_t)calls->functions->stack_count + 1, sizeof(*calls->counts));
	for (uint32_t n = 0; calls->counts && n < count; n++) {
		const uint32_t function = function_number(calls, chunk, counts[n].function);

		calls->counts[function] = counts[n].calls;
		if (!function && counts[n].calls)
			read_fault(calls->trace, BURIN_FAULT_TABLE, table.file, n + 1,
				   "calls of a function that does not exist");
	}
	free(counts);
	return calls->counts ? result : -ENOMEM;
}

/* Equal functions have the same location. */
static int find_same(struct burin_calls *calls)
{
	const struct burin_profile *profile = calls->functions;
	uint32_t *first = calloc(profile->locations.count + 1, sizeof(*first));

	calls->same = calloc((size_t)profile->stack_count + 1, sizeof(*calls->same));
	for (uint32_t n = 1; first && calls->same && n <= profile->stack_count; n++) {
		const uint32_t location = profile->stacks[n - 1].location;

		if (location && !first[location])
			first[location] = n;
		calls->same[n] = location ? first[location] : n;
	}
	free(first);
	return calls->same ? 0 : -ENOMEM;
}

static const struct burin_event *trace_calls_find_event(const struct burin_trace *trace, const char *name,
							unsigned payload_bytes)
{
	for (unsigned n = 0; n < trace->event_count; n++)
		if (trace->events[n].valid && strcmp(trace->events[n].open.name, name) == 0 &&
		    !trace->events[n].variable && trace->events[n].payload_bytes == payload_bytes)
			return &trace->events[n].open;
	return NULL;
}

static int trace_calls_add_switch(struct burin_calls *calls, const struct burin_record *record)
{
	struct stack_switch added = { .tid = record->tid, .time = record->time };
	uint32_t stacks[2];

	if (record->payload_bytes < sizeof(stacks))
		return 0;
	if (!array_reserve(calls->switches, calls->switch_room, calls->switch_count + 1))
		return -ENOMEM;
	memcpy(stacks, (const char *)record->payload + record->payload_bytes - sizeof(stacks),
	       sizeof(stacks));
	added.from = stacks[0];
	added.to = stacks[1];
	calls->switches[calls->switch_count++] = added;
	return 0;
}

/* A record has the thread, the begin, and 16 bits of the depth. */
static int compare_calls(const void *one, const void *other)
{
	const struct open_call *a = *(struct open_call *const *)one, *b = *(struct open_call *const *)other;

	return number_order(a->tid, b->tid) ?: number_order(a->start, b->start)
		?: number_order((uint16_t)a->depth, (uint16_t)b->depth);
}

/* Open calls that may have a record: in a snapshot all of them, so they are sorted. */
struct ending_calls {
	struct open_call **calls;
	size_t count;
};

static int find_ending(const struct burin_calls *calls, struct ending_calls *ending)
{
	*ending = (struct ending_calls){ .calls = calloc(calls->open_count + 1UL, sizeof(*ending->calls)) };
	if (!ending->calls)
		return -ENOMEM;
	for (uint32_t n = 0; n < calls->open_count; n++)
		if (calls->open[n].ending)
			ending->calls[ending->count++] = &calls->open[n];
	if (ending->count)
		qsort(ending->calls, ending->count, sizeof(*ending->calls), compare_calls);
	return 0;
}

/* A call has a record, so it is not open. */
static void note_ended(const struct ending_calls *ending, const struct burin_call *call)
{
	const struct open_call wanted = { .tid = call->tid, .start = call->begin, .depth = call->depth },
			       *const key = &wanted;
	struct open_call **found =
		bsearch(&key, ending->calls, ending->count, sizeof(*ending->calls), compare_calls);

	if (found)
		(*found)->ended = true;
}

static void drop_ended(struct burin_calls *calls)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < calls->open_count; n++)
		if (!calls->open[n].ended)
			calls->open[kept++] = calls->open[n];
	calls->open_count = kept;
}

static int compare_switches(const void *one, const void *other)
{
	const struct stack_switch *a = one, *b = other;

	return number_order(a->tid, b->tid) ?: number_order(a->time, b->time);
}

/* Read the whole trace once, if some open calls may have ended, or threads have changed their stacks. */
static int trace_calls_scan(struct burin_calls *calls)
{
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_call call;
	struct ending_calls ending;
	int result = find_ending(calls, &ending), next = 0;

	if (!result && (ending.count || calls->switch_event))
		result = burin_cursor_open(&cursor, calls->trace, NULL);
	if (result || (!ending.count && !calls->switch_event)) {
		free(ending.calls);
		return result;
	}
	while (!result && (next = burin_cursor_next(cursor, &record)) > 0)
		if (calls->switch_event && record->event == calls->switch_event)
			result = trace_calls_add_switch(calls, record);
		else if (ending.count && !burin_calls_call(calls, record, &call))
			note_ended(&ending, &call);
	burin_cursor_close(cursor);
	free(ending.calls);
	drop_ended(calls);
	if (calls->switch_count)
		qsort(calls->switches, calls->switch_count, sizeof(*calls->switches), compare_switches);
	return result || next > 0 ? result : next;
}

uint32_t read_calls_stack(const struct burin_calls *calls, uint32_t tid, uint64_t time)
{
	size_t low = 0, high = calls->switch_count;

	/* The first switch behind the time. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct stack_switch *at = &calls->switches[middle];

		if (at->tid < tid || (at->tid == tid && at->time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && calls->switches[low - 1].tid == tid)
		return calls->switches[low - 1].to;
	return low < calls->switch_count && calls->switches[low].tid == tid ? calls->switches[low].from : 0;
}

/* Whether some thread went to a stack, or left it. */
static bool is_switched(const struct burin_calls *calls, uint32_t stack)
{
	for (size_t n = 0; n < calls->switch_count; n++)
		if (calls->switches[n].from == stack || calls->switches[n].to == stack)
			return true;
	return false;
}

/* Only stacks of threads that had several have a number (burin/calls.h). */
static void clear_stacks(struct burin_calls *calls)
{
	uint32_t last = 0, shown = 0;

	for (uint32_t n = 0; n < calls->open_count; n++) {
		struct open_call *open = &calls->open[n];

		if (open->stack != last) {
			last = open->stack;
			shown = is_switched(calls, last) ? last : 0;
		}
		open->own = open->stack;
		open->stack = shown;
	}
}

/* An event of calls begins with the fields of a call; those of one function have its arguments behind them. */
static bool is_event_of_calls(const struct read_event *event)
{
	const size_t bytes = sizeof(WIRE_CALL_FORMAT) - 1;
	const struct burin_event *open = &event->open;

	if (!event->valid || strncmp(open->format, WIRE_CALL_FORMAT, bytes) != 0 ||
	    open->fields < CALL_FIELDS || event->fields[0].parsed.type != WIRE_U32 ||
	    event->fields[1].parsed.type != WIRE_U32 || event->fields[2].parsed.type != WIRE_U16 ||
	    event->fields[3].parsed.type != WIRE_U16)
		return false;
	return strcmp(open->name, WIRE_CALL_EVENT) == 0
		       ? open->fields == CALL_FIELDS
		       : strncmp(open->name, WIRE_CALL_PREFIX, sizeof(WIRE_CALL_PREFIX) - 1) == 0;
}

static int trace_calls_load(struct burin_calls *calls)
{
	int result = read_call_functions_open(&calls->functions, calls->trace);

	calls->kinds = calloc(calls->trace->event_count + 1, sizeof(*calls->kinds));
	if (!result && !calls->kinds)
		result = -ENOMEM;
	for (unsigned n = 0; !result && n < calls->trace->event_count; n++)
		calls->kinds[n] = is_event_of_calls(&calls->trace->events[n]);
	calls->switch_event = trace_calls_find_event(calls->trace, WIRE_CALL_STACK_EVENT, SWITCH_PAYLOAD);
	if (!result)
		result = find_same(calls);
	if (!result)
		result = load_open(calls);
	if (!result)
		result = trace_calls_scan(calls);
	if (!result)
		set_open_values(calls);
	if (!result)
		clear_stacks(calls);
	return result ? result : load_counts(calls);
}

int burin_calls_open(struct burin_calls **calls, const struct burin_trace *trace)
{
	struct burin_calls *made = calloc(1, sizeof(*made));
	int result;

	*calls = NULL;
	if (!made)
		return -ENOMEM;
	made->trace = trace;
	result = trace_calls_load(made);
	if (result)
		burin_calls_close(made);
	else
		*calls = made;
	return result;
}

uint32_t read_calls_open_stack(const struct burin_calls *calls, uint32_t n)
{
	return calls->open[n].own;
}

struct burin_profile *read_calls_take_functions(struct burin_calls *calls)
{
	struct burin_profile *functions = calls->functions;

	calls->functions = NULL;
	return functions;
}

void burin_calls_close(struct burin_calls *calls)
{
	if (!calls)
		return;
	burin_profile_close(calls->functions);
	free(calls->open);
	read_open_values_free(&calls->values);
	free(calls->counts);
	free(calls->same);
	free(calls->switches);
	free(calls->kinds);
	free(calls);
}

int burin_calls_is_call(const struct burin_calls *calls, const struct burin_event *event)
{
	return event && event->id - 1 < calls->trace->event_count && calls->kinds[event->id - 1] &&
	       event == &calls->trace->events[event->id - 1].open;
}

int burin_calls_values(const struct burin_calls *calls, const struct burin_record *record,
		       struct burin_call_values *values)
{
	const struct burin_event *event = record->event;
	uint64_t returned;

	if (!burin_calls_is_call(calls, event))
		return -EINVAL;
	*values = (struct burin_call_values){ .first = CALL_FIELDS,
					      .arguments = event->fields - CALL_FIELDS,
					      .result = -1 };
	if (values->arguments < 2 ||
	    strcmp(burin_event_field(event, event->fields - 2)->name, "returned") != 0 ||
	    strcmp(burin_event_field(event, event->fields - 1)->name, "retval") != 0)
		return 0;
	values->arguments -= 2;
	if (!burin_record_u64(record, event->fields - 2, &returned) && returned)
		values->result = (int)event->fields - 1;
	return 0;
}

int burin_calls_call(const struct burin_calls *calls, const struct burin_record *record,
		     struct burin_call *call)
{
	struct {
		uint32_t function, low;
		uint16_t high, depth;
	} payload;

	if (!burin_calls_is_call(calls, record->event) || record->payload_bytes < CALL_PAYLOAD)
		return -EINVAL;
	memcpy(&payload, record->payload, sizeof(payload));
	*call = (struct burin_call){ .function = function_number(calls, record->chunk, payload.function),
				     .tid = record->tid,
				     .begin = wire_call_start(record->time, payload.low, payload.high),
				     .end = record->time,
				     .depth = payload.depth,
				     .stack = calls->switch_count
						      ? read_calls_stack(calls, record->tid, record->time)
						      : 0 };
	return 0;
}

uint32_t burin_calls_open_count(const struct burin_calls *calls)
{
	return calls->open_count;
}

int burin_calls_open_call(const struct burin_calls *calls, uint32_t n, struct burin_call *call)
{
	const struct burin_thread *thread = NULL;
	const struct open_call *open;

	if (n >= calls->open_count)
		return -ENOENT;
	open = &calls->open[n];
	if (open->tid >= WIRE_GUEST_TID) /* the table has the process that recorded it: QEMU */
		thread = burin_trace_thread(calls->trace, open->tid, UINT64_MAX);
	*call = (struct burin_call){ .function = open->function,
				     .tid = open->tid,
				     .begin = open->start,
				     .end = calls->trace->end > open->start ? calls->trace->end : open->start,
				     .depth = open->depth,
				     .stack = open->stack,
				     .pid = thread ? thread->pid : open->pid };
	return 0;
}

const struct burin_record *burin_calls_open_record(const struct burin_calls *calls, uint32_t n)
{
	return n < calls->open_count ? read_open_values_record(&calls->values, calls->open[n].values) : NULL;
}

uint32_t burin_calls_functions(const struct burin_calls *calls)
{
	return calls->functions->stack_count;
}

uint64_t burin_calls_count(const struct burin_calls *calls, uint32_t function)
{
	return function <= calls->functions->stack_count ? calls->counts[function] : 0;
}

int read_calls_only_counted(const struct burin_calls *calls)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	bool counted = false;
	int result;

	for (uint32_t n = 0; n <= burin_calls_functions(calls) && !counted; n++)
		counted = calls->counts[n] != 0;
	if (!counted || calls->open_count)
		return 0;
	result = burin_cursor_open(&cursor, calls->trace, NULL);
	if (result)
		return result;
	while ((result = burin_cursor_next(cursor, &record)) > 0 &&
	       !burin_calls_is_call(calls, record->event))
		;
	burin_cursor_close(cursor);
	return result < 0 ? result : !result;
}

int burin_calls_function(const struct burin_calls *calls, uint32_t number, struct burin_function *function)
{
	struct burin_location location;
	struct burin_frame frame = { 0 };
	struct burin_stack stack;
	int error = burin_profile_stack(calls->functions, number, &stack);

	if (!error)
		error = burin_profile_location(calls->functions, stack.location, &location);
	if (error)
		return error;
	/* The outermost frame is the function itself; others were inlined at its beginning. */
	if (location.frames)
		burin_profile_frame(calls->functions, stack.location, location.frames - 1, &frame);
	*function = (struct burin_function){ .name = frame.function,
					     .file = frame.file,
					     .line = frame.line,
					     .image = location.image,
					     .offset = location.offset,
					     .size = location.size,
					     .same = calls->same[number] };
	return 0;
}

const struct burin_profile *burin_calls_profile(const struct burin_calls *calls)
{
	return calls->functions;
}
