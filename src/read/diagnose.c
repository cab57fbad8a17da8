/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Faults: counted, kept, told to the callback, each place once. A packet may be read by several cursors (and
 * is, by the slices of a dump), so a fault is remembered by a hash of its place; when the memory for that is
 * full, faults are still counted and told, perhaps more than once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "read/trace.h"

enum {
	FAULTS_KEPT = 1024,
	PLACES = 1 << 14,
	PLACES_USED_MAX = PLACES / 2,
};

struct read_faults {
	pthread_mutex_t lock;
	void (*on_fault)(void *data, const struct burin_diagnosis *fault);
	void *data;
	uint64_t count;
	uint64_t skipped_packets, skipped_records;
	struct burin_diagnosis *kept;
	unsigned kept_count, kept_room;
	unsigned places_used;
	uint64_t places[PLACES];
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
	free(faults);
}

static uint64_t place_hash(int code, const char *file, uint64_t offset)
{
	uint64_t hash = HASH_BEGIN ^ (uint64_t)(int64_t)code;

	for (; *file; file++)
		hash = hash_byte(hash, *file);
	hash = (hash ^ offset) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

/* Whether the place is new; it is remembered if there is room. */
static bool place_add(struct read_faults *faults, uint64_t hash)
{
	unsigned at = (unsigned)(hash >> 32) % PLACES;

	while (faults->places[at] && faults->places[at] != hash)
		at = (at + 1) % PLACES;
	if (faults->places[at])
		return false;
	if (faults->places_used < PLACES_USED_MAX) {
		faults->places[at] = hash;
		faults->places_used++;
	}
	return true;
}

static void diagnose(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
		     const char *reason, va_list arguments)
{
	char text[sizeof(why->reason)];

	memset(why, 0, sizeof(*why));
	why->code = code;
	why->offset = offset;
	text_escape_line(why->file, sizeof(why->file), file);
	vsnprintf(text, sizeof(text), reason, arguments);
	text_escape_line(why->reason, sizeof(why->reason), text);
}

void read_diagnose(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
		   const char *reason, ...)
{
	va_list arguments;

	if (!why)
		return;
	va_start(arguments, reason);
	diagnose(why, code, file, offset, reason, arguments);
	va_end(arguments);
}

static void keep(struct read_faults *faults, const struct burin_diagnosis *fault)
{
	if (faults->kept_count == FAULTS_KEPT)
		return;
	if (faults->kept_count == faults->kept_room) {
		unsigned room = faults->kept_room ? 2 * faults->kept_room : 8;
		struct burin_diagnosis *kept = realloc(faults->kept, room * sizeof(*kept));

		if (!kept)
			return;
		faults->kept = kept;
		faults->kept_room = room;
	}
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
	fresh = place_add(faults, place_hash(code, file, offset));
	if (fresh) {
		faults->count++;
		if (faults->on_fault || faults->kept_count < FAULTS_KEPT) {
			va_start(arguments, reason);
			diagnose(&fault, code, file, offset, reason, arguments);
			va_end(arguments);
			keep(faults, &fault);
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
	}
	if (code < 0 && code > -4000)
		return strerrordesc_np(-code) ? strerrordesc_np(-code) : "unknown error";
	return code ? "unknown fault" : "no fault";
}
