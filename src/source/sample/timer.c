/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples that programs take of themselves; see timer.h. */
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
#include "session/directory.h"
#include "source/sample/timer.h"
#include "wire/timer.h"

enum {
	TIMER_BUFFER = 4 << 20,	  /* of each CPU, bytes: half a second of the largest samples at 250 Hz */
	TIMER_PACKET = 128 << 10, /* three of them */
	TIMER_SAMPLE_TIME = 24,	  /* where a sample has its time; other records end in it */
	TIMER_COUNT = 2,	  /* bytes of a field's own length */
};

/* The only event, of records and names alike: one field of bytes. */
static int make_table(struct table *table)
{
	*table = (struct table){ .entries = calloc(1, sizeof(*table->entries)),
				 .payload_bytes = calloc(1, sizeof(*table->payload_bytes)) };
	if (!table->entries || !table->payload_bytes)
		return -ENOMEM;
	table->entries[0].types = WIRE_BYTES;
	table->payload_bytes[0] = TABLE_VARIABLE;
	table->count = WIRE_TIMER_ID;
	return 0;
}

/* Another name than that of a session for tracepoints: it is no business of those who look for these. */
static int hide(struct timer *timer)
{
	char path[SESSION_PATH_MAX];
	const char *base = strrchr(timer->path, '/');
	const int length = snprintf(path, sizeof(path), "%.*s/" DIRECTORY_SAMPLES "%s",
				    (int)(base - timer->path), timer->path, base + 1);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	if (rename(timer->path, path) != 0)
		return -errno;
	memcpy(timer->path, path, sizeof(path));
	return 0;
}

int timer_open(struct timer *timer, const struct perf_options *options, char *why, size_t bytes)
{
	const struct session_options wanted = { .owner = WIRE_OWNER_RECORDER,
						.mode = WIRE_MODE_STREAM,
						.buffer_bytes = options->buffer_bytes ? options->buffer_bytes
										      : TIMER_BUFFER,
						.packet_bytes = TIMER_PACKET,
						.string_max = WIRE_STRING_MAX };
	const char *what = "";
	int error;

	*timer = (struct timer){ 0 };
	error = session_create(&timer->session, &wanted, timer->path, sizeof(timer->path), &what);
	if (error) {
		snprintf(why, bytes, "no session: %s (%s)", what, strerror(-error));
		return error;
	}
	error = hide(timer);
	if (!error)
		error = make_table(&timer->table);
	timer->buffer = aligned_alloc(4096, TIMER_PACKET);
	timer->intakes = calloc(timer->session.ring_count, sizeof(*timer->intakes));
	if (!error && (!timer->buffer || !timer->intakes))
		error = -ENOMEM;
	if (error) {
		snprintf(why, bytes, "%s", strerror(-error));
		timer_close(timer);
		return error;
	}
	for (unsigned n = 0; n < timer->session.ring_count; n++)
		timer->intakes[n].ring = &timer->session.rings[n];
	snprintf(timer->wanted, sizeof(timer->wanted), WIRE_TIMER_ENVIRONMENT "=%u %u %s", options->frequency,
		 options->graph, timer->path);
	return 0;
}

int timer_choice(const struct timer *timer, const struct perf_options *options, struct perf *perf)
{
	static_assert((int)PERF_GRAPH_FP == (int)WIRE_TIMER_GRAPH_CHAIN &&
			      (int)PERF_GRAPH_DWARF == (int)WIRE_TIMER_GRAPH_STACK,
		      "one number for both");
	*perf = (struct perf){ .event = { .name = "cpu-clock", .clock = true, .counting = true },
			       .sample_type = WIRE_TIMER_SAMPLE,
			       .registers = WIRE_TIMER_REGISTERS,
			       .cpus = timer_sides(timer),
			       .max_depth = WIRE_TIMER_CHAIN,
			       .options = *options,
			       .wake = -1 };
	perf->options.is_tsc = false; /* times are the session's ticks already */
	return perf_make_rings(perf);
}

