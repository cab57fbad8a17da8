/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts records at the speed of memory: a few threads share the packets, each reads the headers of its packets
 * and has counters of its own, which are added up at the end. Payloads are not read.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/containers/hash_table.h"
#include "base/number.h"
#include "read/stream_iterator.h"
#include "wire/wire_context.h"

enum {
	BATCH = 16, /* packets that a thread takes at once */
	THREADS_MAX = 64,
	TIDS_MAX = 1 << 20, /* the records of further threads are not counted by thread */
};

/* A thread is identified by tid and announcement, since a tid may be used again. */
struct tally_entry {
	struct read_thread_count sum;
	uint64_t from, until; /* times for which the announcement holds */
};

struct tally {
	struct tally_entry *entries; /* by number - 1 */
	size_t count, room;
	struct hash_table numbers;
	uint64_t uncounted;
	bool failed; /* no memory */
};

struct work {
	const struct burin_trace *trace;
	size_t next; /* packet, over all streams, that no thread has taken; atomic */
};

struct worker {
	struct work *work;
	struct read_loader loader;
	struct tally tally;
	uint64_t *events;
	uint64_t *rings;
	int result;
};

static void tally_free(struct tally *tally)
{
	free(tally->entries);
	hash_table_free(&tally->numbers);
}

/* The entry of a thread at a time, valid until the next call; NULL: too many threads, or no memory. */
static struct tally_entry *tally_find(struct tally *tally, const struct burin_trace *trace, uint32_t tid,
				      uint64_t time)
{
	struct tally_entry wanted = { .sum.tid = tid }, *entry;
	uint32_t number;
	uint64_t hash;

	wanted.sum.thread = read_thread_find(trace, tid, time, &wanted.from, &wanted.until);
	hash = hash_pair(tid, wanted.from); /* one tid may have been announced a million times */
	for (size_t at = 0; (number = hash_table_next(&tally->numbers, hash, &at));) {
		entry = &tally->entries[number - 1];
		if (entry->sum.tid == tid && entry->from == wanted.from)
			return entry;
	}
	if (tally->count == TIDS_MAX)
		return NULL;
	if (!array_reserve(tally->entries, tally->room, tally->count + 1) ||
	    !hash_table_reserve(&tally->numbers)) {
		tally->failed = true;
		return NULL;
	}
	entry = &tally->entries[tally->count++];
	*entry = wanted;
	hash_table_add(&tally->numbers, hash, (uint32_t)tally->count);
	return entry;
}

static void count_packet(struct worker *worker, const struct read_stream *stream, struct read_packet *packet,
			 unsigned ring)
{
	const struct burin_trace *trace = worker->work->trace;
	const unsigned char *at = worker->loader.bytes + sizeof(struct wire_packet);
	const unsigned char *end = worker->loader.bytes + packet->content_bytes;
	const uint32_t context = wire_context_bytes(trace->context);
	uint64_t time = packet->time_begin, run = 0, records = 0, from = 1, until = 0;
	struct tally_entry *entry = NULL;
	uint32_t tid = 0;

	while (at < end) {
		struct wire_head head;
		enum wire_bad bad =
			wire_head_read(at, (size_t)(end - at), context, time, packet->time_end, &head);

		if (__builtin_expect(bad != WIRE_GOOD, 0)) {
			read_bad_report(trace, stream->files[packet->file].name,
					packet->offset + (uint64_t)(at - worker->loader.bytes), bad);
			read_skip_packet(trace, packet);
			break;
		}
		worker->events[head.id <= trace->event_count ? head.id : 0]++;
		records++;
		if (head.tid != tid || head.time > until || head.time < from) {
			if (entry)
				entry->sum.count += run;
			else
				worker->tally.uncounted += run;
			run = 0;
			tid = head.tid;
			entry = tally_find(&worker->tally, trace, tid, head.time);
			from = entry ? entry->from : 0;
			until = entry ? entry->until : UINT64_MAX;
		}
		run++;
		time = head.time;
		at += wire_stride(head.length);
	}
	if (entry)
		entry->sum.count += run;
	else
		worker->tally.uncounted += run;
	worker->rings[ring] += records;
}

/* Counts the records of packets first..first+BATCH-1, over all streams. Return: whether there were any. */
static bool count_batch(struct worker *worker, size_t first)
{
	const struct burin_trace *trace = worker->work->trace;
	size_t left = BATCH;

	for (unsigned n = 0; n < trace->stream_count && left; n++) {
		const struct read_stream *stream = &trace->streams[n];

		if (first >= stream->packet_count) {
			first -= stream->packet_count;
			continue;
		}
		for (; first < stream->packet_count && left; first++, left--) {
			struct read_packet *packet = &stream->packets[first];
			int result;

			if (packet->content_bytes == sizeof(struct wire_packet))
				continue;
			result = read_packet_load(&worker->loader, trace, stream, packet);
			if (result == -ENOMEM)
				worker->result = result;
			else if (!result)
				count_packet(worker, stream, packet, n);
		}
		first = 0;
	}
	return left < BATCH;
}

