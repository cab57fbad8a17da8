/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A trace while it is written; see output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/origin.h"
#include "drain/output.h"
#include "ring/ring_deps.h"

static void name_stream(const struct session *session, unsigned index, char *name, size_t bytes)
{
	unsigned cpus = session->geometry.cpus;

	if (index == session_names_index(session))
		snprintf(name, bytes, "names");
	else if (index < cpus)
		snprintf(name, bytes, "cpu%u", index);
	else
		snprintf(name, bytes, "locked%u", index - cpus);
}

static int open_directory(struct output *output, const char *path)
{
	output->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return output->directory < 0 ? -errno : 0;
}

static int make_directory(struct output *output, const char *path)
{
	int error;

	if (mkdir(path, 0777) != 0)
		return -errno;
	error = open_directory(output, path);
	if (!error && mkdirat(output->directory, ".burin", 0777) != 0)
		error = -errno;
	return error;
}

static int make_outlets(struct output *output)
{
	const struct session *session = output->session;

	output->outlets = calloc(session->ring_count, sizeof(*output->outlets));
	if (!output->outlets)
		return -ENOMEM;
	for (unsigned n = 0; n < session->ring_count; n++) {
		struct outlet *outlet = &output->outlets[n];
		char name[32];

		name_stream(session, n, name, sizeof(name));
		outlet->ring = &session->rings[n];
		stream_init(&outlet->stream, output->directory, name,
			    (uint32_t)outlet->ring->packet_words * 8);
	}
	return 0;
}

int output_begin(struct output *output, const struct session *session, const char *path,
		 const struct wire_origin *origins, const struct recording *recording,
		 const struct table *table)
{
	int error;

	*output = (struct output){ .session = session, .directory = -1, .recording = *recording };
	error = make_directory(output, path);
	if (!error)
		error = make_outlets(output);
	for (unsigned n = 0; !error && origins && n < session->ring_count; n++)
		output->outlets[n].origin = origins[n];
	if (!error && origins)
		error = origin_write(output->directory, origins, session->ring_count);
	if (!error)
		error = metadata_write(output->directory, session, table, recording->clock);
	if (!error)
		error = recording_write(output->directory, session, recording);
	return error;
}

int output_reopen(struct output *output, const struct session *session, const char *path,
		  const struct recording *recording)
{
	struct wire_origin *origins;
	int error;

	*output = (struct output){ .session = session, .recording = *recording };
	error = open_directory(output, path);
	if (!error)
		error = make_outlets(output);
	origins = error ? NULL : calloc(session->ring_count, sizeof(*origins));
	if (!error)
		error = origins ? origin_read(output->directory, origins, session->ring_count) : -ENOMEM;
	for (unsigned n = 0; !error && n < session->ring_count; n++)
		output->outlets[n].origin = origins[n];
	free(origins);
	return error;
}

void output_fail(struct output *output, int error, const char *what)
{
	if (output->error || !error)
		return;
	output->error = error;
	snprintf(output->trouble, sizeof(output->trouble), "%s: %s; what came later was not recorded", what,
		 strerror(-error));
	output->recording.trouble = output->trouble;
	output->recording.state = "failed";
	recording_write(output->directory, output->session, &output->recording);
}

void output_metadata(struct output *output, const struct table *table)
{
	if (!output->error)
		output_fail(
			output,
			metadata_write(output->directory, output->session, table, output->recording.clock),
			"metadata");
}

/* A packet's header, all but its times. */
static void fill_header(struct outlet *outlet, struct wire_packet *header, uint64_t sequence,
			const struct wire_ledger *ledger)
{
	const struct ring *ring = outlet->ring;
	const struct wire_ledger *before = &outlet->origin.ledger;

	*header = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = ring->header->stream_id,
		.stream_instance = ring->stream_instance,
		.sequence = sequence + outlet->origin.restated,
		.events_before = ledger->events - before->events,
		.cpu = ring->cpu,
	};
	memcpy(header->uuid, ring->header->uuid, sizeof(header->uuid));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		header->lost[cause] = ledger->lost[cause] - before->lost[cause];
		header->discarded += header->lost[cause];
	}
}

