/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of a trace, and names of tasks that it gets beside the records of pieces; see drain_parts.h. */
#include "drain/drain_parts.h"
#include "drain/living_tasks.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"

void drain_account_empty(struct drain *drain, unsigned index)
{
	struct ring_reader *reader = &drain->readers[index];
	const struct ring *ring = ring_at(drain, index);
	struct ring_look look;

	if (!ring || !ring->overwrite || !ring_look(ring, &look) || look.empty || look.count ||
	    (drain->copy && drain->copy->rings[index].control.tail != ring->control->tail) ||
	    look.events_before <= reader->ledger.events || look.sequence < reader->sequence)
		return;
	reader->ledger.lost[WIRE_LOST_OVERWRITTEN] += look.events_before - reader->ledger.events;
	reader->ledger.events = look.events_before;
}

void drain_add_totals(struct drain *drain)
{
	struct drain_totals *totals = &drain->totals;
	struct recording *recording = &drain->output.recording;

	recording->clock_steps = recording->lost_names = recording->lost_unreported = 0;
	for (unsigned n = 0; n < ring_count(drain); n++) {
		const struct output_stream *out = &drain->output.streams[n];
		const uint64_t *lost = drain->readers[n].ledger.lost, *before = out->origin.ledger.lost;
		const struct ring *ring = drain->readers[n].ring;
		bool *recorded = &drain->recorded[is_beside(drain, n) ? ring->cpu : n];

		if (is_names(drain, n)) {
			for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
				if (cause == WIRE_LOST_FULL || cause == WIRE_LOST_CORRUPT ||
				    cause == WIRE_LOST_UNREAD)
					recording->lost_names += lost[cause] - before[cause];
			continue;
		}
		totals->events += out->kept;
		totals->cpus += out->kept && !*recorded;
		*recorded |= out->kept != 0;
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
			totals->lost[cause] += lost[cause] - before[cause];
			recording->lost_unreported += lost[cause] - before[cause];
		}
		recording->lost_unreported -= out->reported;
		recording->clock_steps += control_of(drain, n)->clock_steps;
	}
	totals->changes += drain->copy ? 0 : drain->changelog.others;
	totals->lost_names += recording->lost_names;
	for (unsigned cause = 0; drain->session->calls.header && cause < WIRE_CALL_LOSSES; cause++)
		totals->lost_calls[cause] = recording->lost_calls[cause] =
			__atomic_load_n(&drain->session->calls.header->lost[cause], __ATOMIC_RELAXED) +
			(cause == WIRE_CALL_LOST_OPEN	     ? drain->calls.refused
			 : cause == WIRE_CALL_LOST_ARGUMENTS ? drain->calls.without_values
							     : 0);
	totals->bytes += output_bytes(&drain->output) + changelog_bytes(&drain->changelog);
}

void drain_add_tasks(struct drain *drain)
{
	const unsigned names = session_names_index(drain->session);
	const struct ring_reader *reader = &drain->readers[names];
	const uint64_t now = ring_clock();
	struct output_stream *out = &drain->output.streams[names];
	struct wire_ledger ledger = reader->ledger;
	struct statedump_packets tasks;
	int error;

	if (!drain->session->device || drain->output.error)
		return;
	error = living_tasks_write(drain->output.recording.clock.hz, now > reader->time ? now : reader->time,
				   drain->session->geometry.names_packet_bytes, &tasks);
	for (uint32_t n = 0; !error && n < tasks.packets; n++) {
		struct wire_packet *packet =
			(struct wire_packet *)(tasks.memory + n * out->ring->packet_words * 8);

		output_records(&drain->output, names, packet, out->begun ? out->sequence + 1 : 0,
			       &tasks.pieces[n], &ledger);
		ledger.events += tasks.pieces[n].count;
	}
	statedump_packets_free(&tasks);
	output_fail(&drain->output, error, "names of tasks");
}