static void *count_work(void *data)
{
	struct worker *worker = data;

	while (!worker->result &&
	       count_batch(worker, __atomic_fetch_add(&worker->work->next, BATCH, __ATOMIC_RELAXED)))
		;
	return NULL;
}

static int worker_start(struct worker *worker, struct work *work)
{
	*worker = (struct worker){ .work = work, .loader.file = -1 };
	worker->events = calloc(work->trace->event_count + 1, sizeof(*worker->events));
	worker->rings = calloc(work->trace->stream_count + 1, sizeof(*worker->rings));
	return worker->events && worker->rings ? 0 : -ENOMEM;
}

static int worker_add_up(struct worker *worker, const struct burin_trace *trace, struct tally *tally,
			 struct read_counts *counts)
{
	for (unsigned n = 0; n <= trace->event_count; n++)
		counts->events[n] += worker->events[n];
	for (unsigned n = 0; n < trace->stream_count; n++) {
		counts->rings[n] += worker->rings[n];
		counts->records += worker->rings[n];
	}
	for (size_t n = 0; n < worker->tally.count; n++) {
		const struct tally_entry *entry = &worker->tally.entries[n];
		struct tally_entry *sum = tally_find(tally, trace, entry->sum.tid, entry->from);
		if (sum)
			sum->sum.count += entry->sum.count;
		else
			counts->uncounted += entry->sum.count;
	}
	counts->uncounted += worker->tally.uncounted;
	return worker->tally.failed || tally->failed ? -ENOMEM : worker->result;
}

static int by_process(const void *a, const void *b)
{
	const struct read_thread_count *one = a, *other = b;
	uint32_t one_pid = one->thread ? one->thread->pid : UINT32_MAX;
	uint32_t other_pid = other->thread ? other->thread->pid : UINT32_MAX;

	return number_order(one_pid, other_pid) ?:
	       number_order(one->tid, other->tid) ?:
	       one->thread && other->thread ? number_order(one->thread->time, other->thread->time) : 0;
}

static int list_threads(const struct tally *tally, struct read_counts *counts)
{
	counts->threads = calloc(tally->count + 1, sizeof(*counts->threads));
	if (!counts->threads)
		return -ENOMEM;
	for (size_t n = 0; n < tally->count; n++)
		counts->threads[counts->thread_count++] = tally->entries[n].sum;
	qsort(counts->threads, counts->thread_count, sizeof(*counts->threads), by_process);
	return 0;
}

/* Runs the workers. If a thread cannot be created, the others do its share. */
static void count_records_run(struct worker *workers, unsigned count)
{
	pthread_t threads[THREADS_MAX];
	unsigned started = 1;

	while (started < count && !pthread_create(&threads[started], NULL, count_work, &workers[started]))
		started++;
	count_work(&workers[0]);
	for (unsigned n = 1; n < started; n++)
		pthread_join(threads[n], NULL);
}

int read_count(const struct burin_trace *trace, unsigned threads, struct read_counts *counts)
{
	struct worker workers[THREADS_MAX];
	struct work work = { .trace = trace };
	struct tally tally = { .count = 0 };
	unsigned ready = 0;
	int result = 0;

	memset(counts, 0, sizeof(*counts));
	threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	counts->events = calloc(trace->event_count + 1, sizeof(*counts->events));
	counts->rings = calloc(trace->stream_count + 1, sizeof(*counts->rings));
	if (!counts->events || !counts->rings)
		result = -ENOMEM;
	while (!result && ready < threads)
		result = worker_start(&workers[ready++], &work);
	if (!result)
		count_records_run(workers, threads);
	for (unsigned n = 0; n < ready; n++) {
		if (!result)
			result = worker_add_up(&workers[n], trace, &tally, counts);
		read_loader_close(&workers[n].loader);
		tally_free(&workers[n].tally);
		free(workers[n].events);
		free(workers[n].rings);
	}
	if (!result)
		result = list_threads(&tally, counts);
	tally_free(&tally);
	counts->unknown = counts->events ? counts->events[0] : 0;
	if (result)
		read_counts_free(counts);
	return result;
}

void read_counts_free(struct read_counts *counts)
{
	free(counts->events);
	free(counts->rings);
	free(counts->threads);
	memset(counts, 0, sizeof(*counts));
}
