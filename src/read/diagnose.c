/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Faults: each code, file and offset is counted, kept and reported to the callback once. Several cursors may read
 * one packet (the threads of a dump do), so reported faults are remembered by a hash. When the table of hashes is
 * full, faults are still counted and reported, perhaps more than once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "burin/version.h"
#include "read/trace.h"

enum {
	FAULTS_KEPT = 1024,
	REPORTED_MAX = 1 << 13, /* faults that are not reported again */
};

struct read_faults {
	pthread_mutex_t lock;
	void (*on_fault)(void *data, const struct burin_diagnosis *fault);
	void *data;
	uint64_t count;
	uint64_t skipped_packets, skipped_records;
	struct burin_diagnosis *kept;
	unsigned kept_count;
	size_t kept_room;
	struct hash_table reported; /* the lower half of each fault's hash is its number */
};

struct read_faults *read_faults_new(void (*on_fault)(void *, const struct burin_diagnosis *), void *data)
{
	struct read_faults *faults = calloc(1, sizeof(*faults));

	if (!faults)
		return NULL;
	pthread_mutex_init(&faults->lock, NULL);
	faults->on_fault = on_fault;
	faults->data = data;
	return faults;
}

void read_faults_free(struct read_faults *faults)
{
	if (!faults)
		return;
	pthread_mutex_destroy(&faults->lock);
	free(faults->kept);
	hash_table_free(&faults->reported);
	free(faults);
}

static uint64_t fault_hash(int code, const char *file, uint64_t offset)
{
	uint64_t hash = hash_begin() ^ (uint64_t)(int64_t)code;

	for (; *file; file++)
		hash = hash_byte(hash, *file);
	return hash_pair(hash, offset);
}

/* Whether the fault is new; it is remembered if there is room. Faults with equal hashes of 64 bits count as one. */
static bool reported_add(struct read_faults *faults, uint64_t hash)
{
	const uint32_t number = (uint32_t)hash ? (uint32_t)hash : 1;
	uint32_t other;

	for (size_t at = 0; (other = hash_table_next(&faults->reported, hash, &at));)
		if (other == number)
			return false;
	if (faults->reported.count < REPORTED_MAX && hash_table_reserve(&faults->reported))
		hash_table_add(&faults->reported, hash, number);
	return true;
}

static void diagnose_set(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
			 const char *reason, va_list arguments)
{
	memset(why, 0, sizeof(*why));
	why->code = code;
	why->offset = offset;
	snprintf(why->file, sizeof(why->file), "%s", file);
	vsnprintf(why->reason, sizeof(why->reason), reason, arguments);
}

void read_diagnose(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
		   const char *reason, ...)
{
	va_list arguments;

	if (!why)
		return;
	va_start(arguments, reason);
	diagnose_set(why, code, file, offset, reason, arguments);
	va_end(arguments);
}

static void diagnose_keep(struct read_faults *faults, const struct burin_diagnosis *fault)
{
	if (array_reserve_max(faults->kept, faults->kept_room, faults->kept_count + 1, FAULTS_KEPT))
		faults->kept[faults->kept_count++] = *fault;
}

bool read_fault(const struct burin_trace *trace, int code, const char *file, uint64_t offset,
		const char *reason, ...)
{
	struct read_faults *faults = trace->faults;
	struct burin_diagnosis fault;
	va_list arguments;
	bool fresh;

	pthread_mutex_lock(&faults->lock);
	fresh = reported_add(faults, fault_hash(code, file, offset));
	if (fresh) {
		faults->count++;
		if (faults->on_fault || faults->kept_count < FAULTS_KEPT) {
			va_start(arguments, reason);
			diagnose_set(&fault, code, file, offset, reason, arguments);
			va_end(arguments);
			diagnose_keep(faults, &fault);
			if (faults->on_fault)
				faults->on_fault(faults->data, &fault);
		}
	}
	pthread_mutex_unlock(&faults->lock);
	return fresh;
}

void read_fault_file(const struct burin_trace *trace, int code, const char *file, int error)
{
	read_fault(trace, code, file, 0, "cannot read: %s",
		   error == -EBADF ? "not a regular file" : burin_fault_name(error));
}

