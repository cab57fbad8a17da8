/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reading records live; see live_reader.h.
 *
 * It gives no packet back and marks nothing as read, so any number of live readers run next to a recorder. In
 * exchange, writers do not wait for it: what they overwrite first is counted as missed.
 *
 * A live reader must not visit what was there before, but the reader of a ring has to know its place in the
 * open packet. So the begin is one round with a window that is closed, then the window opens at one moment
 * for all rings. The names ring is read from its oldest packet on, for names of threads that run already.
 */
#include "base/number.h"
#include "drain/drain_rings.h"
#include "drain/live_reader.h"
#include "ring/ring_deps.h"
#include "wire/wire_context.h"
#include "wire/wire_head.h"

static void live_reader_take_context(uint32_t context, struct live_event *event)
{
	const char *at = event->payload - wire_context_bytes(context);

	if (context & WIRE_CONTEXT_CORRELATION)
		event->correlation = number_load64(at);
	if (context & WIRE_CONTEXT_DEPTH)
		event->depth = number_load32(event->payload - 4);
}

/* The sink: visit the records, and remember the names. */
static void live_reader_sink(struct drain *drain, unsigned index, struct wire_packet *packet,
			     const struct ring_piece *piece, const struct validated *validated)
{
	const struct live_reader *live = (struct live_reader *)drain;
	const struct ring_input *input = &drain->inputs[index];
	const char *bytes = (const char *)packet, *at;
	struct wire_walk walk = { bytes + validated->begin,
				  bytes + validated->content,
				  input->table->context_bytes,
				  { .time = validated->first } };

	(void)piece;
	if (input->kind == RING_NAMES) { /* of each task, the last name is enough */
		output_fail(&drain->output, statedump_add(&drain->statedump, bytes, validated, UINT64_MAX),
			    "names");
		return;
	}
	while ((at = wire_walk_next(&walk))) {
		struct live_event event = { .cpu = input->reader.ring->cpu,
					    .time = walk.head.time,
					    .id = walk.head.id,
					    .pid = statedump_process_of(&drain->statedump, walk.head.tid),
					    .tid = walk.head.tid,
					    .payload = at + walk.head.bytes,
					    .bytes = walk.head.length - walk.head.bytes };

		live_reader_take_context(drain->session->geometry.context, &event);
		live->visit(live->data, &event);
	}
}

int live_reader_round(struct live_reader *live, live_reader_visit *visit, void *data)
{
	live->visit = visit;
	live->data = data;
	drain_refresh_table(&live->drain);
	drain_pass(&live->drain, false);
	return live->drain.output.error;
}

static uint64_t live_reader_sum_missed(const struct live_reader *live)
{
	uint64_t sum = 0;

	for (unsigned n = 0; n < drain_ring_count(&live->drain); n++) {
		const struct ring_input *input = &live->drain.inputs[n];

		if (input->kind != RING_NAMES)
			sum += input->reader.ledger.lost[WIRE_LOST_OVERWRITTEN] +
			       input->reader.ledger.lost[WIRE_LOST_CORRUPT];
	}
	return sum;
}

uint64_t live_reader_missed(const struct live_reader *live)
{
	return live_reader_sum_missed(live) - live->missed_before;
}

void live_reader_skip(struct live_reader *live)
{
	struct drain *drain = &live->drain;

	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		struct ring_input *input = &drain->inputs[n];
		const struct ring *ring = drain_ring_at(drain, n);

		if (ring && input->kind != RING_NAMES)
			ring_skip(ring, &input->reader.cursor);
	}
}

int live_reader_begin(struct live_reader *live, struct session *session, const struct drain_more *more)
{
	struct drain *drain = &live->drain;
	int error = drain_prepare(drain, session, more);

	if (error)
		return error;
	drain->sink = live_reader_sink;
	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		struct ring_input *input = &drain->inputs[n];

		input->gives_back = false;
		input->reader.cursor.passive = true;
	}
	live_reader_skip(live);		  /* a full ring of old records would be read for nothing */
	drain->window.since = UINT64_MAX; /* the records that are there are not visited */
	/* The window is closed, so nothing is visited. */
	error = live_reader_round(live, NULL, NULL);
	live->missed_before = live_reader_sum_missed(live);
	drain->window.since = ring_clock();
	return error;
}

void live_reader_free(struct live_reader *live)
{
	drain_release(&live->drain);
}
