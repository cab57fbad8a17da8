/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of a drain, and one of them: its new records become records of the trace; see drain_rings.h.
 *
 * A piece, the new bytes of one packet, goes through these steps, in one thread:
 *
 *	copy		ring_copy(), into private memory; no writer was in the packet during it
 *	translate	of rings beside the session's: times and ids become those of the session
 *	account		ring_reader_piece(): by the packet's header, how many records were lost before it
 *	validate	validate_records(): how many bytes are records of known events, in order of time
 *	write		the sink; that of a trace: output_records(), unchanged. The position moves behind what was written
 *	give back	in stream mode: only now may a writer use the packet again
 *
 * If the output fails, nothing more is given back: unwritten packets stay in the ring for `burin recover`.
 *
 * A hostile process of the user can store any bytes, at any time. ring_copy() makes sure of position and size,
 * validation of the rest, both on the private copy. Records that do not pass are counted: by the difference of the
 * headers' counts as `overwritten`, or as `corrupt` behind damage. An impossible difference counts as one, so a
 * forged counter cannot make the ledger useless. Behind damage no record of the same packet is taken; the next packet
 * begins with a header of its own.
 *
 * Definitions come first: metadata and entries of functions must be in the trace before the first record that needs
 * them. A record of an unknown event makes the drain read the tables again, once for each piece. If it is still
 * unknown, it is damage.
 *
 * A writer may be faster than the drain, and the other rings need their turn: drain_ring() reads as many packets as
 * there were at first, and two.
 */
#include "drain/drain_rings.h"
#include "drain/ring_reader.h"
#include "drain/validate.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"

void drain_refresh_table(struct drain *drain)
{
	output_fail(&drain->output, call_tables_round(&drain->calls), "functions");
	if (!event_table_has_grown(&drain->table, drain->session))
		return;
	output_fail(&drain->output, event_table_update(&drain->table, drain->session), "metadata");
	output_metadata(&drain->output, &drain->table);
}

static struct validated validate_piece(struct drain *drain, unsigned index, const struct wire_packet *packet,
				       const struct ring_piece *piece, uint64_t time)
{
	const struct ring_input *input = &drain->inputs[index];
	const struct event_table *table = input->table;
	const struct window window = drain_window(drain, index);
	const char *bytes = (const char *)packet;
	const uint64_t base = input->reader.base;
	uint64_t now = ring_clock();
	struct validated out =
		validate_records(table, bytes, piece->begin, piece->end, time, base, now, window);

	if (out.unknown && input->kind != RING_NAMES) { /* registered since the round began */
		drain_refresh_table(drain);
		out = validate_records(table, bytes, piece->begin, piece->end, time, base, now, window);
	}
	/* No writer puts an end mark below the tail of an open packet. */
	if (!piece->last && !out.past_window && out.end != piece->end)
		out.sound = false;
	return out;
}

void drain_begin_here(struct drain *drain, unsigned index)
{
	if (drain_has_trace(drain))
		drain->output.streams[index].origin.ledger = drain->inputs[index].reader.ledger;
}

void drain_sink_trace(struct drain *drain, unsigned index, struct wire_packet *packet,
		      const struct ring_piece *piece, const struct validated *validated)
{
	const struct ring_input *input = &drain->inputs[index];
	struct output *output = &drain->output;
	struct validated selected = *validated;

	if (drain->chunks.last && input->kind == RING_NAMES)
		output_fail(output,
			    statedump_add(&drain->statedump, (char *)packet, validated, drain->round_before),
			    "names");
	if (input->selection && input->selection->globs)
		output_fail(output,
			    event_selection_stream(input->selection, &drain->table, &output->streams[index],
						   packet, piece, &selected),
			    "events");
	if (selected.count)
		output_records(output, index, packet, piece->sequence, &selected, &input->reader.ledger);
	/* Records that were not selected are neither in the trace nor lost: the counts leave them out. */
	if (!output->error)
		output->streams[index].origin.ledger.events += validated->count - selected.count;
}

/*
 * Hand one piece of a ring to the sink.
 *
 * Records before the window move the origin, and with it the losses before them. Without such records the ring does not
 * reach back to the window, and all overwritten records count as lost. Packets that a recorder gave back are not lost:
 * they are in its trace.
 */
static void drain_rings_take_piece(struct drain *drain, unsigned index, struct wire_packet *packet,
				   const struct ring_piece *piece)
{
	struct ring_input *input = &drain->inputs[index];
	struct ring_reader *reader = &input->reader;
	struct validated validated;
	uint64_t time;

	if (!reader->ring->overwrite && drain_has_trace(drain) && !drain_gives_back(drain, index) &&
	    !reader->begun && !reader->damaged) {
		reader->ledger.events = packet->events_before;
		drain_begin_here(drain, index);
	}
	if (!ring_reader_piece(reader, packet, piece, &time))
		return;
	validated = validate_piece(drain, index, packet, piece, time);
	drain->totals.left_out += input->kind == RING_EVENTS ? validated.before : 0;
	reader->damaged = !validated.sound;
	reader->past_window = validated.past_window;
	if (validated.count + validated.before == 0)
		return;
	if (piece->begin == sizeof(*packet))
		ring_reader_losses(reader, packet->lost);
	if (validated.before) {
		ring_reader_take(reader, piece, &validated, validated.before);
		drain_begin_here(drain, index);
	}
	if (validated.count == 0)
		return;
	drain->sink(drain, index, packet, piece, &validated);
	if (!drain->output.error)
		ring_reader_take(reader, piece, &validated, validated.count);
}

