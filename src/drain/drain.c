/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From a session to a trace; see drain.h. drain_rings.c has what happens to one ring.
 *
 * A drain belongs to one thread. It is in one of these states:
 *
 *	prepared	drain_prepare(): buffers, a reader for each ring; no file. A live reader stays here
 *	writing		drain_begin(), drain_resume(), drain_snapshot(): a trace, to which each round adds
 *	failed		->output.error is set: rounds do nothing, and the rest stays in the session
 *	released	drain_release(), by drain_finish() or by a begin that failed
 *
 * Flags that hold from one moment on, and are never taken back: ->attached (the session is its program's, so
 * the trace begins behind what is there), ->gone (the file was truncated), ->ended (a resumed chunk ends
 * where the next one begins, so only its losses and files are finished).
 *
 * The order in a round. Tables first, since a record must not come before the event or function that it
 * names. Then the changes, then the rings. The names ring is read before the others and once more behind
 * them: a thread is announced before its first record, so the names of all records are in the trace when the
 * round ends. check_session() comes last: a truncated file reads as zeros, which validation refuses, and this
 * check stops the drain.
 *
 * A split (drain_split()) makes the next chunk completely, under the name ".next", before it ends the current
 * one. The rename is the moment at which the recording has one chunk more. If anything fails before, the
 * recording fails in the current chunk, which is whole. After a kill between the rename and the end of the
 * former chunk, `burin recover` ends that one by the origin of the next (end_at()).
 *
 * Counts. Each stream's origin is the ring's ledger where the trace begins. The difference to it is what the
 * trace has and lost, so a chunk or an attached trace needs no counters of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drain/calibrate.h"
#include "drain/drain.h"
#include "drain/drain_rings.h"
#include "drain/living_tasks.h"
#include "writer/trace_origin.h"
#include "writer/discard.h"
#include "file/create.h"
#include "file/guard.h"
#include "ring/copy.h"
#include "ring/ring_deps.h"
#include "session/session_stat.h"

/* Whether a header is all zero: the file was truncated and extended again. Other damage does not look like that. */
static bool is_blank(const char *header)
{
	static const struct wire_geometry nothing;

	return memcmp(header, &nothing, sizeof(nothing)) == 0;
}

/*
 * Stop if the session's file was truncated. The program, or another process of its user, can do that at any moment. The
 * missing part reads as zeros (file/guard.h). The trace keeps the records from before.
 */
static void check_session(struct drain *drain)
{
	const struct session *session = drain->session;

	drain->gone |=
		guard_truncated(session->base, session->geometry.file_bytes) || is_blank(session->base);
	if (drain->gone)
		output_fail(&drain->output, -ENODATA, "the session was cut by another process");
}

/* Add the counts of the current trace to the totals. */
static void add_totals(struct drain *drain)
{
	struct drain_totals *totals = &drain->totals;
	struct recording *recording = &drain->output.recording;

	/* Set again for each chunk: those of the last one must not add up. */
	recording->clock_steps = recording->lost_names = recording->lost_unreported = 0;
	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		const struct output_stream *out = &drain->output.streams[n];
		const uint64_t *lost = drain->inputs[n].reader.ledger.lost, *before = out->origin.ledger.lost;
		const struct ring *ring = drain->inputs[n].reader.ring;
		/*
		 * The kernel's rings of one CPU, one for each depth, count as that CPU, as the session's ring
		 * does.
		 */
		bool *recorded = &drain->recorded[drain->inputs[n].kind == RING_MORE ? ring->cpu : n];

		if (drain->inputs[n].kind == RING_NAMES) {
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
			if (lost[cause] != before[cause])
				totals->lost_by[cause] |= 1U << drain->inputs[n].owner;
			recording->lost_unreported += lost[cause] - before[cause];
		}
		/* Losses that packets count are seen by every CTF reader. These are the others. */
		recording->lost_unreported -= out->reported;
		recording->clock_steps += drain_control(drain, n)->clock_steps;
	}
	/* A snapshot has all earlier changes of the session: they do not belong to this recording. */
	totals->changes += drain->copy ? 0 : drain->changelog.others;
	totals->lost_names += recording->lost_names;
	totals->own_functions |=
		drain->session->calls.header && drain->session->geometry.owner_kind == WIRE_OWNER_RECORDER;
	for (unsigned cause = 0; drain->session->calls.header && cause < WIRE_CALL_LOSSES; cause++)
		totals->lost_calls[cause] = recording->lost_calls[cause] =
			__atomic_load_n(&drain->session->calls.header->lost[cause], __ATOMIC_RELAXED) +
			(cause == WIRE_CALL_LOST_OPEN	     ? drain->calls.refused
			 : cause == WIRE_CALL_LOST_ARGUMENTS ? drain->calls.without_values
							     : 0);
	totals->bytes += output_bytes(&drain->output) + changelog_bytes(&drain->changelog);
}

