/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a session to a trace; see drain.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/drain.h"
#include "drain/sift.h"
#include "ring/ring_deps.h"

/* Remember the first thing that went wrong, and stop writing. */
static void give_up(struct drain *drain, int error, const char *what)
{
	if (drain->error || !error)
		return;
	drain->error = error;
	snprintf(drain->trouble, sizeof(drain->trouble), "%s: %s; what came later was not recorded", what,
		 strerror(-error));
	drain->recording.trouble = drain->trouble;
	drain->recording.state = "failed";
	recording_write(drain->directory, drain->session, &drain->recording);
}

/* The definitions must be in the trace before the first record that needs them. */
static void refresh_table(struct drain *drain)
{
	int error;

	if (!table_has_grown(&drain->table, drain->session))
		return;
	error = table_update(&drain->table, drain->session);
	if (!error)
		error = metadata_write(drain->directory, drain->session, &drain->table, drain->clock);
	give_up(drain, error, "metadata");
}

static bool is_names(const struct drain *drain, unsigned index)
{
	return index == session_names_index(drain->session);
}

/*
 * What a packet's header says was written before it, against what is accounted for: the difference was lost
 * on the way. A number that cannot be is not believed.
 */
static void account_before(struct drain_ring *ring, const struct ring *source, const struct ring_piece *piece,
			   uint64_t events_before)
{
	uint64_t missing = events_before - ring->accounted;
	uint64_t packets = piece->sequence - (ring->begun ? ring->sequence : 0) + 1;
	uint64_t most = source->packet_words / 2; /* of a packet */

	if (missing == 0)
		return;
	if (packets > UINT64_MAX / most || missing > packets * most) {
		ring->corrupt++;
		return;
	}
	if (ring->damaged)
		ring->corrupt += missing;
	else
		ring->overwritten += missing;
	ring->accounted += missing;
}

/*
 * What the writers say they have lost, by one cause. It only grows; a number that cannot be is not believed,
 * and the last one stands. So the sum of all is a sound one, whoever scribbles over the session.
 */
static uint64_t believe(struct drain_ring *ring, unsigned cause, uint64_t count)
{
	const uint64_t step_max = UINT64_C(1) << 44, max = UINT64_C(1)
							   << 56; /* hours and years of losing only */

	if (count >= ring->told[cause] && count - ring->told[cause] < step_max && count < max)
		ring->told[cause] = count;
	return ring->told[cause];
}

static uint64_t writers_lost(struct drain_ring *ring, const struct ring *source, unsigned cause)
{
	return believe(ring, cause, __atomic_load_n(&source->control->lost[cause], __ATOMIC_RELAXED));
}

/* Bring a header that came from the ring into the form that the trace needs. */
static void complete_header(struct drain *drain, struct drain_ring *ring, const struct ring *source,
			    struct wire_packet *header, const struct ring_piece *piece)
{
	uint64_t lost[WIRE_LOST_CAUSES];

	for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++)
		lost[cause] = believe(ring, cause, header->lost[cause]);
	lost[WIRE_LOST_OVERWRITTEN] = ring->overwritten;
	lost[WIRE_LOST_CORRUPT] = ring->corrupt;
	lost[WIRE_LOST_UNREAD] = ring->unread;
	*header = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = source->header->stream_id,
		.stream_instance = source->stream_instance,
		.time_begin = header->time_begin,
		.sequence = piece->sequence,
		.events_before = ring->accounted,
		.base_time = header->time_begin, /* as the writers begin it; extended records move it */
		.cpu = source->cpu,
	};
	memcpy(header->uuid, drain->session->geometry.uuid, sizeof(header->uuid));
	memcpy(header->lost, lost, sizeof(lost));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		header->discarded += lost[cause];
	ring->said = header->discarded;
}

