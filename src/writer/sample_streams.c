/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The streams of samples; see sample_streams.h.
 *
 * A record is put into the memory of its CPU's stream (samples_put()), and exists for readers once it is
 * committed (samples_commit()). A commit writes the table of contexts first, then for each CPU either the end
 * of its last packet or a new one. stream_output.c makes each of these steps whole. The caller has written
 * tasks and stacks before.
 *
 * There are records of one CPU only in a stream, in order of time: one that would go back is clamped. Their
 * header is compact as long as 32 bits of time reach from ->base, as in the writers of tracepoints.
 *
 * Losses are counted by packets. So a new loss begins a new packet (fits_last()), and one before the first
 * record needs an empty packet in front (add_first()).
 *
 * A context is a pair of task and stack. ->recent remembers one for each of 4096 hashes, without a chain: a
 * pair that has lost its place gets another number, which costs some bytes and nothing else.
 *
 * Only the sampler's thread uses this. After an error nothing more is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "writer/sample_streams.h"
#include "wire/wire_context.h"
#include "wire/wire_profile.h"
#include "wire/wire_record.h"
#include "wire/wire_terms.h"

enum {
	SAMPLES_PACKET = 64 << 10,
	SAMPLES_RECORD_MAX = 64,
	SAMPLES_RECENT_BITS = 12, /* log2 of the contexts that are remembered */
};

static const char contexts_name[] = ".burin/contexts";

static void sample_streams_name_stream(char name[32], unsigned cpu)
{
	snprintf(name, 32, "%s%u", wire_file_keys[WIRE_FILE_SAMPLES], cpu);
}

static void sample_streams_begin_stream(struct stream *stream, int directory, unsigned cpu)
{
	char name[32];

	sample_streams_name_stream(name, cpu);
	stream_init(stream, directory, name, SAMPLES_PACKET);
}

static int begin_contexts(struct samples *samples)
{
	int error = table_writer_begin(&samples->contexts, samples->directory, contexts_name,
				       WIRE_TABLE_CONTEXTS);

	memset(samples->recent, 0, sizeof(*samples->recent) << SAMPLES_RECENT_BITS);
	samples->contexts.refers[0] = samples->tasks;
	samples->contexts.refers[1] = samples->stacks;
	return error;
}

int samples_begin(struct samples *samples, const struct session *session, int directory, unsigned cpus,
		  struct table_writer *tasks, struct table_writer *stacks, uint64_t begin)
{
	*samples = (struct samples){ .session = session,
				     .directory = directory,
				     .tasks = tasks,
				     .stacks = stacks,
				     .begin = begin,
				     .contexts = { .fd = -1 } };
	samples->streams = calloc(cpus, sizeof(*samples->streams));
	samples->recent = malloc(sizeof(*samples->recent) << SAMPLES_RECENT_BITS);
	if (!samples->streams || !samples->recent)
		return -ENOMEM;
	samples->count = cpus;
	for (unsigned n = 0; n < cpus; n++)
		sample_streams_begin_stream(&samples->streams[n].stream, directory, n);
	return begin_contexts(samples);
}

int samples_recover(int directory, unsigned cpus)
{
	char name[32];
	int error = 0;

	for (unsigned n = 0; n < cpus && !error; n++) {
		sample_streams_name_stream(name, n);
		error = stream_recover(directory, name, SAMPLES_PACKET);
	}
	return error;
}

/* Event context and sample context. The event context is all zero, since the sampler does not know the thread's work. */
static uint32_t fields_bytes(const struct samples *samples)
{
	return wire_context_bytes(samples->session->geometry.context) + 4;
}

static char *records_of(struct samples_stream *stream)
{
	return stream->records + sizeof(struct wire_packet);
}

