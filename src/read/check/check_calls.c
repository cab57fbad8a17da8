/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks the calls: their tables, all references, and the frames of open calls. Loading the tables checks their bytes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "burin/calls.h"
#include "read/check/check_parts.h"
#include "read/profile/profile_parts.h"
#include "wire/wire_call.h"

static void check_functions(const struct burin_trace *trace, const struct burin_calls *calls)
{
	const struct burin_profile *profile = burin_calls_profile(calls);
	const struct read_location *locations = profile->locations.items;

	for (size_t n = 0; n < profile->locations.count; n++)
		if (locations[n].image - 1 >= profile->image_count)
			read_fault(trace, BURIN_FAULT_TABLE, profile->files->stacks, 0,
				   "a function in image %" PRIu32 ", which does not exist",
				   locations[n].image);
	for (uint32_t n = 0; n < profile->stack_count; n++)
		if (profile->stacks[n].caller)
			read_fault(trace, BURIN_FAULT_TABLE, profile->files->stacks, 0,
				   "function %" PRIu32 " has a caller", n + 1);
}

static void check_calls_check_events(const struct burin_trace *trace, const struct burin_calls *calls)
{
	for (uint32_t id = 1; id <= trace->event_count; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (event && !strcmp(event->name, WIRE_CALL_EVENT) && !burin_calls_is_call(calls, event))
			read_fault(trace, BURIN_FAULT_EVENTS, ".burin/events", 0,
				   WIRE_CALL_EVENT " (event %" PRIu32 ") does not have the fields of a call",
				   id);
	}
}

/* The frames of a stack have different depths, and callees do not begin before their callers. */
static void check_open(const struct burin_trace *trace, const struct burin_calls *calls)
{
	struct burin_call before = { 0 }, call;
	uint32_t stack_before = 0;

	for (uint32_t n = 0; !burin_calls_open_call(calls, n, &call); n++) {
		const uint32_t stack = read_calls_open_stack(calls, n);

		if (stack == stack_before && call.depth == before.depth)
			read_fault(trace, BURIN_FAULT_TABLE, ".burin/calls.open", 0,
				   "stack %" PRIu32 " has two calls of depth %" PRIu32, stack, call.depth);
		else if (stack == stack_before && call.begin < before.begin)
			read_fault(trace, BURIN_FAULT_TABLE, ".burin/calls.open", 0,
				   "on stack %" PRIu32 ", the call of depth %" PRIu32
				   " began before its caller",
				   stack, call.depth);
		before = call;
		stack_before = stack;
	}
}

/* @calls: NULL: there are no functions */
static int check_calls_check_records(const struct burin_trace *trace, const struct burin_calls *calls)
{
	struct burin_cursor *cursor;
	const struct burin_record *record;
	struct burin_call call;
	int result = burin_cursor_open(&cursor, trace, NULL);

	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		result = 0;
		if (!calls && !strcmp(record->event->name, WIRE_CALL_EVENT)) {
			read_fault(trace, BURIN_FAULT_TABLE, ".burin/calls.functions", 0,
				   "there are calls, but no functions");
			break;
		}
		if (calls && !burin_calls_call(calls, record, &call) && !call.function)
			read_fault(trace, BURIN_FAULT_TABLE, record->file, record->offset,
				   "a call of a function that does not exist");
	}
	burin_cursor_close(cursor);
	return result;
}

static bool check_calls_has_event(const struct burin_trace *trace)
{
	for (uint32_t id = 1; id <= trace->event_count; id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (event && !strcmp(event->name, WIRE_CALL_EVENT))
			return true;
	}
	return false;
}

int read_check_calls(const struct burin_trace *trace)
{
	struct burin_calls *calls;
	int result = burin_calls_open(&calls, trace);

	if (result == -ENODATA)
		return check_calls_has_event(trace) ? check_calls_check_records(trace, NULL) : 0;
	if (result)
		return result;
	check_functions(trace, calls);
	check_calls_check_events(trace, calls);
	check_open(trace, calls);
	result = check_calls_check_records(trace, calls);
	burin_calls_close(calls);
	return result;
}
