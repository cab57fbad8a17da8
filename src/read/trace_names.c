/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads and processes, from the names stream. They are read when the trace is opened and sorted by number
 * and time, so a thread at a given time is found by one binary search.
 *
 * An announcement holds from its time to that of the next one with the same number. The first one of a number
 * also holds for all time before it. Copies, which compaction and statedumps make, have the time of the
 * original.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "read/stream_iterator.h"
#include "wire/wire_names.h"

static char *trace_names_keep_string(struct read_names *names, const char *text)
{
	return arena_keep(&names->strings, text, strlen(text));
}

/* Since when the announcement is valid: the record may be the copy of an earlier one. */
static uint64_t trace_names_since(const struct burin_record *record, unsigned field)
{
	uint64_t time = number_load64((const char *)record->payload + record->offsets[field]);

	return time ? time : record->time;
}

static int trace_names_add_process(struct burin_trace *trace, const struct burin_record *record)
{
	struct read_names *names = &trace->names;
	struct burin_process *process;
	int error = read_memory_reserve(trace, record->file, record->offset, &names->processes,
					&names->process_room, names->process_count + 1, sizeof(*process));

	if (error)
		return error;
	process = &names->processes[names->process_count++];
	*process = (struct burin_process){
		.pid = number_load32(record->payload),
		.parent = number_load32(record->payload + 4),
		.exe = trace_names_keep_string(names, (const char *)record->payload + record->offsets[2]),
		.command = trace_names_keep_string(names, (const char *)record->payload + record->offsets[3]),
		.time = trace_names_since(record, 4),
	};
	return process->exe && process->command ? 0 : -ENOMEM;
}

static int trace_names_add_thread(struct burin_trace *trace, const struct burin_record *record)
{
	struct read_names *names = &trace->names;
	struct burin_thread *thread;
	int error = read_memory_reserve(trace, record->file, record->offset, &names->threads,
					&names->thread_room, names->thread_count + 1, sizeof(*thread));

	if (error)
		return error;
	thread = &names->threads[names->thread_count++];
	*thread = (struct burin_thread){
		.tid = record->tid,
		.pid = number_load32(record->payload),
		.name = trace_names_keep_string(names, (const char *)record->payload + record->offsets[1]),
		.time = trace_names_since(record, 2),
	};
	return thread->name ? 0 : -ENOMEM;
}

static int by_tid(const void *a, const void *b)
{
	const struct burin_thread *one = a, *other = b;

	return number_order(one->tid, other->tid) ?: number_order(one->time, other->time);
}

static int trace_names_by_pid(const void *a, const void *b)
{
	const struct burin_process *one = a, *other = b;

	return number_order(one->pid, other->pid) ?: number_order(one->time, other->time);
}

static int trace_names_add(struct burin_trace *trace, const struct burin_record *record)
{
	if (record->event->id == WIRE_NAME_PROCESS)
		return trace_names_add_process(trace, record);
	return record->event->id == WIRE_NAME_THREAD ? trace_names_add_thread(trace, record) : 0;
}

int read_names_load(struct burin_trace *trace)
{
	struct read_names *names = &trace->names;
	const int result = stream_iterator_each(trace, &trace->names_stream, trace_names_add);

	trace->memory += names->strings.bytes;
	if (result)
		return result;
	if (names->thread_count)
		qsort(names->threads, names->thread_count, sizeof(*names->threads), by_tid);
	if (names->process_count)
		qsort(names->processes, names->process_count, sizeof(*names->processes), trace_names_by_pid);
	for (size_t n = 0; n < names->thread_count; n++) {
		struct burin_thread *thread = &names->threads[n];

		thread->process = burin_trace_process(trace, thread->pid, thread->time);
	}
	return 0;
}

void read_names_free(struct read_names *names)
{
	arena_free(&names->strings);
	free(names->threads);
	free(names->processes);
}

const struct burin_thread *read_thread_find(const struct burin_trace *trace, uint32_t tid, uint64_t time,
					    uint64_t *from, uint64_t *until)
{
	const struct burin_thread *threads = trace->names.threads;
	size_t low = 0, high = trace->names.thread_count;

	/* The first entry with a larger tid, or with this tid and a later time. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (threads[middle].tid < tid || (threads[middle].tid == tid && threads[middle].time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && threads[low - 1].tid == tid)
		low--; /* the last entry that is not later; if there is none, the first entry of the tid */
	if (low == trace->names.thread_count || threads[low].tid != tid) {
		*from = 0;
		*until = UINT64_MAX;
		return NULL;
	}
	*from = low && threads[low - 1].tid == tid ? threads[low].time : 0;
	*until = low + 1 < trace->names.thread_count && threads[low + 1].tid == tid
			 ? threads[low + 1].time - 1
			 : UINT64_MAX;
	return &threads[low];
}

const struct burin_thread *burin_trace_thread(const struct burin_trace *trace, uint32_t tid, uint64_t time)
{
	uint64_t from, until;

	return read_thread_find(trace, tid, time, &from, &until);
}

const struct burin_process *burin_trace_process(const struct burin_trace *trace, uint32_t pid, uint64_t time)
{
	const struct burin_process *processes = trace->names.processes;
	size_t low = 0, high = trace->names.process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (processes[middle].pid < pid ||
		    (processes[middle].pid == pid && processes[middle].time <= time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low && processes[low - 1].pid == pid)
		return &processes[low - 1];
	return low < trace->names.process_count && processes[low].pid == pid ? &processes[low] : NULL;
}

const struct burin_thread *burin_trace_thread_at(const struct burin_trace *trace, size_t n)
{
	return n < trace->names.thread_count ? &trace->names.threads[n] : NULL;
}

const struct burin_process *burin_trace_process_at(const struct burin_trace *trace, size_t n)
{
	return n < trace->names.process_count ? &trace->names.processes[n] : NULL;
}