/* The base is as the writers begin it; extended records move it. */
static void fill_times(struct wire_packet *header, uint64_t begin, uint64_t end)
{
	header->time_begin = header->base_time = begin;
	header->time_end = end;
}

/* Ticks in a nanosecond, rounded up: babeltrace2 sorts packets by the nanosecond in which they begin. */
static uint64_t a_little(const struct output *output)
{
	return output->recording.clock.hz / 1000000000 + 1;
}

/*
 * Add a packet. CTF readers see a loss as the difference between two packets, so one that comes before a
 * stream's first record needs a packet before it: an empty one, that tells of none.
 */
static void add_packet(struct output *output, struct outlet *outlet, struct wire_packet *packet,
		       uint32_t content, uint64_t sequence)
{
	struct wire_packet empty = *packet;
	int error = 0;

	if (outlet->stream.files == 0 && packet->discarded != 0 && packet->sequence != 0) {
		empty.sequence = empty.discarded = empty.events_before = 0;
		memset(empty.lost, 0, sizeof(empty.lost));
		fill_times(&empty, packet->time_begin - a_little(output),
			   packet->time_begin - a_little(output));
		error = stream_packet(&outlet->stream, &empty, sizeof(empty));
	}
	if (!error)
		error = stream_packet(&outlet->stream, packet, content);
	output_fail(output, error, outlet->stream.name);
	outlet->begun |= !error;
	outlet->sequence = sequence;
	if (!error)
		outlet->said = packet->discarded;
}

void output_records(struct output *output, unsigned index, struct wire_packet *packet, uint64_t sequence,
		    const struct sifted *sifted, const struct wire_ledger *ledger)
{
	struct outlet *outlet = &output->outlets[index];
	const char *records = (const char *)packet + sifted->begin;
	const uint32_t bytes = sifted->content - sifted->begin;

	if (output->error)
		return;
	if (outlet->begun && outlet->sequence == sequence) {
		output_fail(output, stream_extend(&outlet->stream, records, bytes, sifted->time),
			    outlet->stream.name);
	} else {
		memmove(packet + 1, records, bytes);
		fill_header(outlet, packet, sequence, ledger);
		fill_times(packet, sifted->first, sifted->time);
		add_packet(output, outlet, packet, (uint32_t)sizeof(*packet) + bytes, sequence);
	}
	if (!output->error)
		outlet->kept += sifted->count;
}

void output_losses(struct output *output, unsigned index, const struct wire_ledger *ledger, uint64_t time)
{
	struct outlet *outlet = &output->outlets[index];
	const uint64_t sequence = outlet->begun ? outlet->sequence + 1 : outlet->origin.sequence + 1;
	struct wire_packet packet;

	if (output->error)
		return;
	fill_header(outlet, &packet, sequence, ledger);
	if (packet.discarded == outlet->said)
		return;
	time = time ? time + a_little(output) : ring_clock();
	fill_times(&packet, time, time);
	add_packet(output, outlet, &packet, sizeof(packet), sequence);
}

uint64_t output_bytes(const struct output *output)
{
	uint64_t bytes = 0;

	for (unsigned n = 0; n < output->session->ring_count; n++)
		bytes += stream_bytes(&output->outlets[n].stream);
	return bytes;
}

void output_finish(struct output *output, const char *result)
{
	for (unsigned n = 0; n < output->session->ring_count; n++)
		stream_finish(&output->outlets[n].stream);
	output->recording.state = output->error ? "failed" : "finished";
	output->recording.result = result;
	output->recording.session_path = NULL;
	recording_write(output->directory, output->session, &output->recording);
}

void output_free(struct output *output)
{
	for (unsigned n = 0; output->outlets && n < output->session->ring_count; n++)
		stream_close(&output->outlets[n].stream);
	free(output->outlets);
	if (output->directory >= 0)
		close(output->directory);
	output->outlets = NULL;
	output->directory = -1;
}