/* Put a compact header if the time base reaches: the packet's beginning or the last extended record. Return: its size. */
static uint32_t put_header(struct samples_stream *stream, const struct samples_record *record, uint64_t time,
			   uint32_t fields, char *at)
{
	struct wire_extended extended = { .tag = WIRE_ID_EXTENDED,
					  .length = (uint16_t)(sizeof(extended) + fields),
					  .id = record->id,
					  .time_low = (uint32_t)time,
					  .time_high = (uint32_t)(time >> 32),
					  .tid = record->tid };
	struct wire_compact compact = { .id = record->id,
					.length = (uint16_t)(sizeof(compact) + fields),
					.time = (uint32_t)time,
					.tid = record->tid };

	/* The first packet begins with the first record, so its time is the base. */
	if (!stream->sequence && !stream->count)
		stream->base = time;
	if (time - stream->base < UINT64_C(1) << 32) {
		memcpy(at, &compact, sizeof(compact));
		return sizeof(compact);
	}
	stream->base = time;
	memcpy(at, &extended, sizeof(extended));
	return sizeof(extended);
}

/* Return: the number of the sample context; 0: it could not be added. */
static uint32_t context_of(struct samples *samples, uint32_t task, uint32_t stack)
{
	const uint32_t hash = hash_stable((const uint32_t[]){ task, stack }, 2 * sizeof(uint32_t));
	struct sample_context *entry = &samples->recent[hash >> (32 - SAMPLES_RECENT_BITS)];

	if (!entry->number || entry->task != task || entry->stack != stack) {
		table_writer_number(&samples->contexts, task);
		table_writer_number(&samples->contexts, stack);
		*entry = (struct sample_context){ task, stack, table_writer_end(&samples->contexts) };
	}
	return entry->number;
}

bool samples_put(struct samples *samples, unsigned cpu, const struct samples_record *record)
{
	struct samples_stream *stream = &samples->streams[cpu];
	uint64_t time = record->time > stream->time ? record->time : stream->time;
	const uint32_t fields = fields_bytes(samples),
		       more = (record->weighted ? 8 : 0) + (record->woken ? 8 : 0);
	uint32_t context, header;
	char *at;

	if (!stream->records)
		stream->records = aligned_alloc(8, SAMPLES_PACKET);
	if (!stream->records ||
	    stream->bytes + SAMPLES_RECORD_MAX > SAMPLES_PACKET - sizeof(struct wire_packet))
		return false;
	context = context_of(samples, record->task, record->stack);
	if (!context)
		return false;
	at = records_of(stream) + stream->bytes;
	memset(at, 0, SAMPLES_RECORD_MAX);
	header = put_header(stream, record, time, fields + more, at);
	at += header + fields;
	memcpy(at - 4, &context, 4);
	if (record->weighted)
		memcpy(at, &record->weight, 8);
	if (record->woken) {
		memcpy(at + 8, &record->woken, 4);
		memcpy(at + 12, &record->interrupt, 4);
	}
	if (!stream->count)
		stream->first = time;
	stream->last = stream->time = time;
	stream->bytes += wire_stride(header + fields + more);
	stream->count++;
	stream->groups[record->group]++;
	return true;
}

void samples_lost(struct samples *samples, unsigned cpu, uint64_t lost)
{
	struct samples_stream *stream = &samples->streams[cpu];

	stream->lost = lost > stream->lost_before ? lost - stream->lost_before : 0;
}

uint64_t samples_lost_so_far(const struct samples *samples)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < samples->count; n++)
		sum += samples->streams[n].lost;
	return sum;
}

/* Add a packet with the records that were put, or with losses only. */
static int sample_streams_add_packet(struct samples *samples, unsigned cpu, struct wire_packet *packet,
				     uint32_t bytes, uint64_t first, uint64_t last)
{
	struct samples_stream *stream = &samples->streams[cpu];
	int error;

	*packet = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = WIRE_STREAM_RECORDS,
		.stream_instance = WIRE_SAMPLES_INSTANCE + (uint64_t)cpu,
		.events_before = stream->kept,
		.base_time = first,
		.time_begin = first,
		.time_end = last,
		.sequence = stream->sequence,
		.cpu = cpu,
	};
	memcpy(packet->uuid, samples->session->geometry.uuid, sizeof(packet->uuid));
	if (stream->lost && stream->sequence) /* see add_first() */
		packet->lost[WIRE_LOST_FULL] = packet->discarded = stream->lost;
	error = stream_packet(&stream->stream, packet, (uint32_t)sizeof(*packet) + bytes);
	if (error)
		return error;
	stream->sequence++;
	stream->reported = packet->discarded;
	/*
	 * The packet's begin is a base, too. A record in it may have been extended, and then has moved the
	 * base further.
	 */
	if (first > stream->base)
		stream->base = first;
	return 0;
}

