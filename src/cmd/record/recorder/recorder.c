/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The life of a recording; see recorder.h. */
#include <errno.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/recorder/recording.h"
#include "file/create.h"
#include "session/clock.h"

#define FOR_EACH_OPENED(source, recorder)                       \
	for (const struct source *source = (recorder)->sources; \
	     source < (recorder)->sources + (recorder)->opened; source++)

int recorder_open_sources(struct recorder *recorder)
{
	int result = 0;

	recorder->opened = 0;
	for (const struct source *source = recorder->sources; !result && source->ops; source++) {
		recorder->opened++;
		if (source->ops->open)
			result = source->ops->open(source->state, recorder);
	}
	if (result) {
		recorder_close_sources(recorder);
		return result;
	}
	FOR_EACH_OPENED(source, recorder)
	if (source->ops->describe)
		source->ops->describe(source->state, recorder, &recorder->options);
	return 0;
}

void recorder_close_sources(struct recorder *recorder)
{
	recorder_finish(recorder);
	for (unsigned n = recorder->opened; n--;)
		if (recorder->sources[n].ops->close)
			recorder->sources[n].ops->close(recorder->sources[n].state);
	recorder->opened = 0;
}

/* Whether a source records although no program takes part. A source that cannot has reported that. */
static bool have_record(const struct recorder *recorder)
{
	FOR_EACH_OPENED(source, recorder)
	if (source->ops->records && source->ops->records(source->state))
		return true;
	return false;
}

int recorder_open(struct recorder *recorder)
{
	int result, error = 0;

	recorder->directory = recording_create("-o", recorder->output, recorder->private);
	if (recorder->directory < 0)
		return CMD_FAULTS;
	result = recorder_open_sources(recorder);
	if (!result && (!recorder->needs_source || have_record(recorder))) {
		error = drain_begin(&recorder->drain, recorder->session, recorder->directory,
				    &recorder->options);
		if (!error)
			return 0;
	}
	if (!result)
		recorder_close_sources(recorder);
	if (error)
		return recording_refused(recorder->output, recorder->directory, error);
	recorder_discard(recorder);
	close(recorder->directory);
	return result ? result : CMD_FAULTS;
}

bool recorder_environment(const struct recorder *recorder, int file)
{
	bool done = true;

	FOR_EACH_OPENED(source, recorder)
	if (done && source->ops->environment)
		done = source->ops->environment(source->state, file);
	return done;
}

unsigned recorder_libraries(const struct recorder *recorder, const char *libraries[RECORDER_LIBRARIES])
{
	unsigned count = 0;

	FOR_EACH_OPENED(source, recorder)
	{
		const char *library = source->ops->library ? source->ops->library(source->state) : "";

		if (*library && count < RECORDER_LIBRARIES)
			libraries[count++] = library;
	}
	return count;
}

void recorder_begin(struct recorder *recorder)
{
	FOR_EACH_OPENED(source, recorder)
	if (source->ops->begin)
		source->ops->begin(source->state, recorder);
}

int recorder_wake(const struct recorder *recorder)
{
	int file = -1;

	FOR_EACH_OPENED(source, recorder)
	if (file < 0 && source->ops->wake)
		file = source->ops->wake(source->state);
	return file;
}

int recorder_pause_ms(const struct recorder *recorder, int most)
{
	FOR_EACH_OPENED(source, recorder)
	{
		const int pause = source->ops->pause_ms ? source->ops->pause_ms(source->state) : most;

		most = pause < most ? pause : most;
	}
	return most;
}

static void show_progress(struct recorder *recorder)
{
	uint64_t records = 0, lost = 0;

	if (!progress_due(&recorder->progress))
		return;
	FOR_EACH_OPENED(source, recorder)
	if (source->ops->so_far)
		source->ops->so_far(source->state, &records, &lost);
	recording_progress(&recorder->progress, &recorder->drain, records, lost);
}

bool recorder_round(struct recorder *recorder, unsigned *fullest)
{
	const bool written = drain_round(&recorder->drain, fullest) == 0;

	FOR_EACH_OPENED(source, recorder)
	if (source->ops->round)
		source->ops->round(source->state, recorder, fullest);
	show_progress(recorder);
	return written;
}