static struct sifted sift_piece(struct drain *drain, unsigned index, const struct ring_piece *piece,
				uint64_t time)
{
	const struct table *table = is_names(drain, index) ? &drain->names_table : &drain->table;
	uint64_t now = ring_clock();
	struct sifted out = sift(table, drain->buffer, piece->begin, piece->end, time, now);

	if (out.unknown && !is_names(drain, index)) { /* registered since the round began */
		refresh_table(drain);
		out = sift(table, drain->buffer, piece->begin, piece->end, time, now);
	}
	/* What looks like a closed packet's end, below the tail of an open one, was not put there by a
	 * writer. */
	if (!piece->last && out.end != piece->end)
		out.sound = false;
	return out;
}

/* Ticks in a nanosecond, rounded up: babeltrace2 sorts packets by the nanosecond in which they begin. */
static uint64_t a_little(const struct drain *drain)
{
	return drain->clock.hz / 1000000000 + 1;
}

/*
 * CTF readers see a loss as the difference between two packets, so one that comes before a stream's first
 * record needs a packet before it: an empty one, that tells of none.
 */
static int begin_with_loss(struct drain *drain, struct drain_ring *ring, const struct wire_packet *first)
{
	struct wire_packet empty = *first;

	empty.sequence = empty.discarded = empty.events_before = 0;
	memset(empty.lost, 0, sizeof(empty.lost));
	empty.time_begin = empty.time_end = empty.base_time = first->time_begin - a_little(drain);
	return stream_packet(&ring->stream, &empty, sizeof(empty));
}

/* The first piece of a packet: it begins a packet in the trace. */
static int keep_packet(struct drain *drain, unsigned index, const struct ring *source,
		       const struct ring_piece *piece)
{
	struct drain_ring *ring = &drain->rings[index];
	struct wire_packet *header = (struct wire_packet *)drain->buffer;
	struct sifted sifted;
	int error = 0;

	account_before(ring, source, piece, header->events_before);
	ring->damaged = header->time_begin < ring->time;
	if (ring->damaged)
		return 0;
	sifted = sift_piece(drain, index, piece, header->time_begin);
	ring->damaged = !sifted.sound;
	if (sifted.count == 0)
		return 0;
	complete_header(drain, ring, source, header, piece);
	header->time_end = sifted.time;
	if (!ring->begun && header->discarded != 0 && header->sequence != 0)
		error = begin_with_loss(drain, ring, header);
	if (!error)
		error = stream_packet(&ring->stream, header, sifted.content);
	if (error)
		return error;
	ring->begun = true;
	ring->sequence = piece->sequence;
	ring->content = sifted.content;
	ring->time = sifted.time;
	ring->kept += sifted.count;
	ring->accounted += sifted.count;
	return 0;
}

/* A further piece of the packet that the trace ends with. */
static int keep_more(struct drain *drain, unsigned index, const struct ring_piece *piece)
{
	struct drain_ring *ring = &drain->rings[index];
	struct sifted sifted = sift_piece(drain, index, piece, ring->time);
	int error;

	ring->damaged = !sifted.sound;
	if (sifted.count == 0)
		return 0;
	error = stream_extend(&ring->stream, drain->buffer, wire_stride(ring->content), sifted.content,
			      sifted.time);
	if (error)
		return error;
	ring->content = sifted.content;
	ring->time = sifted.time;
	ring->kept += sifted.count;
	ring->accounted += sifted.count;
	return 0;
}

static int keep(struct drain *drain, unsigned index, const struct ring *source,
		const struct ring_piece *piece)
{
	struct drain_ring *ring = &drain->rings[index];

	if (!piece->last)
		ring->written = ((const struct wire_packet *)drain->buffer)->events_before + piece->count;
	if (piece->begin == sizeof(struct wire_packet))
		return keep_packet(drain, index, source, piece);
	/*
	 * It goes on where the trace ends, or what lies between has never been looked at: somebody has put an
	 * end mark where none belongs.
	 */
	if (!ring->begun || ring->sequence != piece->sequence || wire_stride(ring->content) != piece->begin)
		ring->damaged = true;
	if (ring->damaged)
		return 0;
	return keep_more(drain, index, piece);
}

