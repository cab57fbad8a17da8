/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opens and closes a trace.
 *
 * The recorder may still be writing, so the order matters: first the list of files, then the packets' headers, then
 * the events and names that their records refer to. The recorder writes these before the records, so none that the
 * index needs can be missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "read/trace.h"
#include "wire/wire_profile.h"
#include "wire/wire_terms.h"

/* Numbers the rings: first those of the CPUs, then the locked ones; samples and the kernel have got large numbers already. */
static void number_rings(struct burin_trace *trace)
{
	uint64_t cpus = 0;

	if (read_recording_number(trace, "cpus", &cpus) || !cpus || cpus > READ_NUMBER_MAX) {
		cpus = 0;
		for (unsigned n = 0; n < trace->stream_count; n++) {
			if (!trace->streams[n].ring.locked && !trace->streams[n].ring.number)
				cpus = trace->streams[n].ring.cpu + 1;
		}
	}
	for (unsigned n = 0; n < trace->stream_count; n++) {
		struct read_stream *stream = &trace->streams[n];
		const bool samples = stream->ring.number == WIRE_SAMPLES_INSTANCE;

		if (stream->ring.number >= WIRE_KERNEL_INSTANCE)
			continue;
		stream->ring.number += stream->ring.cpu + (stream->ring.locked ? (uint32_t)cpus : 0);
		if (!stream->ring.locked && !samples && stream->ring.number >= cpus && trace->strict)
			read_fault(trace, BURIN_FAULT_FILE, stream->files[0].name, 0,
				   "a ring of CPU %u, but the recording file has %llu CPUs",
				   (unsigned)stream->ring.cpu, (unsigned long long)cpus);
	}
}

static uint32_t open_chunk_of(const struct read_stream *stream, size_t packet)
{
	return stream->files[stream->packets[packet].file].chunk;
}

static void open_sum_up(struct burin_trace *trace, struct read_stream *stream)
{
	struct burin_ring *ring = &stream->ring;

	ring->files = stream->file_count;
	ring->packets = stream->packet_count;
	for (size_t n = 0; n < stream->packet_count; n++) {
		const struct read_packet *packet = &stream->packets[n];

		if (packet->content_bytes == sizeof(struct wire_packet))
			continue;
		if (!ring->bytes)
			ring->begin = packet->time_begin;
		ring->bytes += packet->content_bytes - sizeof(struct wire_packet);
		ring->end = packet->time_end;
	}
	for (size_t n = 0; n < stream->packet_count; n++) /* the last packet of a chunk has its losses */
		if (n + 1 == stream->packet_count || open_chunk_of(stream, n) != open_chunk_of(stream, n + 1))
			for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
				ring->lost[cause] += stream->packets[n].lost[cause];
	if (!ring->bytes || stream->stream_id)
		return;
	if (!trace->has_records || ring->begin < trace->begin)
		trace->begin = ring->begin;
	if (!trace->has_records || ring->end > trace->end)
		trace->end = ring->end;
	trace->has_records = true;
}

/* Finds out which directories the trace consists of, and lists their streams. */
static int find_streams(struct burin_trace *trace, struct burin_diagnosis *why)
{
	int result = read_chunks_single(trace);

	if (!result)
		result = read_recording_load(trace, 0, &trace->recording);
	if (!result && trace->recording.missing)
		result = read_chunks_find(trace);
	return result ? result : read_directory_list(trace, why);
}

static int index_streams(struct burin_trace *trace)
{
	struct read_stream *streams[] = { &trace->names_stream, &trace->changes_stream };
	const unsigned count = trace->stream_count + 2;
	int result = 0;

	for (unsigned n = 0; n < count && !result; n++)
		result = read_stream_index(trace, n < trace->stream_count ? &trace->streams[n]
									  : streams[n - trace->stream_count]);
	if (!result)
		result = read_chunks_order(trace);
	for (unsigned n = 0; n < count && !result; n++) {
		struct read_stream *stream =
			n < trace->stream_count ? &trace->streams[n] : streams[n - trace->stream_count];

		read_stream_order(trace, stream);
		open_sum_up(trace, stream);
	}
	return result;
}

static int open_load(struct burin_trace *trace, struct burin_diagnosis *why)
{
	int result = find_streams(trace, why);

	if (result)
		return result;
	if (trace->recording.error && !trace->stream_count) { /* it may be a trace */
		read_diagnose(why, trace->recording.error, ".burin/recording", 0, "%s",
			      burin_fault_name(trace->recording.error));
		return trace->recording.error;
	}
	if (!trace->recording.sound && !trace->stream_count) {
		read_diagnose(why, BURIN_FAULT_NOT_A_TRACE, "", 0,
			      "not a trace: the directory has neither cpu files nor a .burin/recording");
		return BURIN_FAULT_NOT_A_TRACE;
	}
	read_recording_missing(trace);
	read_recording_context(trace);
	number_rings(trace);
	read_clock_set(trace);
	read_uuid_choose(trace);
	trace->names_stream.stream_id = WIRE_STREAM_NAMES;
	trace->names_stream.ring.number = UINT32_MAX;
	trace->changes_stream.stream_id = WIRE_STREAM_NAMES;
	trace->changes_stream.ring.number = (uint32_t)WIRE_CHANGES_INSTANCE;
	result = index_streams(trace);
	if (!result)
		result = read_events_load(trace);
	if (!result)
		result = read_name_events_make(trace);
	if (!result)
		result = read_names_load(trace);
	if (!result)
		result = read_history_load(trace);
	return result;
}

