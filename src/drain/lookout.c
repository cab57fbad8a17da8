/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Looking at records; see lookout.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "drain/lookout.h"
#include "ring/ring_deps.h"
#include "wire/context.h"
#include "wire/names.h"

/* An announcement of a thread; the last one counts. */
struct lookout_thread {
	uint32_t tid, pid;
};

struct view {
	struct lookout *lookout;
	unsigned index; /* of the ring */
	lookout_visit *visit;
	void *data;
};

static bool is_names(const struct lookout *lookout, unsigned index)
{
	return index == session_names_index(lookout->session);
}

static int remember(struct lookout *lookout, uint32_t tid, uint32_t pid)
{
	struct lookout_thread *threads;

	for (unsigned n = 0; n < lookout->thread_count; n++) {
		if (lookout->threads[n].tid == tid) {
			lookout->threads[n].pid = pid;
			return 0;
		}
	}
	threads = realloc(lookout->threads, (lookout->thread_count + 1) * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	lookout->threads = threads;
	threads[lookout->thread_count++] = (struct lookout_thread){ tid, pid };
	return 0;
}

static uint32_t process_of(const struct lookout *lookout, uint32_t tid)
{
	for (unsigned n = 0; n < lookout->thread_count; n++)
		if (lookout->threads[n].tid == tid)
			return lookout->threads[n].pid;
	return 0;
}

static void take_context(uint32_t context, struct sighting *sighting)
{
	const char *at = sighting->payload - wire_context_bytes(context);

	if (context & WIRE_CONTEXT_CORRELATION)
		sighting->correlation = number_load64(at);
	if (context & WIRE_CONTEXT_DEPTH)
		sighting->depth = number_load32(sighting->payload - 4);
}

/* Show the records that were found sound. @time: of the record before them */
static int show(const struct view *view, const char *packet, const struct sifted *sifted, uint64_t time)
{
	struct lookout *lookout = view->lookout;
	const uint32_t context = is_names(lookout, view->index) ? 0 : lookout->table.context_bytes;
	int error = 0;

	for (uint32_t at = sifted->begin; !error && sifted->count && at < sifted->end;) {
		const uint32_t length = number_load16(packet + at + 2);
		struct sighting sighting = { .cpu = lookout->session->rings[view->index].cpu };
		struct parsed record;

		if (!sift_header(packet + at, length, context, time, &record))
			break;
		time = record.time;
		sighting.id = record.id;
		sighting.tid = record.tid;
		sighting.payload = packet + at + record.header;
		sighting.bytes = length - record.header;
		if (!is_names(lookout, view->index)) {
			take_context(lookout->session->geometry.context, &sighting);
			sighting.pid = process_of(lookout, sighting.tid);
			view->visit(view->data, &sighting);
		} else if (sighting.id == WIRE_NAME_THREAD) {
			error = remember(lookout, sighting.tid, number_load32(sighting.payload));
		}
		at += wire_stride(length);
	}
	return error;
}

static int take(const struct view *view, const struct ring_piece *piece)
{
	struct lookout *lookout = view->lookout;
	struct intake *intake = &lookout->intakes[view->index];
	const struct wire_packet *packet = (const struct wire_packet *)lookout->buffer;
	const struct table *table = is_names(lookout, view->index) ? &lookout->names_table : &lookout->table;
	const struct window window = { is_names(lookout, view->index) ? 0 : lookout->since, UINT64_MAX };
	struct sifted sifted;
	uint64_t time;

	if (!intake_piece(intake, packet, piece, &time))
		return 0;
	sifted = sift(table, lookout->buffer, piece->begin, piece->end, time, ring_clock(), window);
	if (sifted.unknown && table == &lookout->table && table_has_grown(table, lookout->session)) {
		if (table_update(&lookout->table, lookout->session) != 0)
			return -ENOMEM;
		sifted = sift(table, lookout->buffer, piece->begin, piece->end, time, ring_clock(), window);
	}
	intake->damaged = !sifted.sound || (!piece->last && sifted.end != piece->end);
	intake_take(intake, piece, &sifted, sifted.before + sifted.count);
	return show(view, lookout->buffer, &sifted, time);
}

/* As many packets as the ring has, and one more; then the others have their turn. */
static int look_at(const struct view *view)
{
	struct intake *intake = &view->lookout->intakes[view->index];
	const struct ring *ring = session_ring_view(view->lookout->session, view->index);
	struct ring_piece piece;
	int error = 0;

	for (uint32_t n = ring ? ring_size(ring) + 1 : 0; !error && n > 0; n--) {
		if (ring_copy(ring, &intake->cursor, view->lookout->buffer, &piece) <= 0)
			break;
		error = take(view, &piece);
	}
	return error;
}

int lookout_round(struct lookout *lookout, lookout_visit *visit, void *data)
{
	const unsigned count = lookout->session->ring_count;
	int error = 0;

	if (table_has_grown(&lookout->table, lookout->session))
		error = table_update(&lookout->table, lookout->session);
	/* The names first: they tell whose the records are. */
	for (unsigned n = 0; !error && n < count; n++)
		error = look_at(&(struct view){ lookout, (n + count - 1) % count, visit, data });
	return error;
}

static uint64_t missed(const struct lookout *lookout)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < session_names_index(lookout->session); n++) {
		sum += lookout->intakes[n].ledger.lost[WIRE_LOST_OVERWRITTEN];
		sum += lookout->intakes[n].ledger.lost[WIRE_LOST_CORRUPT];
	}
	return sum;
}

uint64_t lookout_missed(const struct lookout *lookout)
{
	return missed(lookout) - lookout->missed_before;
}

int lookout_begin(struct lookout *lookout, struct session *session)
{
	const struct wire_geometry *geometry = &session->geometry;
	int error;

	*lookout = (struct lookout){ .session = session, .since = UINT64_MAX };
	lookout->buffer = aligned_alloc(4096, geometry->packet_bytes > geometry->names_packet_bytes
						      ? geometry->packet_bytes
						      : geometry->names_packet_bytes);
	lookout->intakes = calloc(session->ring_count, sizeof(*lookout->intakes));
	if (!lookout->buffer || !lookout->intakes)
		return -ENOMEM;
	for (unsigned n = 0; n < session->ring_count; n++) {
		const struct ring *ring = session_ring_view(session, n);

		lookout->intakes[n].ring = &session->rings[n];
		lookout->intakes[n].cursor.passive = true;
		if (ring && !is_names(lookout, n))
			ring_skip(ring, &lookout->intakes[n].cursor);
	}
	error = table_init_names(&lookout->names_table);
	if (!error)
		error = lookout_round(lookout, NULL, NULL);
	lookout->missed_before = missed(lookout);
	lookout->since = ring_clock();
	return error;
}

void lookout_free(struct lookout *lookout)
{
	table_free(&lookout->table);
	table_free(&lookout->names_table);
	free(lookout->intakes);
	free(lookout->threads);
	free(lookout->buffer);
}