/* The kernel's session lacks the names of tasks that live. */
static void drain_add_tasks(struct drain *drain)
{
	const unsigned names = session_names_index(drain->session);

	if (drain->session->device && !drain->output.error)
		output_fail(&drain->output,
			    living_tasks_add(&drain->output, names, &drain->inputs[names].reader),
			    "names of tasks");
}

/* Make the next chunk, without its own records. Return: 0 or -errno. */
static int make_next(struct drain *drain, struct output *next, const struct statedump_packets *packets)
{
	const unsigned names = session_names_index(drain->session);
	struct wire_origin *origins = calloc(drain_ring_count(drain), sizeof(*origins));
	char name[CHUNKS_NAME];
	int directory, error;

	if (!origins)
		return -ENOMEM;
	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		ring_reader_losses(&drain->inputs[n].reader, drain_control(drain, n)->lost);
		origins[n] = ring_reader_origin(&drain->inputs[n].reader);
	}
	/*
	 * The statedump comes first in the stream of names. So its records move the origin's count back, and
	 * its packets shift the sequence numbers of the ring's own.
	 */
	origins[names].statedump = packets->packets;
	origins[names].ledger.events -= packets->records;
	chunks_name(0, name);
	directory = create_directory(drain->chunks.directory, name);
	error = directory < 0 ? directory
			      : output_begin(next, drain->session, directory, origins,
					     &drain->output.recording, &drain->table);
	if (!error)
		error = output_add(next, drain->more.rings, drain->more.count,
				   origins + drain->session->ring_count);
	if (!error) {
		/*
		 * The stream adds origin.statedump to each number, so the first packet gets the number of the
		 * origin.
		 */
		statedump_put(next, names, packets, next->streams[names].origin.sequence - packets->packets,
			      next->streams[names].origin.ledger);
		error = next->error;
	}
	if (!error)
		error = chunks_advance(&drain->chunks);
	if (error)
		discard_below(drain->chunks.directory, name);
	free(origins);
	return error;
}

/* Finish the current chunk and continue in a new one. Return: 0; -errno: the drain stays in the current chunk. */
static int drain_split(struct drain *drain)
{
	struct output next = { .directory = -1 };
	struct statedump_packets packets;
	int error = statedump_write(&drain->statedump, drain->session->geometry.names_packet_bytes,
				    drain->round_before, &packets);

	if (!error)
		error = make_next(drain, &next, &packets);
	statedump_packets_free(&packets);
	if (error) {
		output_free(&next);
		return error;
	}
	/* The next chunk exists. The former one gets no more records, only what it still lacks. */
	for (unsigned n = 0; n < drain_ring_count(drain); n++)
		output_losses(&drain->output, n, &drain->inputs[n].reader.ledger,
			      drain->inputs[n].reader.time);
	drain_add_tasks(drain);
	output_fail(&drain->output, changelog_finish(&drain->changelog), "changes");
	add_totals(drain);
	output_finish(&drain->output, "running");
	output_free(&drain->output);
	drain->output = next;
	error = call_tables_next(&drain->calls, next.directory);
	return changelog_next(&drain->changelog, next.directory) ?: error;
}

/* Whether only the names are read before the end. */
static bool takes_names_only(const struct drain *drain)
{
	return drain->session->geometry.mode == WIRE_MODE_FLIGHT && !drain->attached;
}

