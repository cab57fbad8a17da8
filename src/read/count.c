/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counting at the speed of memory: the packets are dealt out to a few threads, each walks the headers of its
 * packets and counts for itself, and the counts are added up at the end. Payloads are not looked at.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "read/record.h"
#include "wire/context.h"

enum {
	DEAL = 16, /* packets that a thread takes at once */
	THREADS_MAX = 64,
	TIDS_MAX = 1 << 20, /* more threads than that are not told apart */
};

/* Threads are told apart by tid and announcement: a tid may be used again. */
struct tally_entry {
	struct read_thread_count sum;
	uint64_t from, until; /* times for which the announcement holds */
	bool used;
};

struct tally {
	struct tally_entry *entries; /* open addressing */
	size_t used, room;
	uint64_t uncounted;
};

struct work {
	const struct burin_trace *trace;
	size_t next; /* packet to deal, over all streams; atomic */
};

struct worker {
	struct work *work;
	struct read_loader loader;
	struct tally tally;
	uint64_t *events;
	uint64_t *rings;
	int result;
};

static size_t tid_hash(uint32_t tid)
{
	return tid * 0x9e3779b97f4a7c15 >> 32;
}

static int tally_grow(struct tally *tally)
{
	size_t room = tally->room ? 2 * tally->room : 256;
	struct tally_entry *entries = calloc(room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t n = 0; n < tally->room; n++) {
		const struct tally_entry *entry = &tally->entries[n];
		size_t at = tid_hash(entry->sum.tid) & (room - 1);

		if (!entry->used)
			continue;
		while (entries[at].used)
			at = (at + 1) & (room - 1);
		entries[at] = *entry;
	}
	free(tally->entries);
	tally->entries = entries;
	tally->room = room;
	return 0;
}

/* The entry of a thread at a time; NULL if there are too many threads, or no memory. It holds until the next
 * call. */
static struct tally_entry *tally_find(struct tally *tally, const struct burin_trace *trace, uint32_t tid,
				      uint64_t time)
{
	struct tally_entry *entry;
	size_t at;

	if (4 * tally->used >= 3 * tally->room && tally->used < TIDS_MAX && tally_grow(tally))
		return NULL;
	for (at = tid_hash(tid) & (tally->room - 1); tally->entries[at].used;
	     at = (at + 1) & (tally->room - 1)) {
		entry = &tally->entries[at];
		if (entry->sum.tid == tid && time >= entry->from && time <= entry->until)
			return entry;
	}
	if (tally->used >= TIDS_MAX)
		return NULL;
	tally->used++;
	entry = &tally->entries[at];
	*entry = (struct tally_entry){ .sum.tid = tid, .used = true };
	entry->sum.thread = read_thread_find(trace, tid, time, &entry->from, &entry->until);
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
		struct read_head head;
		enum read_bad bad = read_head(at, (size_t)(end - at), context, time, packet->time_end, &head);

		if (__builtin_expect(bad != READ_GOOD, 0)) {
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

/* Counts packets first..first+DEAL-1, counted over all streams. Returns whether there were any. */
static bool count_deal(struct worker *worker, size_t first)
{
	const struct burin_trace *trace = worker->work->trace;
	size_t left = DEAL;

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
	return left < DEAL;
}

static void *count_work(void *data)
{
	struct worker *worker = data;

	while (!worker->result &&
	       count_deal(worker, __atomic_fetch_add(&worker->work->next, DEAL, __ATOMIC_RELAXED)))
		;
	return NULL;
}

static int worker_start(struct worker *worker, struct work *work)
{
	*worker = (struct worker){ .work = work, .loader.file = -1 };
	worker->events = calloc(work->trace->event_count + 1, sizeof(*worker->events));
	worker->rings = calloc(work->trace->stream_count + 1, sizeof(*worker->rings));
	return worker->events && worker->rings ? tally_grow(&worker->tally) : -ENOMEM;
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
	for (size_t n = 0; n < worker->tally.room; n++) {
		const struct tally_entry *entry = &worker->tally.entries[n];
		struct tally_entry *sum;

		if (!entry->used)
			continue;
		sum = tally_find(tally, trace, entry->sum.tid, entry->from);
		if (sum)
			sum->sum.count += entry->sum.count;
		else
			counts->uncounted += entry->sum.count;
	}
	counts->uncounted += worker->tally.uncounted;
	return worker->result;
}

static int by_process(const void *a, const void *b)
{
	const struct read_thread_count *one = a, *other = b;
	uint32_t one_pid = one->thread ? one->thread->pid : UINT32_MAX;
	uint32_t other_pid = other->thread ? other->thread->pid : UINT32_MAX;

	if (one_pid != other_pid)
		return one_pid < other_pid ? -1 : 1;
	if (one->tid != other->tid)
		return one->tid < other->tid ? -1 : 1;
	return one->thread && other->thread
		       ? (one->thread->time > other->thread->time) - (one->thread->time < other->thread->time)
		       : 0;
}

static int list_threads(const struct tally *tally, struct read_counts *counts)
{
	counts->threads = calloc(tally->used ? tally->used : 1, sizeof(*counts->threads));
	if (!counts->threads)
		return -ENOMEM;
	for (size_t n = 0; n < tally->room; n++) {
		if (tally->entries[n].used)
			counts->threads[counts->thread_count++] = tally->entries[n].sum;
	}
	qsort(counts->threads, counts->thread_count, sizeof(*counts->threads), by_process);
	return 0;
}

/* Runs the workers; those that cannot have a thread of their own leave their share to the others. */
static void run(struct worker *workers, unsigned count)
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
	struct tally tally = { .used = 0 };
	unsigned ready = 0;
	int result = 0;

	memset(counts, 0, sizeof(*counts));
	threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	counts->events = calloc(trace->event_count + 1, sizeof(*counts->events));
	counts->rings = calloc(trace->stream_count + 1, sizeof(*counts->rings));
	if (!counts->events || !counts->rings || tally_grow(&tally))
		result = -ENOMEM;
	while (!result && ready < threads)
		result = worker_start(&workers[ready++], &work);
	if (!result)
		run(workers, threads);
	for (unsigned n = 0; n < ready; n++) {
		if (!result)
			result = worker_add_up(&workers[n], trace, &tally, counts);
		read_loader_close(&workers[n].loader);
		free(workers[n].tally.entries);
		free(workers[n].events);
		free(workers[n].rings);
	}
	if (!result)
		result = list_threads(&tally, counts);
	free(tally.entries);
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