/* How full a ring is, in percent. */
static unsigned fill_level(const struct drain_ring *ring, const struct ring *source)
{
	uint64_t tail = __atomic_load_n(&source->control->tail, __ATOMIC_RELAXED) >> WIRE_TAIL_COUNT_BITS;
	uint64_t wrap = (UINT64_MAX >> WIRE_TAIL_COUNT_BITS) / source->packet_words;
	uint64_t behind = (tail / source->packet_words - ring->cursor.sequence) & wrap;

	return behind >= source->packets ? 100 : (unsigned)(behind * 100 / source->packets);
}

/*
 * Take what is new in one ring: at most as many packets as it has, and one more that was begun before. A
 * writer may be as fast as we are, and the other rings want their turn.
 */
static unsigned drain_ring(struct drain *drain, unsigned index)
{
	struct drain_ring *ring = &drain->rings[index];
	struct ring *source = session_ring_view(drain->session, index);
	struct ring_piece piece;
	unsigned level;

	if (!source)
		return 0;
	level = fill_level(ring, source);
	for (uint32_t n = 0; n <= source->packets && !drain->error; n++) {
		int found = ring_copy(source, &ring->cursor, drain->buffer, &piece);

		ring->stale = found < 0;
		if (found <= 0)
			break;
		give_up(drain, keep(drain, index, source, &piece), ring->stream.name);
		if (!source->overwrite)
			ring_give_back(source, ring->cursor.sequence);
	}
	return level;
}

int drain_round(struct drain *drain, unsigned *fullest)
{
	bool flight = drain->session->geometry.mode == WIRE_MODE_FLIGHT;

	*fullest = 0;
	if (drain->error)
		return drain->error;
	refresh_table(drain);
	/* Names before the records and after them: if we are killed in between, few records are without. */
	drain_ring(drain, session_names_index(drain->session));
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		unsigned level = flight && !is_names(drain, n) ? 0 : drain_ring(drain, n);

		if (level > *fullest)
			*fullest = level;
	}
	return drain->error;
}

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

static int make_directory(struct drain *drain, const char *path)
{
	if (mkdir(path, 0777) != 0)
		return -errno;
	drain->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (drain->directory < 0 || mkdirat(drain->directory, ".burin", 0777) != 0)
		return -errno;
	return 0;
}

static int64_t offset_of(const struct clock_pair *pair, uint64_t hz)
{
	return pair->realtime_ns - (int64_t)((unsigned __int128)pair->ticks * 1000000000 / hz);
}

/* What drain_begin() and drain_resume() have in common. */
static int prepare(struct drain *drain)
{
	const struct wire_session *geometry = &drain->session->geometry;
	uint32_t largest = geometry->packet_bytes > geometry->names_packet_bytes
				   ? geometry->packet_bytes
				   : geometry->names_packet_bytes;

	drain->buffer = aligned_alloc(4096, largest);
	drain->rings = calloc(drain->session->ring_count, sizeof(*drain->rings));
	if (!drain->buffer || !drain->rings)
		return -ENOMEM;
	for (unsigned n = 0; n < drain->session->ring_count; n++) {
		char name[32];

		name_stream(drain->session, n, name, sizeof(name));
		stream_init(&drain->rings[n].stream, drain->directory, name,
			    is_names(drain, n) ? geometry->names_packet_bytes : geometry->packet_bytes);
	}
	clock_read_pair(geometry->clock == WIRE_CLOCK_TSC, &drain->begin);
	return table_init_names(&drain->names_table);
}