/* Get the next piece of a ring, from the snapshot copy or from the ring itself. Return: as ring_copy(). */
static int next_piece(struct drain *drain, unsigned index, struct wire_packet **packet,
		      struct ring_piece *piece)
{
	if (drain->copy)
		return snapshot_copy_next(drain->copy, index, packet, piece);
	*packet = (struct wire_packet *)drain->buffer;
	return ring_copy(drain->inputs[index].reader.ring, &drain->inputs[index].reader.cursor, drain->buffer,
			 piece);
}

/*
 * Read the new records of one ring. The number of packets is limited to those present at first, and a partly read one:
 * a writer may be as fast as we are, and the other rings must be read too. Return: how full the ring was, in percent.
 */
unsigned drain_ring(struct drain *drain, unsigned index)
{
	const enum ring_kind kind = drain->inputs[index].kind;
	struct ring_reader *reader = &drain->inputs[index].reader;
	const struct ring *ring = drain_ring_at(drain, index);
	struct wire_packet *packet;
	struct ring_piece piece;
	uint64_t packets;

	if (!ring) { /* not in use yet, or its state was damaged */
		reader->stale = drain_control(drain, index)->tail != 0;
		return 0;
	}
	packets = ring_behind(ring, &reader->cursor);
	for (uint64_t n = packets + 2; n > 0 && !drain->output.error && !reader->past_window; n--) {
		int found = next_piece(drain, index, &packet, &piece);

		reader->stale = found < 0;
		if (found <= 0)
			break;
		if (kind == RING_MORE)
			drain->more.translate(drain->more.context, index - drain->session->ring_count, packet,
					      &piece);
		drain_rings_take_piece(drain, index, packet, &piece);
		if (drain_gives_back(drain, index) &&
		    !drain->output.error) /* unwritten packets stay in the ring */
			drain_give_back(drain, index);
		/* The translation writes names, of which a ring has more than the names ring has room for. */
		if (kind == RING_MORE)
			drain_ring(drain, session_names_index(drain->session));
	}
	return packets < ring_size(ring) ? (unsigned)(packets * 100 / ring_size(ring)) : 100;
}

unsigned drain_pass(struct drain *drain, bool names_only)
{
	const unsigned names = session_names_index(drain->session), count = drain_ring_count(drain);
	unsigned fullest = 0;

	if (drain->more.round)
		drain->more.round(drain->more.context);
	drain_ring(drain, names);
	for (unsigned n = 0; n < count; n++) {
		const unsigned index = (names + 1 + n) % count; /* the names ring is the session's last one */
		unsigned level = 0;

		if (names_only && index != names)
			ring_reader_note(&drain->inputs[index].reader, drain_ring_at(drain, index));
		else
			level = drain_ring(drain, index);
		if (level > fullest)
			fullest = level;
	}
	return fullest;
}

/* Count the records that were written but are not in the trace. */
static uint64_t count_missing(struct drain *drain, unsigned index)
{
	struct ring_reader *reader = &drain->inputs[index].reader;
	const struct ring *ring = drain_ring_at(drain, index);
	struct wire_packet *packet;
	struct ring_piece piece;

	/* Bounded as in drain_ring(), since writers may never stop. */
	for (uint32_t n = 0; ring && n <= ring->window; n++) {
		if (next_piece(drain, index, &packet, &piece) <= 0)
			break;
		if (!piece.last)
			reader->written = packet->events_before + piece.count;
	}
	return ring_reader_missing(reader);
}

void drain_close_ring(struct drain *drain, unsigned index)
{
	const struct ring_input *input = &drain->inputs[index];
	struct ring_reader *reader = &drain->inputs[index].reader;
	struct output *output = &drain->output;

	if (!drain->ended)
		ring_reader_losses(reader, drain_control(drain, index)->lost);
	if (!output->error && !drain->ended) {
		ring_reader_empty(reader, drain_ring_at(drain, index),
				  drain->copy ? drain_control(drain, index) : NULL);
		ring_reader_settle(reader);
		/* The records in these rings are gone, and their number is unknown. It counts as one, once. */
		if (drain->ended_rings && input->kind == RING_MORE && reader->begun &&
		    !reader->ledger.lost[WIRE_LOST_UNREAD])
			reader->ledger.lost[WIRE_LOST_UNREAD] = 1;
	}
	output_losses(output, index, &reader->ledger, reader->time);
	if (drain->ended)
		return;
	/* Unread records stay in the ring. If the file was truncated, their number is unknown and counts as one. */
	if (output->error)
		reader->ledger.lost[WIRE_LOST_UNREAD] +=
			count_missing(drain, index) +
			(drain->gone && (reader->begun || input->kind == RING_NAMES));
	else if (input->kind != RING_NAMES && !drain->attached && !input->is_older)
		drain->totals.lost_late += count_missing(drain, index);
}
