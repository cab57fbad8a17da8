/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Replay of calls; see replay.h.
 *
 * The passes follow each other: selection, bounds of slices, calls that cross them (replay_calls.c), printing
 * (replay_slice.c). The first time that is printed is known after the third one, since a call that is selected may
 * have begun before the first record. Nothing of the job changes from then on, so the workers read it without a lock.
 */
#include "view/calls/replay/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "read/profile/profile_parts.h"
#include "read/trace.h"
#include "view/calls/replay/replay_parts.h"
#include "view/symbol_label.h"

enum {
	SLICE_BYTES = 1 << 20,
	SLICE_BYTES_RING = 1 << 18, /* per ring, since each slice seeks in each ring anew */
};

/* Return: 0; -ENOENT: no recorded function is selected; -ENOMEM. */
static int replay_select_functions(struct replay_job *job)
{
	const uint32_t count = burin_calls_functions(job->lines.calls.calls);

	if (!job->replay->functions.count)
		return 0;
	job->functions = view_call_names_select(&job->lines.calls, &job->replay->functions, view_symbol_fits);
	if (!job->functions)
		return -ENOMEM;
	for (uint32_t n = 1; n <= count; n++)
		if (job->functions[n])
			return 0;
	return -ENOENT;
}

static int select_all(struct replay_job *job)
{
	const struct view_replay *replay = job->replay;
	const unsigned count = burin_trace_events(job->trace);

	job->events = calloc((size_t)count + 1, sizeof(*job->events));
	if (!job->events)
		return -ENOMEM;
	for (unsigned n = 0; n < count && !replay->no_events; n++) {
		const struct burin_event *event = burin_trace_event(job->trace, n + 1);

		job->events[n] = event && !burin_calls_is_call(job->lines.calls.calls, event) &&
				 view_globs_match(&replay->events, event->name);
	}
	return replay_select_functions(job);
}

/* The conditions of all that is printed. */
static int replay_compile(struct replay_job *job)
{
	const unsigned count = burin_trace_events(job->trace);
	bool *selected = calloc((size_t)count + 1, sizeof(*selected));
	int result;

	if (!selected)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++)
		selected[n] = job->events[n] || burin_calls_is_call(job->lines.calls.calls,
								    burin_trace_event(job->trace, n + 1));
	result = view_where_make(&job->where, job->trace, job->lines.profile, &job->replay->where, selected);
	free(selected);
	return result;
}

static int replay_cut(struct replay_job *job)
{
	uint64_t bytes = (uint64_t)SLICE_BYTES_RING * burin_trace_rings(job->trace);
	ssize_t slices;

	if (bytes < SLICE_BYTES)
		bytes = SLICE_BYTES;
	slices = read_time_partition(job->trace, job->replay->from, job->replay->to, bytes, bytes,
				     &job->bounds);
	if (slices < 0)
		return (int)slices;
	job->slices = (size_t)slices;
	return 0;
}

static int replay_run(struct replay_job *job)
{
	const struct burin_calls *calls = job->lines.calls.calls;
	int result = calls ? read_calls_only_counted(calls) : 1;

	if (result > 0)
		result = -ENODATA;
	if (!result)
		result = select_all(job);
	if (!result)
		result = replay_compile(job);
	if (!result)
		result = replay_cut(job);
	if (!result)
		result = replay_find_crossing(job);
	if (!result)
		view_lines_begin(&job->lines, job->replay->begin ?: job->begin);
	if (!result && !replay_workers_make(job))
		result = -ENOMEM;
	if (result)
		return result;
	return view_ordered_run(&(struct view_ordered_work){
		.slices = job->slices,
		.threads = job->replay->threads,
		.file = job->replay->file,
		.lines = job->replay->limit,
		.render = replay_slice,
		.data = job,
	});
}

/* Calls of all records, also of those that are not printed. */
static int replay_find_begin(const struct burin_trace *trace, const struct burin_calls *calls,
			     uint64_t *begin)
{
	const struct burin_record *record;
	struct burin_cursor *cursor;
	struct burin_call call;
	int result = burin_cursor_open(&cursor, trace, NULL);

	*begin = replay_begin(trace, calls);
	while (!result && (result = burin_cursor_next(cursor, &record)) > 0) {
		result = 0;
		if (!burin_calls_call(calls, record, &call) && call.begin < *begin)
			*begin = call.begin;
	}
	burin_cursor_close(cursor);
	return result;
}

int view_replay_begin(const struct burin_trace *trace, uint64_t *begin)
{
	struct burin_calls *calls;
	int result = burin_calls_open(&calls, trace);

	if (!result)
		result = replay_find_begin(trace, calls, begin);
	burin_calls_close(calls);
	return result;
}

int view_replay(const struct burin_trace *trace, const struct view_replay *replay)
{
	struct replay_job job = { .trace = trace, .replay = replay };
	int result = view_lines_make(&job.lines, trace, &replay->style);

	if (result)
		return result;
	result = replay_run(&job);
	replay_workers_free(&job);
	free(job.crossing.list);
	for (size_t n = 0; n < REPLAY_RANGES; n++)
		arena_free(&job.values[n]);
	free(job.functions);
	free(job.events);
	view_where_free(job.where);
	free(job.bounds);
	view_lines_free(&job.lines);
	return result;
}
