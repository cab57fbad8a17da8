/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace while it is written; see trace_output.h.
 *
 * Packets of a ring become packets of a stream with the same records and other headers. The trace may begin
 * in the middle of the ring's life, so all counts are differences to the stream's origin: events_before,
 * losses, and the sequence number, which is shifted by the packets of a statedump.
 *
 * A piece of a packet that is in the stream already is added to its end (stream_extend()), so each round
 * leaves a whole trace. Losses that come later than the last record are in an empty packet behind it
 * (output_losses()).
 *
 * The first error counts. It is written into `.burin/recording` at once, since the recorder may not come to
 * an end. From then on no record is written, and packets stay in the ring for `burin recover`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/trace_origin.h"
#include "writer/trace_output.h"
#include "file/create.h"
#include "ring/ring_deps.h"
#include "wire/wire_terms.h"

static void trace_output_name_stream(const struct session *session, unsigned index, char *name, size_t bytes)
{
	unsigned cpus = session->geometry.cpus;

	if (index == session_names_index(session))
		snprintf(name, bytes, "%s", wire_file_keys[WIRE_FILE_NAMES]);
	else if (index < cpus)
		snprintf(name, bytes, "%s%u", wire_file_keys[WIRE_FILE_CPU], index);
	else
		snprintf(name, bytes, "%s%u", wire_file_keys[WIRE_FILE_LOCKED], index - cpus);
}

static int trace_output_make_streams(struct output *output)
{
	const struct session *session = output->session;

	output->streams = calloc(session->ring_count, sizeof(*output->streams));
	if (!output->streams)
		return -ENOMEM;
	output->count = session->ring_count;
	for (unsigned n = 0; n < session->ring_count; n++) {
		struct output_stream *out = &output->streams[n];
		char name[32];

		trace_output_name_stream(session, n, name, sizeof(name));
		out->ring = &session->rings[n];
		stream_init(&out->stream, output->directory, name, (uint32_t)out->ring->packet_words * 8);
	}
	return 0;
}

int output_add(struct output *output, const struct ring *rings, unsigned count,
	       const struct wire_origin *origins)
{
	struct output_stream *streams =
		reallocarray(output->streams, output->count + (size_t)count, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	output->streams = streams;
	for (unsigned n = 0; n < count; n++) {
		struct output_stream *out = &streams[output->count++];
		char name[32];

		*out = (struct output_stream){ .ring = &rings[n] };
		if (origins)
			out->origin = origins[n];
		snprintf(name, sizeof(name), "%s%u", wire_file_keys[WIRE_FILE_KERNEL], n);
		stream_init(&out->stream, output->directory, name, (uint32_t)rings[n].packet_words * 8);
	}
	return 0;
}

int output_begin(struct output *output, const struct session *session, int directory,
		 const struct wire_origin *origins, const struct recording *recording,
		 const struct event_table *table)
{
	int tables = create_directory(directory, ".burin"), error = tables < 0 ? tables : 0;

	*output = (struct output){ .session = session, .directory = directory, .recording = *recording };
	if (tables >= 0)
		close(tables);
	if (!error)
		error = trace_output_make_streams(output);
	for (unsigned n = 0; !error && origins && n < session->ring_count; n++)
		output->streams[n].origin = origins[n];
	if (!error && origins)
		error = origin_write(output->directory, origins, session->ring_count);
	if (!error)
		error = metadata_write(output->directory, session, table, recording->clock, &output->written);
	if (!error)
		error = recording_write(output->directory, session, recording);
	return error;
}

int output_reopen(struct output *output, const struct session *session, int directory,
		  const struct recording *recording)
{
	struct wire_origin *origins;
	int error;

	*output = (struct output){
		.session = session, .directory = directory, .recording = *recording, .resumed = true
	};
	error = trace_output_make_streams(output);
	origins = error ? NULL : calloc(session->ring_count, sizeof(*origins));
	if (!error)
		error = origins ? origin_read(output->directory, origins, session->ring_count) : -ENOMEM;
	for (unsigned n = 0; !error && n < session->ring_count; n++)
		output->streams[n].origin = origins[n];
	free(origins);
	return error;
}

void output_fail(struct output *output, int error, const char *what)
{
	if (output->error || !error)
		return;
	output->error = error;
	snprintf(output->trouble, sizeof(output->trouble), "%s: %s; later records are missing", what,
		 strerror(-error));
	output->recording.trouble = output->trouble;
	/* Another recovery may still succeed, as long as the state is the one that the dead recorder left. */
	if (!output->resumed)
		output->recording.state = "failed";
	if (output->directory >= 0)
		recording_write(output->directory, output->session, &output->recording);
}

void output_metadata(struct output *output, const struct event_table *table)
{
	if (!output->error && output->directory >= 0)
		output_fail(output,
			    metadata_write(output->directory, output->session, table, output->recording.clock,
					   &output->written),
			    "metadata");
}

/* Fill in a packet's header, except its times. */
static void fill_header(struct output_stream *out, struct wire_packet *header, uint64_t sequence,
			const struct wire_ledger *ledger)
{
	const struct ring *ring = out->ring;
	const struct wire_ledger *before = &out->origin.ledger;

	*header = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = ring->header->stream_id,
		.stream_instance = ring->stream_instance,
		.sequence = sequence + out->origin.statedump,
		.events_before = ledger->events - before->events,
		.cpu = ring->cpu,
	};
	memcpy(header->uuid, ring->header->uuid, sizeof(header->uuid));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		header->lost[cause] = ledger->lost[cause] - before->lost[cause];
		header->discarded += header->lost[cause];
	}
}

