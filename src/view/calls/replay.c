/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Replay of calls; see replay.h. */
#include "view/calls/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/calls/replay_parts.h"
#include "view/profile/symbol_label.h"

enum {
	SLICE_BYTES = 1 << 20,
	SLICE_BYTES_RING = 1 << 18, /* per ring, since each slice seeks in each ring anew */
};

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
	if (!replay->functions.count)
		return 0;
	job->functions = view_call_names_select(&job->lines.calls, &replay->functions, view_symbol_fits);
	return job->functions ? 0 : -ENOMEM;
}

static int cut(struct replay_job *job)
{
	uint64_t bytes = (uint64_t)SLICE_BYTES_RING * burin_trace_rings(job->trace);
	ssize_t slices;

	if (bytes < SLICE_BYTES)
		bytes = SLICE_BYTES;
	slices = read_time_partition(job->trace, job->replay->from, job->replay->to, bytes, &job->bounds);
	if (slices < 0)
		return (int)slices;
	job->slices = (size_t)slices;
	return 0;
}

static int run(struct replay_job *job)
{
	int result = job->lines.calls.calls ? select_all(job) : -ENODATA;

	if (!result)
		result = cut(job);
	if (!result)
		result = replay_find_crossing(job);
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

int view_replay(const struct burin_trace *trace, const struct view_replay *replay)
{
	struct replay_job job = { .trace = trace, .replay = replay };
	int result = view_lines_make(&job.lines, trace, &replay->style);

	if (result)
		return result;
	result = run(&job);
	replay_workers_free(&job);
	free(job.crossing.list);
	arena_free(&job.values);
	free(job.functions);
	free(job.events);
	free(job.bounds);
	view_lines_free(&job.lines);
	return result;
}
