/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a session to a trace; see drain.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drain/drain.h"
#include "drain/origin.h"
#include "ring/ring_deps.h"
#include "session/stat.h"

/* The definitions must be in the trace before the first record that needs them. */
static void refresh_table(struct drain *drain)
{
	if (!table_has_grown(&drain->table, drain->session))
		return;
	output_fail(&drain->output, table_update(&drain->table, drain->session), "metadata");
	output_metadata(&drain->output, &drain->table);
}

static bool is_names(const struct drain *drain, unsigned index)
{
	return index == session_names_index(drain->session);
}

/* Whether what is read is given back. */
static bool owns_rings(const struct drain *drain)
{
	return !drain->hold && drain->session->geometry.mode == WIRE_MODE_STREAM;
}

static struct sifted sift_piece(struct drain *drain, unsigned index, const struct wire_packet *packet,
				const struct ring_piece *piece, uint64_t time)
{
	static const struct window always = { 0, UINT64_MAX };
	const struct table *table = is_names(drain, index) ? &drain->names_table : &drain->table;
	const struct window window = is_names(drain, index) ? always : drain->window;
	const char *bytes = (const char *)packet;
	uint64_t now = ring_clock();
	struct sifted out = sift(table, bytes, piece->begin, piece->end, time, now, window);

	if (out.unknown && !is_names(drain, index)) { /* registered since the round began */
		refresh_table(drain);
		out = sift(table, bytes, piece->begin, piece->end, time, now, window);
	}
	/* What looks like a closed packet's end, below the tail of an open one, was not put there by a
	 * writer. */
	if (!piece->last && !out.cut && out.end != piece->end)
		out.sound = false;
	return out;
}

/* What came before is not the trace's: its counts begin here. */
static void begin_here(struct drain *drain, unsigned index)
{
	drain->output.outlets[index].origin.ledger = drain->intakes[index].ledger;
}

/*
 * Bring one piece of a ring into the trace.
 *
 * Records that were not asked for move the origin, and with it what was lost before them; if there are none,
 * the ring does not reach back to where the window begins, and all that it has overwritten counts as lost. What
 * somebody else has given back is not lost: he had it.
 */
static void keep(struct drain *drain, unsigned index, struct wire_packet *packet,
		 const struct ring_piece *piece)
{
	struct intake *intake = &drain->intakes[index];
	struct output *output = &drain->output;
	struct sifted sifted;
	uint64_t time;

	if (!intake->ring->overwrite && !owns_rings(drain) && !intake->begun && !intake->damaged) {
		intake->ledger.events = packet->events_before;
		begin_here(drain, index);
	}
	if (!intake_piece(intake, packet, piece, &time))
		return;
	sifted = sift_piece(drain, index, packet, piece, time);
	intake->damaged = !sifted.sound;
	intake->cut = sifted.cut;
	if (sifted.count + sifted.before == 0)
		return;
	if (piece->begin == sizeof(*packet))
		intake_losses(intake, packet->lost);
	if (sifted.before) {
		intake_take(intake, piece, &sifted, sifted.before);
		begin_here(drain, index);
	}
	if (sifted.count == 0)
		return;
	if (drain->chunks.last && is_names(drain, index))
		output_fail(
			output,
			known_take(&drain->chunks.known, (char *)packet, &sifted, time, drain->round_before),
			"names");
	output_records(output, index, packet, piece->sequence, &sifted, &intake->ledger);
	if (!output->error)
		intake_take(intake, piece, &sifted, sifted.count);
}

/* The next piece of a ring: of what was copied beforehand, or of the ring itself. Return: as ring_copy(). */
static int next_piece(struct drain *drain, unsigned index, struct wire_packet **packet,
		      struct ring_piece *piece)
{
	if (drain->hold)
		return hold_next(drain->hold, index, packet, piece);
	*packet = (struct wire_packet *)drain->buffer;
	return ring_copy(&drain->session->rings[index], &drain->intakes[index].cursor, drain->buffer, piece);
}

/*
 * Take what is new in one ring: as many packets as there are, and one that was begun before. A writer may be as fast
 * as we are, and the other rings want their turn. Return: how full the ring was found, in percent.
 */