/* @directory: closed with the trace; -errno: it could not be opened */
static int open_directory(struct burin_trace **trace, int directory, const struct burin_open_options *options,
			  bool strict, struct burin_diagnosis *why)
{
	struct burin_trace *made = calloc(1, sizeof(*made));
	int result;

	if (!made) {
		if (directory >= 0)
			close(directory);
		return -ENOMEM;
	}
	made->strict = strict;
	made->memory_max = options->memory ? options->memory : READ_MEMORY_DEFAULT;
	made->faults = read_faults_new(options->on_fault, options->data);
	made->directory = directory;
	if (directory < 0) {
		result = directory;
		read_diagnose(why, result, "", 0, "%s",
			      result == -ENOTDIR
				      ? "not a directory; give the directory that burin record wrote"
				      : burin_fault_name(result));
	} else {
		result = made->faults ? open_load(made, why) : -ENOMEM;
	}
	if (result) {
		if (why && !why->code)
			read_diagnose(why, result, "", 0, "%s", burin_fault_name(result));
		burin_trace_close(made);
		return result;
	}
	*trace = made;
	return 0;
}

/* Return: 0 and the caller's options as this library has them; -EINVAL. */
static int open_begin(struct burin_trace **trace, struct burin_open_options *options,
		      const struct burin_open_options *given, struct burin_diagnosis *why)
{
	*trace = NULL;
	read_diagnose(why, 0, "", 0, "%s", "");
	if (options_take(options, sizeof(*options), given) == 0)
		return 0;
	read_diagnose(why, -EINVAL, "", 0,
		      "the caller sets an option that this version of the library does not have");
	return -EINVAL;
}

int read_trace_open(struct burin_trace **trace, const char *path, const struct burin_open_options *given,
		    bool strict, struct burin_diagnosis *why)
{
	struct burin_open_options options;
	int result = open_begin(trace, &options, given, why), directory;

	if (result)
		return result;
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return open_directory(trace, directory < 0 ? -errno : directory, &options, strict, why);
}

int read_trace_open_at(struct burin_trace **trace, int directory, const struct burin_open_options *given,
		       struct burin_diagnosis *why)
{
	struct burin_open_options options;
	int result = open_begin(trace, &options, given, why), copy;

	if (result)
		return result;
	copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	return open_directory(trace, copy < 0 ? -errno : copy, &options, false, why);
}

int read_chunk_open(struct burin_trace **trace, const struct burin_trace *whole, unsigned chunk,
		    const struct burin_open_options *options, struct burin_diagnosis *why)
{
	const int directory = openat(whole->directory, whole->chunks[chunk].name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*trace = NULL;
	return open_directory(trace, directory < 0 ? -errno : directory, options, whole->strict, why);
}

int burin_trace_open(struct burin_trace **trace, const char *path, const struct burin_open_options *options,
		     struct burin_diagnosis *why)
{
	return read_trace_open(trace, path, options, false, why);
}

static void stream_free(struct read_stream *stream)
{
	free(stream->files);
	free(stream->packets);
}

void burin_trace_close(struct burin_trace *trace)
{
	if (!trace)
		return;
	for (unsigned n = 0; n < trace->stream_count; n++)
		stream_free(&trace->streams[n]);
	stream_free(&trace->names_stream);
	stream_free(&trace->changes_stream);
	free(trace->streams);
	free(trace->chunks);
	read_names_free(&trace->names);
	read_history_free(&trace->history);
	read_events_free(trace);
	read_recording_free(&trace->recording);
	read_faults_free(trace->faults);
	if (trace->directory >= 0)
		close(trace->directory);
	free(trace);
}

int burin_trace_range(const struct burin_trace *trace, uint64_t *begin, uint64_t *end)
{
	*begin = trace->begin;
	*end = trace->end;
	return trace->has_records ? 0 : -ENODATA;
}

unsigned burin_trace_chunks(const struct burin_trace *trace)
{
	return *trace->chunks->name ? trace->chunk_count : 0;
}

uint32_t burin_trace_chunk(const struct burin_trace *trace, unsigned n)
{
	return n < trace->chunk_count ? trace->chunks[n].number : 0;
}

unsigned burin_trace_rings(const struct burin_trace *trace)
{
	return trace->stream_count;
}

const struct burin_ring *burin_trace_ring(const struct burin_trace *trace, unsigned n)
{
	return n < trace->stream_count ? &trace->streams[n].ring : NULL;
}

uint64_t burin_trace_lost(const struct burin_trace *trace, unsigned cause)
{
	uint64_t sum = 0;

	if (cause >= BURIN_LOST_CAUSES)
		return 0;
	for (unsigned n = 0; n < trace->stream_count; n++)
		sum += trace->streams[n].ring.lost[cause];
	return sum;
}

const char *burin_loss_name(unsigned cause)
{
	return cause < BURIN_LOST_CAUSES ? wire_loss_terms[cause].text : "?";
}