/* Add an empty packet if the stream would begin with a loss: readers see losses between packets only. */
static int add_first(struct samples *samples, unsigned cpu, uint64_t time)
{
	struct wire_packet empty;

	if (samples->streams[cpu].sequence || !samples->streams[cpu].lost)
		return 0;
	return sample_streams_add_packet(samples, cpu, &empty, 0, time, time);
}

static bool fits_last(const struct samples_stream *stream)
{
	return stream->sequence && stream->reported == stream->lost &&
	       wire_stride(stream->stream.content) + stream->bytes <= SAMPLES_PACKET;
}

static int commit_one(struct samples *samples, unsigned cpu)
{
	struct samples_stream *stream = &samples->streams[cpu];
	uint32_t bytes = stream->bytes;
	int error = 0;

	if (!stream->count)
		return 0;
	/* The content ends without the last record's padding, which is the same with a weight or an extended header. */
	bytes -= wire_stride(sizeof(struct wire_compact) + fields_bytes(samples)) -
		 (uint32_t)sizeof(struct wire_compact) - fields_bytes(samples);
	if (fits_last(stream)) {
		error = stream_extend(&stream->stream, records_of(stream), bytes, stream->last);
	} else {
		error = add_first(samples, cpu, stream->first);
		if (!error)
			error = sample_streams_add_packet(samples, cpu, (struct wire_packet *)stream->records,
							  bytes, stream->first, stream->last);
	}
	if (!error) {
		stream->kept += stream->count;
		for (unsigned n = 0; n < SAMPLES_GROUPS; n++)
			stream->kept_groups[n] += stream->groups[n];
	}
	memset(stream->groups, 0, sizeof(stream->groups));
	stream->count = 0;
	stream->bytes = 0;
	return error;
}

int samples_commit(struct samples *samples)
{
	if (!samples->error)
		samples->error = table_writer_flush(&samples->contexts);
	for (unsigned n = 0; n < samples->count && !samples->error; n++)
		samples->error = commit_one(samples, n);
	return samples->error;
}

int samples_finish(struct samples *samples)
{
	for (unsigned n = 0; n < samples->count; n++) {
		struct samples_stream *stream = &samples->streams[n];
		/* Not now: the next chunk may begin with samples from before, which are in the kernel's ring still. */
		const uint64_t end = stream->time ? stream->time : samples->begin;
		struct wire_packet packet;

		if (!samples->error)
			samples->error = add_first(samples, n, end);
		if (!samples->error && stream->reported != stream->lost)
			samples->error = sample_streams_add_packet(samples, n, &packet, 0, end, end);
		stream_finish(&stream->stream);
	}
	if (!samples->error) /* the entries that it refers to are written */
		table_writer_finish(&samples->contexts, samples->directory, contexts_name, 2);
	return samples->error;
}

void samples_next(struct samples *samples, int directory)
{
	int error;

	samples->directory = directory;
	for (unsigned n = 0; n < samples->count; n++) {
		struct samples_stream *stream = &samples->streams[n];

		stream_close(&stream->stream);
		*stream = (struct samples_stream){ .records = stream->records,
						   .time = stream->time,
						   .lost_before = stream->lost_before + stream->lost };
		sample_streams_begin_stream(&samples->streams[n].stream, directory, n);
	}
	table_writer_close(&samples->contexts);
	error = begin_contexts(samples);
	if (!samples->error)
		samples->error = error;
}

uint64_t samples_kept(const struct samples *samples, enum samples_group group)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < samples->count; n++)
		sum += samples->streams[n].kept_groups[group];
	return sum;
}

uint64_t samples_bytes(const struct samples *samples)
{
	uint64_t sum = samples->contexts.at;

	for (unsigned n = 0; n < samples->count; n++)
		sum += stream_bytes(&samples->streams[n].stream);
	return sum;
}

void samples_free(struct samples *samples)
{
	for (unsigned n = 0; n < samples->count; n++) {
		stream_close(&samples->streams[n].stream);
		free(samples->streams[n].records);
	}
	table_writer_close(&samples->contexts);
	free(samples->recent);
	free(samples->streams);
	samples->recent = NULL;
	samples->streams = NULL;
	samples->count = 0;
}