static unsigned drain_ring(struct drain *drain, unsigned index)
{
	struct intake *intake = &drain->intakes[index];
	const struct ring *ring = session_ring_view(drain->session, index);
	struct wire_packet *packet;
	struct ring_piece piece;
	uint64_t behind;

	if (!ring)
		return 0;
	behind = ring_behind(ring, &intake->cursor);
	for (uint64_t n = behind + 2; n > 0 && !drain->output.error && !intake->cut; n--) {
		int found = next_piece(drain, index, &packet, &piece);

		intake->stale = found < 0;
		if (found <= 0)
			break;
		keep(drain, index, packet, &piece);
		if (owns_rings(drain))
			ring_give_back(ring, intake->cursor.sequence);
	}
	return behind < ring_size(ring) ? (unsigned)(behind * 100 / ring_size(ring)) : 100;
}

/* What the writers of a ring have counted: now, or when it was copied. */
static const struct wire_ring *control_of(const struct drain *drain, unsigned index)
{
	return drain->hold ? &drain->hold->rings[index].control : drain->session->rings[index].control;
}

/* Add what the trace at hand has to the totals of all. */
static void add_up(struct drain *drain)
{
	struct drain_totals *totals = &drain->totals;
	struct recording *recording = &drain->output.recording;

	recording->clock_steps = recording->lost_names = recording->lost_untold = 0;
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		const struct outlet *outlet = &drain->output.outlets[n];
		const uint64_t *lost = drain->intakes[n].ledger.lost, *before = outlet->origin.ledger.lost;

		if (is_names(drain, n)) {
			for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
				if (cause == WIRE_LOST_FULL || cause == WIRE_LOST_CORRUPT ||
				    cause == WIRE_LOST_UNREAD)
					recording->lost_names += lost[cause] - before[cause];
			continue;
		}
		totals->events += outlet->kept;
		totals->cpus += outlet->kept && !drain->recorded[n];
		drain->recorded[n] |= outlet->kept != 0;
		for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
			totals->lost[cause] += lost[cause] - before[cause];
			recording->lost_untold += lost[cause] - before[cause];
		}
		recording->lost_untold -= outlet->said;
		recording->clock_steps += control_of(drain, n)->clock_steps;
	}
	totals->lost_names += recording->lost_names;
	totals->bytes += output_bytes(&drain->output);
}

/* The first packets of a chunk say again what those before it have said. */
static void restate(struct output *output, unsigned names, const struct restated *restated)
{
	struct outlet *outlet = &output->outlets[names];
	const size_t bytes = outlet->ring->packet_words * 8;
	struct wire_ledger ledger = outlet->origin.ledger;

	for (uint32_t n = 0; n < restated->packets; n++) {
		struct wire_packet *packet = (struct wire_packet *)(restated->memory + n * bytes);

		output_records(output, names, packet, outlet->origin.sequence - restated->packets + n,
			       &restated->pieces[n], &ledger);
		ledger.events += restated->pieces[n].count;
	}
}

/* Make the chunk that goes on from here, all but its own records. Return: 0 or -errno. */
static int make_next(struct drain *drain, struct output *next, const struct restated *restated)
{
	const unsigned names = session_names_index(drain->session);
	struct wire_origin *origins = calloc(drain->session->ring_count, sizeof(*origins));
	char path[CHUNKS_PATH];
	int error;

	if (!origins)
		return -ENOMEM;
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		intake_losses(&drain->intakes[n], control_of(drain, n)->lost);
		origins[n] = intake_origin(&drain->intakes[n]);
	}
	origins[names].restated = restated->packets;
	origins[names].ledger.events -= restated->records;
	chunks_path(drain->chunks.path, 0, path);
	error = output_begin(next, drain->session, path, origins, &drain->output.recording, &drain->table);
	if (!error) {
		restate(next, names, restated);
		error = next->error;
	}
	if (!error)
		error = chunks_advance(&drain->chunks);
	if (error)
		drain_remove(path);
	free(origins);
	return error;
}