int drain_round(struct drain *drain, unsigned *fullest)
{
	*fullest = 0;
	if (drain->output.error)
		return drain->output.error;
	chunks_trim(
		&drain->chunks); /* not right after the split: the sampler still wrote into the old chunk then */
	drain->round_before = drain->round;
	drain->round = ring_clock();
	drain_refresh_table(drain);
	output_fail(&drain->output, changelog_round(&drain->changelog), "changes");
	/*
	 * In flight mode a ring keeps its newest records by itself: copying what will be overwritten would be
	 * in vain.
	 */
	*fullest = drain_pass(drain, takes_names_only(drain));
	check_session(drain);
	if (!drain->output.error && drain->chunks.last &&
	    chunks_due(&drain->chunks, output_bytes(&drain->output) + drain->beside))
		output_fail(&drain->output, drain_split(drain), "the next chunk");
	return drain->output.error;
}

void drain_so_far(struct drain *drain, uint64_t *events, uint64_t *lost)
{
	struct session_stat stat;

	/* A resumed drain begins with the records that its last recorder had written. */
	if (takes_names_only(drain) && !drain->output.resumed) {
		session_stat_read(drain->session, &stat);
		*events = stat.written;
		*lost = wire_lost_sum(stat.lost);
		for (unsigned n = drain->session->ring_count; n < drain_ring_count(drain); n++)
			*events += drain->inputs[n].reader.written;
		return;
	}
	*events = drain->totals.events; /* of the chunks before */
	*lost = wire_lost_sum(drain->totals.lost);
	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		const struct output_stream *out = &drain->output.streams[n];

		if (drain->inputs[n].kind == RING_NAMES)
			continue;
		*events += out->kept;
		*lost += wire_lost_sum(drain->inputs[n].reader.ledger.lost) -
			 wire_lost_sum(out->origin.ledger.lost);
	}
}

static void set_input(struct drain *drain, unsigned index)
{
	struct session *session = drain->session;
	const struct wire_geometry *geometry = &session->geometry;
	struct ring_input *input = &drain->inputs[index];

	input->kind = index == session_names_index(session) ? RING_NAMES : RING_EVENTS;
	input->table = input->kind == RING_NAMES ? &drain->names_table : &drain->table;
	input->selection = input->kind == RING_NAMES ? NULL : &drain->selection;
	input->owner = session->device				     ? DRAIN_MODULE
		       : geometry->owner_kind == WIRE_OWNER_RECORDER ? DRAIN_RECORDER
								     : DRAIN_PROGRAM;
	input->gives_back = geometry->mode == WIRE_MODE_STREAM;
	input->is_device = session->device != NULL;
	input->reader.ring = &session->rings[index];
	input->reader.cursor.passive = geometry->mode == WIRE_MODE_FLIGHT;
	if (session->device) /* other recorders may have read packets before */
		ring_move(&input->reader.cursor, session->rings[index].control->consumed);
}

/*
 * A session in flight mode has no reader that gives packets back. Rings that are not the session's know their
 * own mode.
 */
static void set_more_input(struct drain *drain, unsigned number)
{
	const struct ring *ring = &drain->more.rings[number];

	drain->inputs[drain->session->ring_count + number] = (struct ring_input){
		.reader = { .ring = ring, .cursor.passive = ring->overwrite },
		.kind = RING_MORE,
		.table = &drain->table,
		.selection = &drain->more_selection,
		.owner = drain->more.since ? DRAIN_MODULE : DRAIN_KERNEL,
		.gives_back = !ring->overwrite,
		.is_older = drain->more.since != 0,
	};
}

