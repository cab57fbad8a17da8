/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads the samples that programs take of themselves; see preload_reader.h and source/preload.
 *
 * The rings are Burin's, of a session in stream mode that the recorder makes. A record of theirs has one
 * field of bytes: a record in the form of the kernel's, struct perf_event_header and so on. So all behind
 * rounds_chunk is the same code as for the kernel's rings.
 *
 * The programs are not trusted. The outer record passes the same validation as one of a tracepoint. Of the
 * inner one, only its length and type are checked here; record_parse() checks the rest. Its time is taken
 * from the outer record, which validation has shown to be in order. A record that does not pass becomes one
 * that counts as damaged, so the ledger stays complete.
 *
 * Damage and losses are counted by ring_reader.c, as in a drain.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/number.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"
#include "session/places/directory.h"
#include "source/perf/rings/preload_reader.h"
#include "wire/wire_head.h"
#include "wire/wire_preload.h"

enum {
	PRELOAD_BUFFER = 4 << 20,   /* of each CPU, bytes: half a second of the largest samples at 250 Hz */
	PRELOAD_PACKET = 128 << 10, /* bytes: three of the largest samples */
	PRELOAD_SAMPLE_TIME = 24,   /* offset of the time in a sample; other records end in it */
	PRELOAD_COUNT = 2,	    /* bytes of a field's length, in front of it */
};

/* The only event, in the rings of samples and in the names ring: one field of bytes. */
static int preload_reader_make_table(struct event_table *table)
{
	*table = (struct event_table){ .entries = calloc(1, sizeof(*table->entries)),
				       .payload_bytes = calloc(1, sizeof(*table->payload_bytes)) };
	if (!table->entries || !table->payload_bytes)
		return -ENOMEM;
	table->entries[0].types = WIRE_BYTES;
	table->payload_bytes[0] = TABLE_VARIABLE;
	table->count = WIRE_PRELOAD_ID;
	return 0;
}

/* Rename the session's file, so that commands that list sessions of tracepoints do not find it. */
static int rename_session(struct preload_reader *self)
{
	char path[SESSION_PATH_MAX];
	const char *base = strrchr(self->path, '/');
	const int length = snprintf(path, sizeof(path), "%.*s/" DIRECTORY_SAMPLES "%s",
				    (int)(base - self->path), self->path, base + 1);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	if (rename(self->path, path) != 0)
		return -errno;
	memcpy(self->path, path, sizeof(path));
	return 0;
}

int preload_reader_open(struct preload_reader *self, const struct perf_options *options, char *why,
			size_t bytes)
{
	const struct session_options settings = { .owner = WIRE_OWNER_RECORDER,
						  .mode = WIRE_MODE_STREAM,
						  .buffer_bytes = options->buffer_bytes
									  ? options->buffer_bytes
									  : PRELOAD_BUFFER,
						  .packet_bytes = PRELOAD_PACKET,
						  .string_max = WIRE_STRING_MAX };
	const char *failed = "";
	int error;

	*self = (struct preload_reader){ 0 };
	error = session_create(&self->session, &settings, self->path, sizeof(self->path), &failed);
	if (error) {
		snprintf(why, bytes, "cannot create the session of samples: %s (%s)", failed,
			 strerror(-error));
		return error;
	}
	error = rename_session(self);
	if (!error)
		error = preload_reader_make_table(&self->table);
	self->buffer = aligned_alloc(4096, PRELOAD_PACKET);
	self->readers = calloc(self->session.ring_count, sizeof(*self->readers));
	if (!error && (!self->buffer || !self->readers))
		error = -ENOMEM;
	if (error) {
		snprintf(why, bytes, "%s", strerror(-error));
		preload_reader_close(self);
		return error;
	}
	for (unsigned n = 0; n < self->session.ring_count; n++)
		self->readers[n].ring = &self->session.rings[n];
	snprintf(self->wanted, sizeof(self->wanted), WIRE_PRELOAD_ENVIRONMENT "=%u %u %s", options->frequency,
		 options->graph, self->path);
	return 0;
}

int preload_reader_options(const struct preload_reader *self, const struct perf_options *options,
			   struct perf *perf)
{
	static_assert((int)PERF_GRAPH_FP == (int)WIRE_PRELOAD_GRAPH_CHAIN &&
			      (int)PERF_GRAPH_DWARF == (int)WIRE_PRELOAD_GRAPH_STACK,
		      "one number for both");
	*perf = (struct perf){ .event = { .name = "cpu-clock", .clock = true, .counting = true },
			       .sample_type = WIRE_PRELOAD_SAMPLE,
			       .registers = WIRE_PRELOAD_REGISTERS,
			       .cpus = preload_reader_side_band(self),
			       .max_depth = WIRE_PRELOAD_CHAIN,
			       .options = *options,
			       .wake = -1 };
	perf->options.is_tsc = false; /* times are the session's ticks already */
	return perf_make_rings(perf);
}