/* Let go of the trace at hand, and go on in a new one. Return: 0; -errno: it is the trace still. */
static int split(struct drain *drain)
{
	struct output next = { .directory = -1 };
	struct restated restated;
	int error = known_restate(&drain->chunks.known, drain->session->geometry.names_packet_bytes,
				  drain->round_before, &restated);

	if (!error)
		error = make_next(drain, &next, &restated);
	restated_free(&restated);
	if (error) {
		output_free(&next);
		return error;
	}
	for (unsigned n = 0; n < drain->session->ring_count; n++)
		output_losses(&drain->output, n, &drain->intakes[n].ledger, drain->intakes[n].time);
	add_up(drain);
	output_finish(&drain->output, "running");
	output_free(&drain->output);
	drain->output = next;
	return 0;
}

/* Whether the records stay where they are until the end. */
static bool takes_names_only(const struct drain *drain)
{
	return drain->session->geometry.mode == WIRE_MODE_FLIGHT && !drain->attached;
}

int drain_round(struct drain *drain, unsigned *fullest)
{
	const bool names_only = takes_names_only(drain);

	*fullest = 0;
	if (drain->output.error)
		return drain->output.error;
	chunks_trim(&drain->chunks); /* who else writes into the last chunk has left it since */
	drain->round_before = drain->round;
	drain->round = ring_clock();
	refresh_table(drain);
	/* Names before the records and after them: if we are killed in between, few records are without. */
	drain_ring(drain, session_names_index(drain->session));
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		unsigned level = names_only && !is_names(drain, n) ? 0 : drain_ring(drain, n);

		if (level > *fullest)
			*fullest = level;
	}
	if (!drain->output.error && drain->chunks.last &&
	    chunks_due(&drain->chunks, output_bytes(&drain->output) + drain->beside))
		output_fail(&drain->output, split(drain), "the next chunk");
	return drain->output.error;
}

static uint64_t sum_of(const uint64_t lost[WIRE_LOST_CAUSES])
{
	uint64_t sum = 0;

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += lost[cause];
	return sum;
}

void drain_so_far(struct drain *drain, uint64_t *events, uint64_t *lost)
{
	struct session_stat stat;

	if (takes_names_only(drain)) {
		session_stat_read(drain->session, &stat);
		*events = stat.written;
		*lost = sum_of(stat.lost);
		return;
	}
	*events = drain->totals.events; /* of the chunks before */
	*lost = sum_of(drain->totals.lost);
	for (unsigned n = 0; n < session_names_index(drain->session); n++) {
		const struct outlet *outlet = &drain->output.outlets[n];

		*events += outlet->kept;
		*lost += sum_of(drain->intakes[n].ledger.lost) - sum_of(outlet->origin.ledger.lost);
	}
}

static int64_t offset_of(const struct clock_pair *pair, uint64_t hz)
{
	return pair->realtime_ns - (int64_t)((unsigned __int128)pair->ticks * 1000000000 / hz);
}

/* What all drains have in common. */
static int prepare(struct drain *drain, struct session *session)
{
	const struct wire_geometry *geometry = &session->geometry;
	uint32_t largest = geometry->packet_bytes > geometry->names_packet_bytes
				   ? geometry->packet_bytes
				   : geometry->names_packet_bytes;

	*drain = (struct drain){ .session = session,
				 .output = { .directory = -1 },
				 .window = { 0, UINT64_MAX } };
	drain->buffer = aligned_alloc(4096, largest);
	drain->intakes = calloc(session->ring_count, sizeof(*drain->intakes));
	drain->recorded = calloc(session->ring_count, sizeof(*drain->recorded));
	if (!drain->buffer || !drain->intakes || !drain->recorded)
		return -ENOMEM;
	for (unsigned n = 0; n < session->ring_count; n++) {
		drain->intakes[n].ring = &session->rings[n];
		drain->intakes[n].cursor.passive = geometry->mode == WIRE_MODE_FLIGHT;
	}
	clock_read_pair(geometry->clock == WIRE_CLOCK_TSC, &drain->begin);
	return table_init_names(&drain->names_table);
}

