/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading records live; see live_reader.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "drain/live_reader.h"
#include "ring/ring_deps.h"
#include "wire/wire_context.h"
#include "wire/wire_head.h"
#include "wire/wire_names.h"

struct view {
	struct live_reader *live;
	unsigned index; /* of the ring */
	live_reader_visit *visit;
	void *data;
};

static bool live_reader_is_names(const struct live_reader *live, unsigned index)
{
	return index == session_names_index(live->session);
}

static void live_reader_take_context(uint32_t context, struct live_event *event)
{
	const char *at = event->payload - wire_context_bytes(context);

	if (context & WIRE_CONTEXT_CORRELATION)
		event->correlation = number_load64(at);
	if (context & WIRE_CONTEXT_DEPTH)
		event->depth = number_load32(event->payload - 4);
}

/* Visit the valid records. @time: of the record before them */
static void visit_records(const struct view *view, const struct validated *validated, uint64_t time)
{
	struct live_reader *live = view->live;
	struct wire_walk walk = { live->buffer + validated->begin,
				  live->buffer + validated->content,
				  live->table.context_bytes,
				  { .time = time } };
	const char *at;

	while ((at = wire_walk_next(&walk))) {
		struct live_event event = { .cpu = live->readers[view->index].ring->cpu,
					    .time = walk.head.time,
					    .id = walk.head.id,
					    .pid = statedump_process_of(&live->tasks, walk.head.tid),
					    .tid = walk.head.tid,
					    .payload = at + walk.head.bytes,
					    .bytes = walk.head.length - walk.head.bytes };

		live_reader_take_context(live->session->geometry.context, &event);
		view->visit(view->data, &event);
	}
}

static int live_reader_take(const struct view *view, const struct ring_piece *piece)
{
	struct live_reader *live = view->live;
	struct ring_reader *reader = &live->readers[view->index];
	const struct wire_packet *packet = (const struct wire_packet *)live->buffer;
	const struct event_table *table =
		live_reader_is_names(live, view->index) ? &live->names_table : &live->table;
	const struct window window = { live_reader_is_names(live, view->index) ? 0 : live->since,
				       UINT64_MAX };
	struct validated validated;
	uint64_t time;

	if (!ring_reader_piece(reader, packet, piece, &time))
		return 0;
	validated = validate_records(table, live->buffer, piece->begin, piece->end, time, reader->base,
				     ring_clock(), window);
	if (validated.unknown && table == &live->table && event_table_has_grown(table, live->session)) {
		if (event_table_update(&live->table, live->session) != 0)
			return -ENOMEM;
		validated = validate_records(table, live->buffer, piece->begin, piece->end, time,
					     reader->base, ring_clock(), window);
	}
	reader->damaged = !validated.sound || (!piece->last && validated.end != piece->end);
	ring_reader_take(reader, piece, &validated, validated.before + validated.count);
	if (table == &live->names_table) /* of each task, the last name is enough */
		return statedump_add(&live->tasks, live->buffer, &validated, time, UINT64_MAX);
	visit_records(view, &validated, time);
	return 0;
}

static unsigned ring_count(const struct live_reader *live)
{
	return live->session->ring_count + live->more.count;
}

static const struct ring *ring_at(const struct live_reader *live, unsigned index)
{
	return index < live->session->ring_count ? session_ring_view(live->session, index)
						 : &live->more.rings[index - live->session->ring_count];
}

/* Read at most one packet more than the ring has, since a fast writer must not keep us from the other rings. */
static int live_reader_read_ring(const struct view *view)
{
	struct ring_reader *reader = &view->live->readers[view->index];
	const struct drain_more *more = &view->live->more;
	const struct ring *ring = ring_at(view->live, view->index);
	const unsigned own = view->live->session->ring_count;
	struct ring_piece piece;
	int error = 0;

	for (uint32_t n = ring ? ring_size(ring) + 1 : 0; !error && n > 0; n--) {
		if (ring_copy(ring, &reader->cursor, view->live->buffer, &piece) <= 0)
			break;
		if (view->index >= own)
			more->translate(more->context, view->index - own,
					(struct wire_packet *)view->live->buffer, &piece);
		error = live_reader_take(view, &piece);
	}
	return error;
}

int live_reader_round(struct live_reader *live, live_reader_visit *visit, void *data)
{
	const unsigned count = live->session->ring_count;
	int error = 0;

	if (event_table_has_grown(&live->table, live->session))
		error = event_table_update(&live->table, live->session);
	if (live->more.count)
		live->more.round(live->more.context);
	/* The names ring, the session's last one, comes first: it has the process of each thread. */
	for (unsigned n = 0; !error && n < count; n++)
		error = live_reader_read_ring(&(struct view){ live, (n + count - 1) % count, visit, data });
	for (unsigned n = count; !error && n < ring_count(live); n++)
		error = live_reader_read_ring(&(struct view){ live, n, visit, data });
	return error;
}

static uint64_t live_reader_sum_missed(const struct live_reader *live)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < ring_count(live); n++) {
		if (live_reader_is_names(live, n))
			continue;
		sum += live->readers[n].ledger.lost[WIRE_LOST_OVERWRITTEN];
		sum += live->readers[n].ledger.lost[WIRE_LOST_CORRUPT];
	}
	return sum;
}

uint64_t live_reader_missed(const struct live_reader *live)
{
	return live_reader_sum_missed(live) - live->missed_before;
}

int live_reader_begin(struct live_reader *live, struct session *session, const struct drain_more *more)
{
	const struct wire_geometry *geometry = &session->geometry;
	size_t largest = geometry->packet_bytes > geometry->names_packet_bytes ? geometry->packet_bytes
									       : geometry->names_packet_bytes;
	int error;

	*live = (struct live_reader){ .session = session, .since = UINT64_MAX };
	if (more)
		live->more = *more;
	for (unsigned n = 0; n < live->more.count; n++)
		if (more->rings[n].packet_words * 8 > largest)
			largest = more->rings[n].packet_words * 8;
	live->buffer = aligned_alloc(4096, largest);
	live->readers = calloc(ring_count(live), sizeof(*live->readers));
	if (!live->buffer || !live->readers)
		return -ENOMEM;
	for (unsigned n = 0; n < ring_count(live); n++) {
		const struct ring *ring = ring_at(live, n);

		live->readers[n].ring = n < session->ring_count ? &session->rings[n] : ring;
		live->readers[n].cursor.passive = true;
		if (ring && !live_reader_is_names(live, n))
			ring_skip(ring, &live->readers[n].cursor);
	}
	error = event_table_init_names(&live->names_table, false);
	if (!error)
		error = live_reader_round(live, NULL, NULL);
	live->missed_before = live_reader_sum_missed(live);
	live->since = ring_clock();
	return error;
}

void live_reader_free(struct live_reader *live)
{
	event_table_free(&live->table);
	event_table_free(&live->names_table);
	free(live->readers);
	statedump_free(&live->tasks);
	free(live->buffer);
}