int drain_prepare(struct drain *drain, struct session *session, const struct drain_more *more)
{
	const struct wire_geometry *geometry = &session->geometry;
	uint32_t largest = geometry->packet_bytes > geometry->names_packet_bytes
				   ? geometry->packet_bytes
				   : geometry->names_packet_bytes;

	for (unsigned n = 0; more && n < more->count; n++)
		if (more->rings[n].packet_words * 8 > largest)
			largest = (uint32_t)more->rings[n].packet_words * 8;

	*drain = (struct drain){ .session = session,
				 .sink = drain_sink_trace,
				 .output = { .directory = -1 },
				 .changelog = { .stream = { .fd = -1 } },
				 .window = { 0, UINT64_MAX } };
	if (more)
		drain->more = *more;
	drain->more_selection.globs = drain->more.globs;
	call_tables_init(&drain->calls, session, -1);
	drain->buffer = aligned_alloc(4096, largest);
	drain->inputs = calloc(drain_ring_count(drain), sizeof(*drain->inputs));
	drain->recorded = calloc(drain_ring_count(drain), sizeof(*drain->recorded));
	if (!drain->buffer || !drain->inputs || !drain->recorded)
		return -ENOMEM;
	for (unsigned n = 0; n < session->ring_count; n++)
		set_input(drain, n);
	for (unsigned n = 0; n < drain->more.count; n++)
		set_more_input(drain, n);
	clock_read_pair(geometry->clock, &drain->begin);
	if (geometry->clock == WIRE_CLOCK_GUEST) /* a count has no calendar, and is the same in each run */
		drain->begin.realtime_ns = (int64_t)drain->begin.ticks;
	return event_table_init_names(&drain->names_table, false);
}

void drain_release(struct drain *drain)
{
	output_free(&drain->output);
	changelog_free(&drain->changelog);
	call_tables_free(&drain->calls);
	statedump_free(&drain->statedump);
	event_selection_free(&drain->selection);
	event_selection_free(&drain->more_selection);
	event_table_free(&drain->table);
	event_table_free(&drain->names_table);
	free(drain->inputs);
	free(drain->ended_rings);
	free(drain->recorded);
	free(drain->buffer);
}

/* Begin the first trace of a drain. */
static int drain_begin_trace(struct drain *drain, int directory, const struct drain_options *options)
{
	const uint64_t hz = session_clock_hz(drain->session);
	const struct recording recording = { .state = "recording",
					     .clock = { hz, calibrate_offset(&drain->begin, hz) },
					     .session_path = options->session_path,
					     .kernel_tasks = options->kernel_tasks,
					     .kernel_calls = options->kernel_calls,
					     .kernel_threads = options->kernel_threads,
					     .command = options->command };
	int error = 0;

	if (directory < 0)
		return directory;
	drain->table.functions = &drain->calls.function_count;
	if (!drain->copy) /* so that the first round need not replace the files */
		error = event_table_update(&drain->table, drain->session);
	if (error) {
		close(directory);
		return error;
	}
	error = output_begin(&drain->output, drain->session, directory, NULL, &recording, &drain->table);
	if (!error)
		error = output_add(&drain->output, drain->more.rings, drain->more.count, NULL);
	drain->calls.directory = directory;
	return error ? error
		     : changelog_begin(&drain->changelog, drain->session, drain->output.directory,
				       drain->copy != NULL);
}

/*
 * The window is closed during this (since = UINT64_MAX): the open packet is read, and all its records are
 * before the window.
 */
static void skip_ring(struct drain *drain, unsigned index)
{
	struct ring_reader *reader = &drain->inputs[index].reader;
	const struct ring *ring = drain_ring_at(drain, index);

	if (ring)
		ring_skip(ring, &reader->cursor);
	drain_ring(drain, index);
	ring_reader_empty(reader, ring, NULL);
	ring_reader_losses(reader, drain_control(drain, index)->lost);
	drain_begin_here(drain, index);
}

/*
 * Skip the records that are there already and begin the trace's counts here. The open packet of each ring is read to find
 * the position in it. Then the window opens for all rings at one moment.
 */
static void skip_existing(struct drain *drain)
{
	drain->attached = true;
	drain->window.since = UINT64_MAX;
	drain_refresh_table(drain);
	/* Not the names ring: records to come may be of threads that were announced long ago. */
	for (unsigned n = 0; n < session_names_index(drain->session); n++)
		skip_ring(drain, n);
	drain->window.since = ring_clock();
}

/* The same for rings beside the session's that are older than the recording. */
static void skip_beside(struct drain *drain)
{
	const uint64_t since = drain->more.since;

	drain->more.since = UINT64_MAX;
	for (unsigned n = drain->session->ring_count; n < drain_ring_count(drain); n++)
		skip_ring(drain, n);
	drain->more.since = since;
}

/* In stream mode, begin the counts of the kernel's rings where the last recorder has ended: at the first packet that it left. */
static void continue_device(struct drain *drain)
{
	for (unsigned n = 0; n < drain->session->ring_count; n++)
		if (ring_reader_continue(&drain->inputs[n].reader, drain_ring_at(drain, n)))
			drain_begin_here(drain, n);
}