static void release(struct drain *drain)
{
	output_free(&drain->output);
	known_free(&drain->chunks.known);
	table_free(&drain->table);
	table_free(&drain->names_table);
	free(drain->intakes);
	free(drain->recorded);
	free(drain->buffer);
}

/* The first trace of a drain. */
static int begin(struct drain *drain, const char *path, const struct drain_options *options)
{
	const uint64_t hz = session_clock_hz(drain->session);
	const struct recording recording = { .state = "recording",
					     .clock = { hz, offset_of(&drain->begin, hz) },
					     .session_path = options->session_path,
					     .command = options->command };

	return output_begin(&drain->output, drain->session, path, NULL, &recording, &drain->table);
}

/*
 * Leave out what is there already: the trace's counts begin here. Each ring's packet that is open is read,
 * for where it stands; then the window opens for all rings at one moment.
 */
static void leave_out(struct drain *drain)
{
	drain->attached = true;
	drain->window.since = UINT64_MAX;
	refresh_table(drain);
	for (unsigned n = 0; n < session_names_index(drain->session); n++) {
		const struct ring *ring = session_ring_view(drain->session, n);

		if (ring)
			ring_skip(ring, &drain->intakes[n].cursor);
		drain_ring(drain, n);
		intake_losses(&drain->intakes[n], control_of(drain, n)->lost);
		begin_here(drain, n);
	}
	drain->window.since = ring_clock();
}

int drain_begin(struct drain *drain, struct session *session, const char *path,
		const struct drain_options *options)
{
	const bool chunked = options->split.bytes || options->split.ns;
	char first[CHUNKS_PATH];
	int error = prepare(drain, session);

	if (!error && chunked)
		error = chunks_begin(&drain->chunks, path, options->split, first);
	if (!error)
		error = begin(drain, chunked ? first : path, options);
	if (error)
		release(drain);
	else if (options->attach)
		leave_out(drain);
	return error;
}

/* Where the last recorder stopped in one ring, from the last packet that it wrote. */
static int resume_ring(struct drain *drain, unsigned index)
{
	struct outlet *outlet = &drain->output.outlets[index];
	struct intake *intake = &drain->intakes[index];
	const struct wire_packet *packet = (const struct wire_packet *)drain->buffer;
	const struct table *table = is_names(drain, index) ? &drain->names_table : &drain->table;
	int found = stream_reopen(&outlet->stream, (struct wire_packet *)drain->buffer);
	struct sifted sifted;

	if (found < 0)
		return found;
	if (found == 0) {
		intake_resume(intake, &outlet->origin, NULL, NULL);
		return 0;
	}
	sifted = sift(table, drain->buffer, sizeof(*packet), wire_stride(outlet->stream.content),
		      packet->time_begin, ring_clock(), drain->window);
	if (!sifted.sound)
		return -EBADMSG;
	intake_resume(intake, &outlet->origin, packet, &sifted);
	outlet->begun = true;
	outlet->sequence = packet->sequence - outlet->origin.restated;
	outlet->said = packet->discarded;
	outlet->kept = packet->events_before + sifted.count - packet->lost[WIRE_LOST_OVERWRITTEN] -
		       packet->lost[WIRE_LOST_CORRUPT] - packet->lost[WIRE_LOST_UNREAD];
	return 0;
}

/* A chunk ends where the next one begins: nothing more is taken, but its last losses may not have been told. */
static int end_at(struct drain *drain, const char *next)
{
	struct wire_origin *origins = calloc(drain->session->ring_count, sizeof(*origins));
	int error = origins ? origin_load(next, origins, drain->session->ring_count) : -ENOMEM;

	for (unsigned n = 0; !error && n < drain->session->ring_count; n++) {
		memcpy(drain->intakes[n].ledger.lost, origins[n].ledger.lost, sizeof(origins[n].ledger.lost));
		if (!is_names(drain, n))
			drain->intakes[n].ledger.events = origins[n].ledger.events;
	}
	drain->ended = true;
	free(origins);
	return error;
}