int drain_begin(struct drain *drain, struct session *session, const char *path, const char *session_path,
		const char *command)
{
	int error;

	*drain = (struct drain){ .session = session, .directory = -1 };
	error = make_directory(drain, path);
	if (!error)
		error = prepare(drain);
	if (error)
		return error;
	drain->clock.hz = session->geometry.clock_hz;
	drain->clock.offset_ns = offset_of(&drain->begin, drain->clock.hz);
	drain->recording = (struct recording){
		.state = "recording", .clock = drain->clock, .session_path = session_path, .command = command
	};
	error = metadata_write(drain->directory, session, &drain->table, drain->clock);
	if (!error)
		error = recording_write(drain->directory, session, &drain->recording);
	return error;
}

/* Where the last recorder stopped in one ring, from the last packet that it wrote. */
static int resume_ring(struct drain *drain, unsigned index)
{
	struct drain_ring *ring = &drain->rings[index];
	struct wire_packet *packet = (struct wire_packet *)drain->buffer;
	const struct table *table = is_names(drain, index) ? &drain->names_table : &drain->table;
	int found = stream_reopen(&ring->stream, packet);
	struct sifted sifted;

	if (found <= 0)
		return found;
	sifted = sift(table, drain->buffer, sizeof(*packet), wire_stride(ring->stream.content),
		      packet->time_begin, ring_clock());
	if (!sifted.sound)
		return -EBADMSG;
	ring->begun = true;
	ring->sequence = packet->sequence;
	ring->content = ring->stream.content;
	ring->cursor = (struct ring_cursor){ packet->sequence, wire_stride(ring->content) };
	ring->accounted = packet->events_before + sifted.count;
	ring->overwritten = packet->lost[WIRE_LOST_OVERWRITTEN];
	ring->corrupt = packet->lost[WIRE_LOST_CORRUPT];
	ring->unread = packet->lost[WIRE_LOST_UNREAD];
	ring->kept = ring->accounted - ring->overwritten - ring->corrupt - ring->unread;
	for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++)
		ring->told[cause] = packet->lost[cause];
	ring->said = packet->discarded;
	ring->time = sifted.time; /* time_end may be that of records that were to come */
	return 0;
}

int drain_resume(struct drain *drain, struct session *session, const char *path, struct trace_clock clock,
		 const char *command)
{
	int error = 0;

	*drain = (struct drain){ .session = session, .clock = clock };
	drain->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (drain->directory < 0)
		return -errno;
	error = prepare(drain);
	drain->recording = (struct recording){ .state = "recording", .clock = clock, .command = command };
	refresh_table(drain);
	for (unsigned n = 0; !error && n < session->ring_count; n++)
		error = resume_ring(drain, n);
	return error ? error : drain->error;
}

/* Records that were written but are not accounted for; a number that cannot be is not believed. */
static uint64_t missing(const struct drain_ring *ring)
{
	uint64_t difference = ring->written - ring->accounted;

	return ring->written > ring->accounted && difference <= UINT32_MAX ? difference : 0;
}

/* Losses that no packet has told of yet get an empty packet. */
static void close_ring(struct drain *drain, unsigned index)
{
	struct drain_ring *ring = &drain->rings[index];
	struct ring *source = &drain->session->rings[index];
	struct wire_packet header = { .time_begin = ring->time + a_little(drain) };
	struct ring_piece piece = { .sequence = ring->begun ? ring->sequence + 1 : 1 };
	uint64_t gone, lost;

	ring->corrupt += ring->stale; /* nobody knows how many */
	gone = missing(ring);
	if (gone) { /* the tail counted them, and they were not found; more than a ring holds is nonsense */
		bool credible = gone <= source->packets * source->packet_words / 2;

		ring->corrupt += credible ? gone : 1;
		ring->accounted += credible ? gone : 0;
		ring->written = ring->accounted;
	}
	lost = ring->overwritten + ring->corrupt + ring->unread;
	for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++) {
		header.lost[cause] = writers_lost(ring, source, cause);
		lost += header.lost[cause];
	}
	if (lost == ring->said && ring->begun)
		return;
	if (lost == 0)
		return;
	if (!ring->begun)
		header.time_begin = ring_clock();
	header.base_time = header.time_begin;
	complete_header(drain, ring, source, &header, &piece);
	header.time_end = header.time_begin;
	if (!ring->begun)
		give_up(drain, begin_with_loss(drain, ring, &header), ring->stream.name);
	if (!drain->error)
		give_up(drain, stream_packet(&ring->stream, &header, sizeof(header)), ring->stream.name);
}