/* Duplicate the caller's descriptor of a directory, since the caller closes its own. */
static int drain_duplicate(int directory)
{
	int fd = fcntl(directory, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int drain_begin(struct drain *drain, struct session *session, int directory,
		const struct drain_options *options)
{
	const bool chunked = options->split.bytes || options->split.ns;
	int error = drain_prepare(drain, session, options->more);

	if (!error)
		error = drain_begin_trace(drain,
					  chunked ? chunks_begin(&drain->chunks, directory, options->split)
						  : drain_duplicate(directory),
					  options);
	if (!error && options->attach)
		error = call_tables_skip(&drain->calls);
	if (error)
		drain_release(drain);
	else if (options->attach)
		skip_existing(drain);
	else if (session->device)
		continue_device(drain);
	if (!error && drain->more.since)
		skip_beside(drain);
	if (options->globs && *options->globs)
		drain->selection.globs = options->globs;
	return error;
}

/* Find out from the last written packet where the last recorder stopped in a ring. */
static int resume_ring(struct drain *drain, unsigned index)
{
	struct output_stream *out = &drain->output.streams[index];
	struct ring_reader *reader = &drain->inputs[index].reader;
	const struct wire_packet *packet = (const struct wire_packet *)drain->buffer;
	const struct event_table *table = drain->inputs[index].table;
	int found = stream_reopen(&out->stream, (struct wire_packet *)drain->buffer);
	struct validated validated;

	if (found < 0)
		return found;
	if (found == 0) {
		ring_reader_resume(reader, &out->origin, NULL, NULL);
		return 0;
	}
	validated = validate_records(table, drain->buffer, sizeof(*packet), wire_stride(out->stream.content),
				     packet->time_begin, packet->time_begin, ring_clock(), drain->window);
	if (!validated.sound)
		return -EBADMSG;
	ring_reader_resume(reader, &out->origin, packet, &validated);
	out->begun = true;
	/* As in fill_header() of trace_output.c, the other way round. */
	out->sequence = packet->sequence - out->origin.statedump;
	out->reported = packet->discarded;
	/* events_before counts all records that were written. Of the losses, these three were written. */
	out->kept = packet->events_before + validated.count - packet->lost[WIRE_LOST_OVERWRITTEN] -
		    packet->lost[WIRE_LOST_CORRUPT] - packet->lost[WIRE_LOST_UNREAD];
	return 0;
}

/* End a chunk where the next one begins. No more records belong to it, but its last losses may be unreported. */
static int end_at(struct drain *drain, int next)
{
	struct wire_origin *origins = calloc(drain->session->ring_count, sizeof(*origins));
	int error = origins ? origin_read(next, origins, drain->session->ring_count) : -ENOMEM;

	for (unsigned n = 0; !error && n < drain->session->ring_count; n++) {
		memcpy(drain->inputs[n].reader.ledger.lost, origins[n].ledger.lost,
		       sizeof(origins[n].ledger.lost));
		if (drain->inputs[n].kind != RING_NAMES)
			drain->inputs[n].reader.ledger.events = origins[n].ledger.events;
	}
	drain->ended = true;
	free(origins);
	return error;
}

/* The kernel's rings of a recorder that has died, without their memory. There are as many locked rings as CPUs, at least. */
static struct ring *make_ended_rings(struct session *session, unsigned *count)
{
	static struct wire_ring nothing;
	struct ring *rings;

	*count = session->geometry.locked * WIRE_KERNEL_DEPTHS;
	rings = calloc(*count, sizeof(*rings));
	for (unsigned n = 0; rings && n < *count; n++)
		rings[n] = (struct ring){ .control = &nothing,
					  .packet_words = WIRE_KERNEL_PACKET / 8,
					  .header = &session->header,
					  .stream_instance = WIRE_KERNEL_INSTANCE + n,
					  .cpu = n / WIRE_KERNEL_DEPTHS };
	return rings;
}

static int prepare_resumed(struct drain *drain, struct session *session)
{
	struct drain_more more = { 0 };
	struct ring *rings = make_ended_rings(session, &more.count);
	int error;

	more.rings = rings;
	if (!rings)
		more.count = 0;
	error = drain_prepare(drain, session,
			      &more); /* without rings, too: the caller releases what it has set */
	drain->ended_rings = rings;
	return rings ? error : -ENOMEM;
}

int drain_resume(struct drain *drain, struct session *session, int directory,
		 const struct recording *recording, int next)
{
	int error = prepare_resumed(drain, session), copy = error ? -1 : drain_duplicate(directory);

	if (!error)
		error = copy < 0 ? copy : output_reopen(&drain->output, session, copy, recording);
	if (!error)
		error = output_add(&drain->output, drain->more.rings, drain->more.count, NULL);
	if (!error)
		drain_refresh_table(drain);
	for (unsigned n = 0; !error && n < drain_ring_count(drain); n++)
		error = resume_ring(drain, n);
	drain->calls.directory = drain->output.directory;
	if (!error)
		error = changelog_resume(&drain->changelog, session, drain->output.directory);
	if (!error && next >= 0)
		error = end_at(drain, next);
	/* Not before: the last packets are in the trace, whatever the session has become since. */
	drain->table.functions = &drain->calls.function_count;
	if (!error)
		error = drain->output.error;
	if (error)
		drain_release(drain);
	return error;
}

int drain_finish(struct drain *drain, const char *result, struct drain_totals *totals)
{
	struct output *output = &drain->output;
	int error;

	if (drain->attached) /* its program goes on, and all rings end at one moment */
		drain->window.until = ring_clock();
	if (!output->error && !drain->ended)
		drain_refresh_table(drain);
	if (!drain->ended) {
		drain_pass(drain, false);
		check_session(drain);
	}
	for (unsigned n = 0; n < drain_ring_count(drain); n++) {
		drain_close_ring(drain, n);
		if (drain->copy)
			snapshot_copy_release(drain->copy, n);
	}
	drain_add_tasks(drain);
	if (!drain->ended)
		output_fail(output, changelog_finish(&drain->changelog), "changes");
	event_table_update(&drain->table,
			   drain->session); /* events may have been refused since, or belong to open calls */
	output_fail(output, call_tables_finish(&drain->calls, &drain->table), "functions");
	add_totals(drain);
	/* The clock's rate is more exact at the end, so the metadata are written again. */
	calibrate(&output->recording.clock, drain->session->geometry.clock, &drain->begin);
	output_metadata(output, &drain->table);
	output->recording.lost_late = drain->totals.lost_late;
	output_finish(output, result);
	error = output->error;
	chunks_trim(&drain->chunks);
	drain->totals.chunks = drain->chunks.last;
	drain->totals.trim = drain->chunks.trim;
	drain->totals.until = drain->window.until;
	*totals = drain->totals;
	drain_release(drain);
	return error;
}

static int copy_all(struct drain *drain, const struct drain_options *options)
{
	int error = event_table_update(&drain->table, drain->session);
	uint64_t last = 0;

	if (!error)
		error = snapshot_copy_rings(drain->copy, drain->session, drain->more.rings, drain->more.count,
					    &drain->calls, &drain->table);
	/* Before their records, which stay if the session is cut meanwhile. */
	if (!error)
		output_metadata(&drain->output, &drain->table);
	if (!error && options->last)
		last = snapshot_copy_last(drain->copy, &drain->table);
	drain->window = (struct window){ last > options->last ? last - options->last : options->since,
					 drain->copy->until };
	return error;
}

int drain_snapshot(struct session *session, int directory, const struct drain_options *options,
		   struct drain_totals *totals)
{
	struct drain drain;
	struct snapshot_copy copy = { 0 };
	int error = drain_prepare(&drain, session, options->more);

	*totals = (struct drain_totals){ 0 };
	drain.copy = &copy;
	if (!error)
		error = drain_begin_trace(&drain, drain_duplicate(directory), options);
	if (error) {
		drain_release(&drain);
		return error;
	}
	error = copy_all(&drain, options);
	if (error) {
		drain.copy = NULL;
		drain.ended = true; /* there is nothing to read */
		output_fail(&drain.output, error, "the copy");
	}
	error = drain_finish(&drain, "running", totals);
	snapshot_copy_free(&copy);
	return error;
}