void read_memory_fault(const struct burin_trace *trace, const char *file, uint64_t offset)
{
	read_fault(trace, BURIN_FAULT_MEMORY, file, offset,
		   "the trace takes more than %llu MiB of memory; from here on the file is not read; raise "
		   "the limit with --memory",
		   (unsigned long long)(trace->memory_max >> 20));
}

int read_memory_take(struct burin_trace *trace, const char *file, uint64_t offset, uint64_t bytes)
{
	if (trace->memory > trace->memory_max || bytes > trace->memory_max - trace->memory) {
		read_memory_fault(trace, file, offset);
		return -EDQUOT;
	}
	trace->memory += bytes;
	return 0;
}

int read_memory_reserve(struct burin_trace *trace, const char *file, uint64_t offset, void *items,
			size_t *room, size_t count, size_t item_bytes)
{
	if (count <= *room)
		return 0;
	if (read_memory_take(trace, file, offset,
			     (array_larger(*room, count, item_bytes) - *room) * item_bytes))
		return -EDQUOT;
	return array_reserve_items(items, room, count, item_bytes, SIZE_MAX, false) ? 0 : -ENOMEM;
}

void read_skip_packet(const struct burin_trace *trace, struct read_packet *packet)
{
	if (!__atomic_exchange_n(&packet->faulty, true, __ATOMIC_RELAXED))
		read_skip_packets(trace, 1);
}

void read_skip_packets(const struct burin_trace *trace, uint64_t count)
{
	pthread_mutex_lock(&trace->faults->lock);
	trace->faults->skipped_packets += count;
	pthread_mutex_unlock(&trace->faults->lock);
}

void read_skip_record(const struct burin_trace *trace)
{
	pthread_mutex_lock(&trace->faults->lock);
	trace->faults->skipped_records++;
	pthread_mutex_unlock(&trace->faults->lock);
}

uint64_t burin_trace_faults(const struct burin_trace *trace)
{
	uint64_t count;

	pthread_mutex_lock(&trace->faults->lock);
	count = trace->faults->count;
	pthread_mutex_unlock(&trace->faults->lock);
	return count;
}

int burin_trace_fault(const struct burin_trace *trace, unsigned n, struct burin_diagnosis *fault)
{
	int result = -ENOENT;

	pthread_mutex_lock(&trace->faults->lock);
	if (n < trace->faults->kept_count) {
		*fault = trace->faults->kept[n];
		result = 0;
	}
	pthread_mutex_unlock(&trace->faults->lock);
	return result;
}

void burin_trace_skipped(const struct burin_trace *trace, struct burin_skipped *skipped)
{
	pthread_mutex_lock(&trace->faults->lock);
	skipped->packets = trace->faults->skipped_packets;
	skipped->records = trace->faults->skipped_records;
	pthread_mutex_unlock(&trace->faults->lock);
}

const char *burin_read_version(void)
{
	return BURIN_VERSION;
}

const char *burin_fault_name(int code)
{
	switch (code) {
	case BURIN_FAULT_NOT_A_TRACE:
		return "not a trace";
	case BURIN_FAULT_RECORDING:
		return "recording file";
	case BURIN_FAULT_EVENTS:
		return "event table";
	case BURIN_FAULT_METADATA:
		return "metadata";
	case BURIN_FAULT_FILE:
		return "file";
	case BURIN_FAULT_HEADER:
		return "packet header";
	case BURIN_FAULT_SIZE:
		return "packet size";
	case BURIN_FAULT_ORDER:
		return "packet order";
	case BURIN_FAULT_COUNT:
		return "count";
	case BURIN_FAULT_RECORD:
		return "record header";
	case BURIN_FAULT_TIME:
		return "time";
	case BURIN_FAULT_EVENT:
		return "unknown event";
	case BURIN_FAULT_PAYLOAD:
		return "payload";
	case BURIN_FAULT_PADDING:
		return "padding";
	case BURIN_FAULT_CHANGED:
		return "changed file";
	case BURIN_FAULT_TABLE:
		return "table of samples";
	case BURIN_FAULT_MEMORY:
		return "memory limit";
	}
	if (code < 0 && code > -4000)
		return strerrordesc_np(-code) ? strerrordesc_np(-code) : "unknown error";
	return code ? "unknown fault" : "no fault";
}