unsigned preload_reader_tick_hz(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec || tick.tv_nsec == 0)
		return 0;
	return (unsigned)((1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
}

/* Whether records of this type belong into the ring: the one of the side band, or one of samples. */
static bool is_valid_type(uint32_t type, bool side)
{
	if (!side)
		return type == PERF_RECORD_SAMPLE;
	return type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
	       type == PERF_RECORD_EXIT;
}

/*
 * Copy the record in a record, with the time of the outer one. An invalid record becomes a sample of the header only,
 * which is counted as damaged.
 */
static size_t preload_reader_unwrap(const char *payload, uint64_t time, bool side, char *out)
{
	struct perf_event_header header = { 0 };
	const size_t bytes = number_load16(payload);

	if (bytes >= PRELOAD_SAMPLE_TIME + sizeof(time)) {
		memcpy(out, payload + PRELOAD_COUNT, bytes);
		memcpy(&header, out, sizeof(header));
		memcpy(out + (side ? bytes - sizeof(time) : PRELOAD_SAMPLE_TIME), &time, sizeof(time));
	}
	if (header.size != bytes || !is_valid_type(header.type, side)) {
		header = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = sizeof(header) };
		memcpy(out, &header, sizeof(header));
	}
	return header.size;
}

/* Unwrap the records of a validated piece. Return: the bytes written. */
static size_t unwrap_all(const char *packet, const struct validated *validated, uint64_t time, bool side,
			 char *out)
{
	struct wire_walk walk = {
		packet + validated->begin, packet + validated->content, 0, { .time = time }
	};
	const char *at;
	size_t used = 0;

	while ((at = wire_walk_next(&walk)))
		used += preload_reader_unwrap(at + walk.head.bytes, walk.head.time, side, out + used);
	return used;
}

/* Read a piece of a ring. Return: the bytes written. */
static size_t take_piece(struct preload_reader *self, unsigned index, const struct ring_piece *piece,
			 char *out)
{
	static const struct window always = { 0, UINT64_MAX };
	struct ring_reader *reader = &self->readers[index];
	const struct wire_packet *packet = (const struct wire_packet *)self->buffer;
	struct validated validated;
	uint64_t time;

	if (!ring_reader_piece(reader, packet, piece, &time))
		return 0;
	validated = validate_records(&self->table, self->buffer, piece->begin, piece->end, time, reader->base,
				     ring_clock(), always);
	reader->damaged = !validated.sound || (!piece->last && validated.end != piece->end);
	if (validated.count == 0)
		return 0;
	ring_reader_take(reader, piece, &validated, validated.count);
	return unwrap_all(self->buffer, &validated, time, index == preload_reader_side_band(self), out);
}

struct rounds_chunk *preload_reader_take(struct preload_reader *self, unsigned index, struct rounds *rounds,
					 size_t *bytes, unsigned *fill)
{
	struct ring_reader *reader = &self->readers[index];
	const struct ring *ring = session_ring_view(&self->session, index);
	struct rounds_chunk *chunk;
	struct ring_piece piece;
	uint64_t packets;

	*bytes = 0;
	*fill = 0;
	if (!ring)
		return NULL;
	/* Not more packets than there are now, and a partly read one: a writer may be as fast as we are. */
	packets = ring_behind(ring, &reader->cursor) + 2;
	*fill = (unsigned)((packets - 2) * 100 / ring_size(ring));
	/* Unwrapped records are shorter than the packets that have them: each loses a header. */
	chunk = rounds_chunk_make(rounds, packets * ring->packet_words * 8);
	for (; chunk && packets > 0; packets--) {
		const int found = ring_copy(ring, &reader->cursor, self->buffer, &piece);

		reader->stale = found < 0;
		if (found <= 0)
			break;
		*bytes += take_piece(self, index, &piece, chunk->bytes + *bytes);
		/* At once: the records are in the chunk. */
		ring_give_back(ring, reader->cursor.sequence);
	}
	ring_reader_losses(reader, ring->control->lost);
	if (chunk && *bytes == 0) {
		rounds_chunk_done(rounds, chunk);
		chunk = NULL;
	}
	return chunk;
}

uint64_t preload_reader_lost(const struct preload_reader *self, unsigned index)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += self->readers[index].ledger.lost[cause];
	return sum;
}

void preload_reader_stop(struct preload_reader *self)
{
	session_end(&self->session);
}

void preload_reader_settle(struct preload_reader *self)
{
	for (unsigned n = 0; n < self->session.ring_count; n++)
		ring_reader_settle(&self->readers[n]);
}

void preload_reader_close(struct preload_reader *self)
{
	if (self->session.base)
		unlink(self->path);
	session_leave(&self->session);
	event_table_free(&self->table);
	free(self->readers);
	free(self->buffer);
	*self = (struct preload_reader){ 0 };
}