/* A packet's time base is its begin; extended records move it. */
static void fill_times(struct wire_packet *header, uint64_t begin, uint64_t end)
{
	header->time_begin = header->base_time = begin;
	header->time_end = end;
}

/* The ticks of a nanosecond, rounded up: babeltrace2 sorts packets by the nanosecond in which they begin. */
static uint64_t nanosecond_ticks(const struct output *output)
{
	return output->recording.clock.hz / 1000000000 + 1;
}

/*
 * Add a packet. CTF readers see a loss as the difference between two packets. A loss before a stream's first record
 * therefore needs an empty packet, without losses, in front.
 */
static void trace_output_add_packet(struct output *output, struct output_stream *out,
				    struct wire_packet *packet, uint32_t content, uint64_t sequence)
{
	struct wire_packet empty = *packet;
	uint64_t before = nanosecond_ticks(output);
	int error = 0;

	if (out->stream.files == 0 && packet->discarded != 0 && packet->sequence != 0) {
		empty.sequence = empty.discarded = empty.events_before = 0;
		memset(empty.lost, 0, sizeof(empty.lost));
		/* The clock of a guest begins at 0. */
		before = packet->time_begin > before ? packet->time_begin - before : 0;
		fill_times(&empty, before, before);
		error = stream_packet(&out->stream, &empty, sizeof(empty));
	}
	if (!error)
		error = stream_packet(&out->stream, packet, content);
	output_fail(output, error, out->stream.name);
	out->begun |= !error;
	out->sequence = sequence;
	if (!error)
		out->reported = packet->discarded;
}

void output_records(struct output *output, unsigned index, struct wire_packet *packet, uint64_t sequence,
		    const struct validated *validated, const struct wire_ledger *ledger)
{
	struct output_stream *out = &output->streams[index];
	const char *records = (const char *)packet + validated->begin;
	const uint32_t bytes = validated->content - validated->begin;

	if (output->error)
		return;
	if (out->begun && out->sequence == sequence) {
		output_fail(output, stream_extend(&out->stream, records, bytes, validated->time),
			    out->stream.name);
	} else {
		memmove(packet + 1, records, bytes);
		fill_header(out, packet, sequence, ledger);
		fill_times(packet, validated->first, validated->time);
		trace_output_add_packet(output, out, packet, (uint32_t)sizeof(*packet) + bytes, sequence);
	}
	if (!output->error)
		out->kept += validated->count;
}

void output_losses(struct output *output, unsigned index, const struct wire_ledger *ledger, uint64_t time)
{
	struct output_stream *out = &output->streams[index];
	const uint64_t sequence = out->begun ? out->sequence + 1 : out->origin.sequence + 1;
	struct wire_packet packet;

	if (output->error)
		return;
	fill_header(out, &packet, sequence, ledger);
	if (packet.discarded == out->reported)
		return;
	time = time ? time + nanosecond_ticks(output) : ring_clock();
	fill_times(&packet, time, time);
	trace_output_add_packet(output, out, &packet, sizeof(packet), sequence);
}

uint64_t output_bytes(const struct output *output)
{
	uint64_t bytes = 0;

	for (unsigned n = 0; n < output->count; n++)
		bytes += stream_bytes(&output->streams[n].stream);
	return bytes;
}

void output_finish(struct output *output, const char *result)
{
	int error;

	if (output->error && output->resumed)
		return;
	for (unsigned n = 0; n < output->count; n++)
		stream_finish(&output->streams[n].stream);
	output->recording.state = output->error ? "failed" : "finished";
	output->recording.result = result;
	if (!output->error) /* otherwise the session may still have what was not written */
		output->recording.session_path = NULL;
	error = recording_write(output->directory, output->session, &output->recording);
	if (!error || output->error)
		return;
	output->error = error;
	snprintf(output->trouble, sizeof(output->trouble),
		 ".burin/recording: %s; the file does not state that the recording has ended",
		 strerror(-error));
}

void output_free(struct output *output)
{
	for (unsigned n = 0; output->streams && n < output->count; n++)
		stream_close(&output->streams[n].stream);
	free(output->streams);
	if (output->directory >= 0)
		close(output->directory);
	output->streams = NULL;
	output->directory = -1;
}
