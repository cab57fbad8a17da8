/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Each thread merges, filters and renders slices of time with its own cursor. */
#include "view/records/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "read/trace.h"
#include "view/ordered.h"

enum {
	SLICE_BYTES = 1 << 20,
	SLICE_BYTES_RING = 1 << 18, /* per ring, since each slice seeks in each ring anew */
	SLICE_BYTES_FEW = 1 << 16,  /* with a small --limit: render little more than is printed */
};

struct dump_job {
	const struct burin_trace *trace;
	const struct view_dump *dump;
	struct view_lines lines;
	struct view_where *where;
	bool *selected;	 /* by event id - 1; the events of the names ring follow */
	bool *functions; /* by number; NULL: all */
	uint64_t *bounds;
	struct dump_worker {
		struct burin_cursor *cursor;
		struct view_line_formatter formatter;
	} * workers;
};

static bool function_selected(const struct dump_job *job, const struct burin_record *record)
{
	const struct burin_calls *calls = job->lines.calls.calls;
	struct burin_call call;

	return calls && !burin_calls_call(calls, record, &call) && job->functions[call.function];
}

static bool record_selected(const struct dump_job *job, struct view_line_formatter *formatter,
			    const struct burin_record *record)
{
	const struct view_dump *dump = job->dump;
	unsigned names = record->ring == UINT32_MAX ? job->lines.event_count : 0;

	if (!job->selected[record->event->id - 1 + names])
		return false;
	if (job->where && !view_where_holds(job->where, record))
		return false;
	if (job->functions && !function_selected(job, record))
		return false;
	if (dump->tids.count && !view_set_has(&dump->tids, record->tid))
		return false;
	if (dump->cpus.count && !view_set_has(&dump->cpus, record->cpu))
		return false;
	if (dump->correlations.count) {
		uint64_t id;

		if (burin_record_correlation(record, &id) || !view_set_has(&dump->correlations, id))
			return false;
	}
	if (dump->pids.count) {
		const struct view_thread_label *label = view_line_formatter_label(formatter, record);

		return label->has_pid && view_set_has(&dump->pids, label->pid);
	}
	return true;
}

static int render_slice(void *data, unsigned number, size_t slice, struct view_ordered *ordered,
			struct view_buffer *out)
{
	struct dump_job *job = data;
	struct dump_worker *worker = &job->workers[number];
	const struct burin_record *record;
	int result;

	if (!worker->cursor) {
		const struct burin_cursor_options options = {
			.size = sizeof(options),
			.flags = job->dump->names ? BURIN_CURSOR_NAMES : 0,
			.from = job->bounds[slice],
			.to = job->bounds[slice + 1],
		};

		result = burin_cursor_open(&worker->cursor, job->trace, &options);
	} else {
		result = read_cursor_span(worker->cursor, job->bounds[slice], job->bounds[slice + 1]);
	}
	while (!result && (result = burin_cursor_next(worker->cursor, &record)) > 0) {
		result = 0;
		if (!record_selected(job, &worker->formatter, record))
			continue;
		view_line_formatter_render(&worker->formatter, record, out);
		result = view_ordered_pause(ordered, slice, out);
	}
	return result;
}

static bool glob_fits(const char *glob, const char *name)
{
	return strcmp(glob, name) == 0 || glob_match(glob, name);
}

static int dump_select_events(struct dump_job *job)
{
	const struct burin_trace *trace = job->trace;
	unsigned count = burin_trace_events(trace);

	job->selected = calloc(count + READ_NAME_EVENTS, sizeof(*job->selected));
	if (!job->selected)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(trace, n + 1);

		job->selected[n] = event && view_globs_match(&job->dump->events, event->name);
	}
	for (unsigned n = 0; n < READ_NAME_EVENTS; n++)
		job->selected[count + n] =
			view_globs_match(&job->dump->events, trace->name_events[n].open.name);
	if (job->dump->functions.count)
		job->functions = view_call_names_select(&job->lines.calls, &job->dump->functions, glob_fits);
	return job->dump->functions.count && !job->functions ? -ENOMEM : 0;
}

static int dump_run(struct dump_job *job)
{
	const struct view_dump *dump = job->dump;
	uint64_t bytes = (uint64_t)SLICE_BYTES_RING * burin_trace_rings(job->trace);
	ssize_t slices;

	if (bytes < SLICE_BYTES)
		bytes = SLICE_BYTES;
	if (dump->limit && dump->limit < 10000)
		bytes = SLICE_BYTES_FEW;
	slices = read_time_partition(job->trace, dump->from, dump->to, bytes, bytes, &job->bounds);
	if (slices < 0)
		return (int)slices;
	for (unsigned n = 0; n < dump->threads; n++)
		job->workers[n].formatter.lines = &job->lines;
	return view_ordered_run(&(struct view_ordered_work){
		.slices = (size_t)slices,
		.threads = dump->threads,
		.file = dump->file,
		.lines = dump->limit,
		.render = render_slice,
		.data = job,
	});
}

int view_dump(const struct burin_trace *trace, const struct view_dump *dump)
{
	struct dump_job job = { .trace = trace, .dump = dump };
	int result = view_lines_make(&job.lines, trace, &dump->style);

	if (result)
		return result;
	result = dump_select_events(&job);
	if (!result)
		result = view_where_make(&job.where, trace, job.lines.profile, &dump->where, job.selected);
	job.workers = calloc(dump->threads, sizeof(*job.workers));
	if (!result)
		result = job.workers ? dump_run(&job) : -ENOMEM;
	for (unsigned n = 0; job.workers && n < dump->threads; n++)
		burin_cursor_close(job.workers[n].cursor);
	free(job.workers);
	free(job.bounds);
	free(job.selected);
	free(job.functions);
	view_where_free(job.where);
	view_lines_free(&job.lines);
	return result;
}