/* Records written since the last look, which the trace does not have. */
static uint64_t behind(struct drain *drain, unsigned index)
{
	struct ring *source = session_ring_view(drain->session, index);
	struct drain_ring *ring = &drain->rings[index];
	struct ring_piece piece;

	/* Bounded as in drain_ring(): somebody may go on writing for ever. */
	for (uint32_t n = 0; source && n <= source->packets; n++) {
		if (ring_copy(source, &ring->cursor, drain->buffer, &piece) <= 0)
			break;
		if (!piece.last)
			ring->written =
				((const struct wire_packet *)drain->buffer)->events_before + piece.count;
	}
	return missing(ring);
}

/* The rate that the clock really had, if the recording was long enough to tell better than the kernel. */
static void recalibrate(struct drain *drain)
{
	bool is_tsc = drain->session->geometry.clock == WIRE_CLOCK_TSC;
	struct clock_pair end;

	clock_read_pair(is_tsc, &end);
	if (!is_tsc || end.raw_ns - drain->begin.raw_ns < 1000000000)
		return;
	drain->clock.hz = (uint64_t)((unsigned __int128)(end.ticks - drain->begin.ticks) * 1000000000 /
				     (end.raw_ns - drain->begin.raw_ns));
	drain->clock.offset_ns = offset_of(&drain->begin, drain->clock.hz);
	drain->recording.clock = drain->clock;
}

int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals)
{
	const unsigned names = session_names_index(drain->session);
	struct session *session = drain->session;

	*totals = (struct drain_totals){ 0 };
	if (!drain->error)
		refresh_table(drain);
	for (unsigned n = 0; !drain->error && n < session->ring_count; n++)
		drain_ring(drain, n);
	for (unsigned n = 0; n < session->ring_count; n++) {
		struct drain_ring *ring = &drain->rings[n];

		if (!drain->error)
			close_ring(drain, n);
		if (drain->error) /* what is still in the ring stays there */
			ring->unread += behind(drain, n);
		stream_finish(&ring->stream);
		totals->bytes += stream_bytes(&ring->stream);
		if (n == names) {
			totals->lost_names = writers_lost(ring, &session->rings[n], WIRE_LOST_FULL) +
					     ring->corrupt + ring->unread;
			continue;
		}
		totals->events += ring->kept;
		totals->cpus += ring->kept != 0;
		totals->lost[WIRE_LOST_OVERWRITTEN] += ring->overwritten;
		totals->lost[WIRE_LOST_CORRUPT] += ring->corrupt;
		totals->lost[WIRE_LOST_UNREAD] += ring->unread;
		for (unsigned cause = 0; cause <= WIRE_LOST_SIZE; cause++)
			totals->lost[cause] += writers_lost(ring, &session->rings[n], cause);
		drain->recording.clock_steps += session->rings[n].control->clock_steps;
		if (!drain->error)
			totals->lost_late += behind(drain, n);
	}
	recalibrate(drain);
	table_update(&drain->table, session); /* refusals may have come */
	if (!drain->error)
		give_up(drain, metadata_write(drain->directory, session, &drain->table, drain->clock),
			"metadata");
	drain->recording.state = drain->error ? "failed" : "finished";
	drain->recording.result = result;
	drain->recording.session_path = NULL;
	drain->recording.lost_late = totals->lost_late;
	drain->recording.lost_names = totals->lost_names;
	recording_write(drain->directory, session, &drain->recording);
	table_free(&drain->table);
	table_free(&drain->names_table);
	free(drain->rings);
	free(drain->buffer);
	close(drain->directory);
	return drain->error;
}