unsigned timer_tick_hz(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec || tick.tv_nsec == 0)
		return 0;
	return (unsigned)((1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
}

/* Whether a program has to tell such a thing. */
static bool is_known(uint32_t type, bool side)
{
	if (!side)
		return type == PERF_RECORD_SAMPLE;
	return type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
	       type == PERF_RECORD_EXIT;
}

/*
 * The record in a record, with the time at which it was written. What cannot be becomes a sample that is
 * too short for anything.
 */
static size_t unwrap(const char *payload, uint64_t time, bool side, char *out)
{
	struct perf_event_header header = { 0 };
	const size_t bytes = number_load16(payload);

	if (bytes >= TIMER_SAMPLE_TIME + sizeof(time)) {
		memcpy(out, payload + TIMER_COUNT, bytes);
		memcpy(&header, out, sizeof(header));
		memcpy(out + (side ? bytes - sizeof(time) : TIMER_SAMPLE_TIME), &time, sizeof(time));
	}
	if (header.size != bytes || !is_known(header.type, side)) {
		header = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = sizeof(header) };
		memcpy(out, &header, sizeof(header));
	}
	return header.size;
}

/* The records of a piece that was sifted. Return: the bytes put. */
static size_t unwrap_all(const char *packet, const struct sifted *sifted, uint64_t time, bool side, char *out)
{
	size_t used = 0;

	for (uint32_t at = sifted->begin; at < sifted->content;) {
		const uint32_t length = number_load16(packet + at + 2);
		struct parsed parsed;

		if (!sift_header(packet + at, length, 0, time, &parsed))
			break;
		used += unwrap(packet + at + parsed.header, parsed.time, side, out + used);
		time = parsed.time;
		at += wire_stride(length);
	}
	return used;
}

/* One piece of a ring. Return: the bytes put. */
static size_t take_piece(struct timer *timer, unsigned index, const struct ring_piece *piece, char *out)
{
	static const struct window always = { 0, UINT64_MAX };
	struct intake *intake = &timer->intakes[index];
	const struct wire_packet *packet = (const struct wire_packet *)timer->buffer;
	struct sifted sifted;
	uint64_t time;

	if (!intake_piece(intake, packet, piece, &time))
		return 0;
	sifted = sift(&timer->table, timer->buffer, piece->begin, piece->end, time, ring_clock(), always);
	intake->damaged = !sifted.sound || (!piece->last && sifted.end != piece->end);
	if (sifted.count == 0)
		return 0;
	intake_take(intake, piece, &sifted, sifted.count);
	return unwrap_all(timer->buffer, &sifted, time, index == timer_sides(timer), out);
}

struct rounds_chunk *timer_take(struct timer *timer, unsigned index, struct rounds *rounds, size_t *bytes,
				unsigned *fill)
{
	struct intake *intake = &timer->intakes[index];
	const struct ring *ring = session_ring_view(&timer->session, index);
	struct rounds_chunk *chunk;
	struct ring_piece piece;
	uint64_t packets;

	*bytes = 0;
	*fill = 0;
	if (!ring)
		return NULL;
	/* As many as there are, and one that was begun before: a writer may be as fast as we are. */
	packets = ring_behind(ring, &intake->cursor) + 2;
	*fill = (unsigned)((packets - 2) * 100 / ring_size(ring));
	chunk = rounds_chunk_make(rounds, packets * ring->packet_words * 8);
	for (; chunk && packets > 0; packets--) {
		const int found = ring_copy(ring, &intake->cursor, timer->buffer, &piece);

		intake->stale = found < 0;
		if (found <= 0)
			break;
		*bytes += take_piece(timer, index, &piece, chunk->bytes + *bytes);
		ring_give_back(ring, intake->cursor.sequence);
	}
	intake_losses(intake, ring->control->lost);
	if (chunk && *bytes == 0) {
		rounds_chunk_done(rounds, chunk);
		chunk = NULL;
	}
	return chunk;
}

uint64_t timer_lost(const struct timer *timer, unsigned index)
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += timer->intakes[index].ledger.lost[cause];
	return sum;
}

void timer_stop(struct timer *timer)
{
	session_end(&timer->session);
}

void timer_settle(struct timer *timer)
{
	for (unsigned n = 0; n < timer->session.ring_count; n++)
		intake_settle(&timer->intakes[n]);
}

void timer_close(struct timer *timer)
{
	if (timer->session.base)
		unlink(timer->path);
	session_leave(&timer->session);
	table_free(&timer->table);
	free(timer->intakes);
	free(timer->buffer);
	*timer = (struct timer){ 0 };
}