void recorder_child_ended(const struct recorder *recorder, pid_t child)
{
	FOR_EACH_OPENED(source, recorder)
	if (source->ops->child_ended)
		source->ops->child_ended(source->state, child);
}

const struct drain_more *recorder_snapshot_rings(const struct recorder *recorder)
{
	const struct drain_more *rings = NULL;

	FOR_EACH_OPENED(source, recorder)
	if (!rings && source->ops->snapshot)
		rings = source->ops->snapshot(source->state);
	return rings;
}

void recorder_finish(struct recorder *recorder)
{
	for (unsigned n = recorder->opened; n--;)
		if (recorder->sources[n].ops->finish)
			recorder->sources[n].ops->finish(recorder->sources[n].state, recorder);
}

/* The time that is left until a time on CLOCK_MONOTONIC; 0: there is no limit. */
static uint64_t time_left(uint64_t until)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return !until ? 0 : until > now ? until - now : 1;
}

static void name_chunk(const struct recorder *recorder, const struct source *source, unsigned number,
		       uint64_t until)
{
	char chunk_name[CHUNKS_NAME], chunk_path[CHUNKS_PATH];
	int chunk;

	chunks_name(number, chunk_name);
	chunks_path(recorder->output, number, chunk_path);
	chunk = create_enter(recorder->directory, chunk_name);
	if (chunk < 0)
		return;
	source->ops->names(source->state, chunk, chunk_path, time_left(until));
	close(chunk);
}

/* All chunks of a source have one deadline. */
static void recorder_find_names(const struct recorder *recorder, const struct source *source)
{
	const struct drain_totals *totals = &recorder->totals;
	const uint64_t until = recorder->names_ns ? clock_ns(CLOCK_MONOTONIC) + recorder->names_ns : 0;

	if (!source->ops->names || recorder->no_symbols)
		return;
	if (!totals->chunks)
		source->ops->names(source->state, recorder->directory, recorder->output, time_left(until));
	for (unsigned n = totals->trim.done + 1; n <= totals->chunks; n++)
		name_chunk(recorder, source, n, until);
}

static void close_source(const struct source *source)
{
	if (source->ops->close)
		source->ops->close(source->state);
}

/* Rings go first: the look-up of names may take minutes. */
void recorder_complete(struct recorder *recorder, const char *result)
{
	drain_finish(&recorder->drain, result, &recorder->totals);
	for (unsigned n = recorder->opened; n--;)
		if (!recorder->sources[n].ops->names)
			close_source(&recorder->sources[n]);
	for (unsigned n = recorder->opened; n--;) {
		recorder_find_names(recorder, &recorder->sources[n]);
		if (recorder->sources[n].ops->names)
			close_source(&recorder->sources[n]);
	}
}

void recorder_discard(const struct recorder *recorder)
{
	chunks_discard(recorder->directory, recorder->output);
}

/* A source that records apart has a line of its own. That line names the trace if nothing else was recorded. */
void recorder_summary(const struct recorder *recorder, bool joined)
{
	bool apart = false, others = joined;

	FOR_EACH_OPENED(source, recorder)
	{
		const bool is_apart = source->ops->is_apart && source->ops->is_apart(source->state);

		apart |= is_apart;
		others |= !is_apart && source->ops->records && source->ops->records(source->state);
	}
	if (!recorder->converted) {
		if (others || !apart)
			recording_events(&recorder->totals, recorder->output);
		recording_chunks(&recorder->totals);
	}
	if (!others && !apart && !recorder->converted)
		cmd_note(
			"burin: no process with tracepoints ran; a program gets them by <burin/burin.h>, see "
			"burin(3)\n");
	for (unsigned n = recorder->opened; n--;)
		if (recorder->sources[n].ops->summary)
			recorder->sources[n].ops->summary(recorder->sources[n].state, recorder,
							  others || !apart ? NULL : recorder->output);
}

int recorder_result(const struct recorder *recorder)
{
	const int error = recorder->drain.output.error;

	if (error)
		cmd_failed("%s: %s", recorder->output, recorder->drain.output.trouble);
	if (recording_trimmed(&recorder->totals, recorder->output) != 0 || error || recorder->faulted)
		return CMD_FAULTS;
	return 0;
}
