/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arguments of open calls; see trace_open_values.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "read/profile/trace_open_values.h"
#include "read/profile/profile_parts.h"
#include "wire/wire_event.h"

struct read_open_value {
	struct burin_record record; /* event NULL: the entry is wrong */
	uint32_t offsets[WIRE_ARGS_MAX + 1];
	uint32_t call; /* entry in calls.open, from 1 */
};

/* A table that is being read. */
struct loading {
	struct read_open_values *values;
	const struct burin_trace *trace;
	const bool *kinds;
	uint32_t open_count;
	unsigned chunk;
};

static int trace_open_values_take(void *data, struct read_entry *entry)
{
	const struct loading *loading = data;
	struct read_open_value value = { 0 };
	const struct burin_event *event;
	const char *payload;
	size_t bytes;

	value.call = read_entry_u32(entry, "the call's number has more than 32 bits");
	event = burin_trace_event(loading->trace,
				  read_entry_u32(entry, "the event's id has more than 32 bits"));
	payload = read_entry_keep(entry, &loading->values->payloads, true, &bytes);
	if (!payload)
		return -ENOMEM;
	if (entry->reason)
		return 0;
	if (value.call - 1 >= loading->open_count)
		entry->reason = "arguments of a call that does not exist";
	else if (!event || !loading->kinds[event->id - 1])
		entry->reason = "arguments of an event that does not exist, or is not a call";
	else
		entry->reason = read_layout(read_event_of(event), (const unsigned char *)payload,
					    (uint32_t)bytes, value.offsets);
	if (entry->reason)
		return 0;
	value.record = (struct burin_record){ .event = event,
					      .payload = (const unsigned char *)payload,
					      .payload_bytes = (uint32_t)bytes,
					      .cpu = UINT32_MAX,
					      .ring = UINT32_MAX,
					      .chunk = loading->chunk,
					      .file = ".burin/calls.values" };
	*(struct read_open_value *)entry->row = value;
	return 0;
}

static uint64_t trace_open_values_memory(const void *data)
{
	const struct loading *loading = data;

	return loading->values->payloads.bytes;
}

int read_open_values_load(struct read_open_values *values, const struct burin_trace *trace, unsigned chunk,
			  const bool *kinds, uint32_t open_count)
{
	const struct read_table table = {
		".burin/calls.values",	WIRE_TABLE_VALUES,	 3, sizeof(struct read_open_value), 0,
		trace_open_values_take, trace_open_values_memory
	};
	struct loading loading = { values, trace, kinds, open_count, chunk };

	return read_table_load(trace, &table, chunk, &loading, (void **)&values->list, &values->count);
}

uint32_t read_open_values_call(const struct read_open_values *values, uint32_t n)
{
	return values->list[n - 1].call;
}

void read_open_values_set(struct read_open_values *values, uint32_t n, const struct burin_call *call)
{
	struct burin_record *record = &values->list[n - 1].record;

	record->time = call->end;
	record->tid = call->tid;
	record->offsets = values->list[n - 1].offsets; /* the list does not move any more */
}

const struct burin_record *read_open_values_record(const struct read_open_values *values, uint32_t n)
{
	return n - 1 < values->count && values->list[n - 1].record.event ? &values->list[n - 1].record : NULL;
}

void read_open_values_free(struct read_open_values *values)
{
	free(values->list);
	arena_free(&values->payloads);
}