int drain_resume(struct drain *drain, struct session *session, const char *path, struct trace_clock clock,
		 const char *command, const char *next)
{
	const struct recording recording = { .state = "recording", .clock = clock, .command = command };
	int error = prepare(drain, session);

	if (!error)
		error = output_reopen(&drain->output, session, path, &recording);
	if (!error)
		refresh_table(drain);
	for (unsigned n = 0; !error && n < session->ring_count; n++)
		error = resume_ring(drain, n);
	if (!error && next)
		error = end_at(drain, next);
	if (!error)
		error = drain->output.error;
	if (error)
		release(drain);
	return error;
}

/* Records written since the last look, which the trace does not have. */
static uint64_t behind(struct drain *drain, unsigned index)
{
	struct intake *intake = &drain->intakes[index];
	const struct ring *ring = session_ring_view(drain->session, index);
	struct wire_packet *packet;
	struct ring_piece piece;

	/* Bounded as in drain_ring(): somebody may go on writing for ever. */
	for (uint32_t n = 0; ring && n <= ring->window; n++) {
		if (next_piece(drain, index, &packet, &piece) <= 0)
			break;
		if (!piece.last)
			intake->written = packet->events_before + piece.count;
	}
	return intake_missing(intake);
}

/* The rate that the clock really had, if the recording was long enough to tell better than the kernel. */
static void recalibrate(struct drain *drain)
{
	bool is_tsc = drain->session->geometry.clock == WIRE_CLOCK_TSC;
	struct trace_clock *clock = &drain->output.recording.clock;
	struct clock_pair end;

	clock_read_pair(is_tsc, &end);
	if (!is_tsc || end.raw_ns - drain->begin.raw_ns < 1000000000)
		return;
	clock->hz = (uint64_t)((unsigned __int128)(end.ticks - drain->begin.ticks) * 1000000000 /
			       (end.raw_ns - drain->begin.raw_ns));
	clock->offset_ns = offset_of(&drain->begin, clock->hz);
}

/* The end of one ring's stream. */
static void close_ring(struct drain *drain, unsigned index)
{
	struct intake *intake = &drain->intakes[index];
	struct output *output = &drain->output;

	if (!drain->ended)
		intake_losses(intake, control_of(drain, index)->lost);
	if (!output->error && !drain->ended)
		intake_settle(intake);
	output_losses(output, index, &intake->ledger, intake->time);
	if (drain->ended)
		return;
	if (output->error) /* what is still in the ring stays there */
		intake->ledger.lost[WIRE_LOST_UNREAD] += behind(drain, index);
	else if (!is_names(drain, index) && !drain->attached)
		drain->totals.lost_late += behind(drain, index);
}

int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals)
{
	struct output *output = &drain->output;
	int error;

	if (drain->attached)
		drain->window.until = ring_clock();
	if (!output->error && !drain->ended)
		refresh_table(drain);
	for (unsigned n = 0; !drain->ended && n < drain->session->ring_count; n++)
		drain_ring(drain, n);
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		close_ring(drain, n);
		if (drain->hold)
			hold_release(drain->hold, n);
	}
	add_up(drain);
	recalibrate(drain);
	table_update(&drain->table, drain->session); /* refusals may have come */
	output_metadata(output, &drain->table);
	output->recording.lost_late = drain->totals.lost_late;
	output_finish(output, result);
	error = output->error;
	chunks_trim(&drain->chunks);
	drain->totals.chunks = drain->chunks.last;
	drain->totals.removed = drain->chunks.removed;
	drain->totals.until = drain->window.until;
	*totals = drain->totals;
	release(drain);
	return error;
}

int drain_snapshot(struct session *session, const char *path, const struct drain_options *options,
		   struct drain_totals *totals)
{
	struct drain drain;
	struct hold hold = { 0 };
	int error = prepare(&drain, session);

	if (!error)
		error = hold_rings(&hold, session);
	if (!error) {
		drain.hold = &hold;
		drain.window = (struct window){ options->since, hold.until };
		error = begin(&drain, path, options);
	}
	if (error)
		release(&drain);
	else
		error = drain_finish(&drain, "running", totals);
	hold_free(&hold);
	return error;
}
