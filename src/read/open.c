/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opening and closing a trace.
 *
 * The order matters beside a recorder that is still writing: first which files there are, then the packets'
 * headers, and only then what their records refer to, the events and the names: those were written before the
 * records, so none that the index covers can be missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/trace.h"
#include "wire/profile.h"

/* Numbers for the rings: locked ones come behind those of the CPUs, samples (made so already) far behind. */
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

		stream->ring.number += stream->ring.cpu + (stream->ring.locked ? (uint32_t)cpus : 0);
		if (!stream->ring.locked && !samples && stream->ring.number >= cpus && trace->strict)
			read_fault(trace, BURIN_FAULT_FILE, stream->files[0].name, 0,
				   "a ring of CPU %u, but the recording file says %llu CPUs",
				   (unsigned)stream->ring.cpu, (unsigned long long)cpus);
	}
}

static void sum_up(struct burin_trace *trace, struct read_stream *stream)
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
	if (stream->packet_count)
		memcpy(ring->lost, stream->packets[stream->packet_count - 1].lost, sizeof(ring->lost));
	if (!ring->bytes || stream->stream_id)
		return;
	if (!trace->has_records || ring->begin < trace->begin)
		trace->begin = ring->begin;
	if (!trace->has_records || ring->end > trace->end)
		trace->end = ring->end;
	trace->has_records = true;
}

static int load(struct burin_trace *trace, struct burin_diagnosis *why)
{
	int result = read_recording_load(trace);

	if (!result)
		result = read_directory_list(trace, why);
	if (result)
		return result;
	if (!trace->recording.sound && !trace->stream_count) {
		read_diagnose(why, BURIN_FAULT_NOT_A_TRACE, "", 0,
			      "not a trace: the directory has neither cpu files nor a .burin/recording");
		return BURIN_FAULT_NOT_A_TRACE;
	}
	number_rings(trace);
	read_clock_set(trace);
	read_stream_vote(trace);
	trace->names_stream.stream_id = WIRE_STREAM_NAMES;
	trace->names_stream.ring.number = UINT32_MAX;
	for (unsigned n = 0; n <= trace->stream_count && !result; n++) {
		struct read_stream *stream =
			n < trace->stream_count ? &trace->streams[n] : &trace->names_stream;

		result = read_stream_index(trace, stream);
		if (!result) {
			read_stream_order(trace, stream);
			sum_up(trace, stream);
		}
	}
	if (!result)
		result = read_events_load(trace);
	read_name_events_make(trace);
	if (!result)
		result = read_names_load(trace);
	return result;
}

int read_trace_open(struct burin_trace **trace, const char *path, const struct burin_open_options *options,
		    bool strict, struct burin_diagnosis *why)
{
	struct burin_trace *made;
	int result;

	*trace = NULL;
	read_diagnose(why, 0, "", 0, "%s", "");
	if (options && options->size != sizeof(*options)) {
		read_diagnose(why, -EINVAL, "", 0, "the caller was built for another version of the library");
		return -EINVAL;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->strict = strict;
	made->faults = read_faults_new(options ? options->on_fault : NULL, options ? options->data : NULL);
	made->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (made->directory < 0) {
		result = -errno;
		read_diagnose(why, result, "", 0, "%s",
			      result == -ENOTDIR ? "not a directory" : burin_fault_name(result));
	} else {
		result = made->faults ? load(made, why) : -ENOMEM;
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
	free(trace->streams);
	read_names_free(&trace->names);
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
	static const char *const names[] = {
		[BURIN_LOST_FULL] = "ring full",
		[BURIN_LOST_BUSY] = "every ring locked",
		[BURIN_LOST_SIZE] = "record too large",
		[BURIN_LOST_OVERWRITTEN] = "overwritten",
		[BURIN_LOST_CORRUPT] = "corrupt in the ring",
		[BURIN_LOST_UNREAD] = "left in the ring",
	};

	return cause < BURIN_LOST_CAUSES ? names[cause] : "?";
}
