/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Dumping: each slice of time is merged, filtered and rendered by a thread with a cursor of its own. */
#include "view/dump.h"

#include <errno.h>
#include <stdlib.h>

#include "read/trace.h"
#include "view/ordered.h"

enum {
	SLICE_BYTES = 1 << 20,
	SLICE_BYTES_RING = 1 << 18, /* for each ring at least, as every slice enters every ring anew */
	SLICE_BYTES_FEW = 1 << 16,  /* with a limit: not much more than is wanted */
};

struct dumping {
	const struct burin_trace *trace;
	const struct view_dump *dump;
	struct view_lines lines;
	bool *wanted; /* events by id - 1, those of the names behind the last */
	uint64_t *bounds;
	struct dumper {
		struct burin_cursor *cursor;
		struct view_liner liner;
	} * dumpers;
};

static bool record_wanted(const struct dumping *dumping, struct view_liner *liner,
			  const struct burin_record *record)
{
	const struct view_dump *dump = dumping->dump;
	unsigned names = record->ring == UINT32_MAX ? dumping->lines.event_count : 0;

	if (!dumping->wanted[record->event->id - 1 + names])
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
		const struct view_person *person = view_liner_person(liner, record);

		return person->known && view_set_has(&dump->pids, person->pid);
	}
	return true;
}

static int render_slice(void *data, unsigned worker, size_t slice, struct view_ordered *ordered,
			struct view_buffer *out)
{
	struct dumping *dumping = data;
	struct dumper *dumper = &dumping->dumpers[worker];
	const struct burin_record *record;
	int result;

	if (!dumper->cursor) {
		const struct burin_cursor_options options = {
			.size = sizeof(options),
			.flags = dumping->dump->names ? BURIN_CURSOR_NAMES : 0,
			.from = dumping->bounds[slice],
			.to = dumping->bounds[slice + 1],
		};

		result = burin_cursor_open(&dumper->cursor, dumping->trace, &options);
	} else {
		result = read_cursor_span(dumper->cursor, dumping->bounds[slice], dumping->bounds[slice + 1]);
	}
	while (!result && (result = burin_cursor_next(dumper->cursor, &record)) > 0) {
		result = 0;
		if (!record_wanted(dumping, &dumper->liner, record))
			continue;
		view_liner_render(&dumper->liner, record, out);
		result = view_ordered_pause(ordered, slice, out);
	}
	return result;
}

static int choose_events(struct dumping *dumping)
{
	const struct burin_trace *trace = dumping->trace;
	unsigned count = burin_trace_events(trace);

	dumping->wanted = calloc(count + 2, sizeof(*dumping->wanted));
	if (!dumping->wanted)
		return -ENOMEM;
	for (unsigned n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(trace, n + 1);

		dumping->wanted[n] = event && view_globs_match(&dumping->dump->events, event->name);
	}
	for (unsigned n = 0; n < 2; n++)
		dumping->wanted[count + n] =
			view_globs_match(&dumping->dump->events, trace->name_events[n].open.name);
	return 0;
}

static int run(struct dumping *dumping)
{
	const struct view_dump *dump = dumping->dump;
	uint64_t bytes = (uint64_t)SLICE_BYTES_RING * burin_trace_rings(dumping->trace);
	ssize_t slices;

	if (bytes < SLICE_BYTES)
		bytes = SLICE_BYTES;
	if (dump->limit && dump->limit < 10000)
		bytes = SLICE_BYTES_FEW;
	slices = read_slices(dumping->trace, dump->from, dump->to, bytes, &dumping->bounds);
	if (slices < 0)
		return (int)slices;
	for (unsigned n = 0; n < dump->threads; n++)
		dumping->dumpers[n].liner.lines = &dumping->lines;
	return view_ordered_run(&(struct view_ordered_work){
		.slices = (size_t)slices,
		.threads = dump->threads,
		.file = dump->file,
		.lines = dump->limit,
		.render = render_slice,
		.data = dumping,
	});
}

int view_dump(const struct burin_trace *trace, const struct view_dump *dump)
{
	struct dumping dumping = { .trace = trace, .dump = dump };
	int result = view_lines_make(&dumping.lines, trace, &dump->style);

	if (result)
		return result;
	result = choose_events(&dumping);
	dumping.dumpers = calloc(dump->threads, sizeof(*dumping.dumpers));
	if (!result)
		result = dumping.dumpers ? run(&dumping) : -ENOMEM;
	for (unsigned n = 0; dumping.dumpers && n < dump->threads; n++)
		burin_cursor_close(dumping.dumpers[n].cursor);
	free(dumping.dumpers);
	free(dumping.bounds);
	free(dumping.wanted);
	view_lines_free(&dumping.lines);
	return result;
}
