/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A trace: opened, merged, sought in, counted, printed and checked. */
#include <fcntl.h>

#include "../read/touch.h"
#include "fuzz.h"
#include "read/trace.h"
#include "view/blame/slowest.h"
#include "view/blame/tail_report.h"
#include "view/sched/critical.h"
#include "view/sched/sched_report.h"
#include "view/spans/span_stats.h"
#include "view/syscalls/syscall_dump.h"
#include "view/syscalls/syscall_stats.h"
#include "view/records/dump.h"
#include "view/summary/summary.h"

static int nowhere = -1;

static void merge(const struct burin_trace *trace)
{
	const struct burin_cursor_options options = { .size = sizeof(options), .flags = BURIN_CURSOR_NAMES };
	const struct burin_record *record;
	struct burin_cursor *cursor;
	uint64_t last = 0, begin, end, middle;
	uint64_t sum = 0;

	if (burin_cursor_open(&cursor, trace, &options))
		return;
	while (burin_cursor_next(cursor, &record) > 0) {
		FUZZ_HOLDS(record->time >= last);
		last = record->time;
		FUZZ_HOLDS(touch_record(record, &sum));
		burin_trace_thread(trace, record->tid, record->time);
		burin_trace_process(trace, record->tid, record->time);
		burin_trace_ticks(trace, burin_trace_ns(trace, record->time));
	}
	burin_trace_range(trace, &begin, &end);
	middle = begin + (end - begin) / 2;
	burin_cursor_seek(cursor, middle);
	if (burin_cursor_next(cursor, &record) > 0)
		FUZZ_HOLDS(record->time >= middle);
	burin_cursor_close(cursor);
	fuzz_use(sum);
}

/* All outputs of every input would be slow: one of them, by the input's size. */
static void print(const struct burin_trace *trace, size_t size)
{
	const struct view_dump dump = {
		.style.json = size % 4 == 1, .names = true, .threads = 1, .file = nowhere
	};
	struct view_buffer out = { .used = 0 };
	struct read_counts counts;

	if (size % 4 < 2) {
		view_dump(trace, &dump);
		return;
	}
	if (read_count(trace, 1, &counts))
		return;
	if (size % 4 == 2)
		view_summary_text(trace, &counts, true, &out);
	else
		view_summary_json(trace, &counts, &out);
	read_counts_free(&counts);
	view_buffer_free(&out);
}

/* The reports of the kernel's events; one form of each, by the input's size. */
static void report_kernel(const struct burin_trace *trace, size_t size)
{
	const struct view_profile_filter filter = { .from = 0 };
	const struct view_report all = { .by = { VIEW_SYMBOL },
					 .by_count = 1,
					 .limit = UINT64_MAX,
					 .form = (enum table_form)(size % 3) },
				 threads = { .by = { VIEW_THREAD, VIEW_TID },
					     .by_count = 2,
					     .limit = UINT64_MAX,
					     .form = (enum table_form)(size % 3) };
	const struct view_dump dump = { .style.json = size % 2, .threads = 1, .file = nowhere };
	struct view_buffer out = { .used = 0 };
	struct syscall_stats stats;
	struct sched_report sched;
	struct critical critical;

	view_syscall_dump(trace, &dump);
	if (syscall_stats_make(&stats, trace, &filter, 1 << VIEW_SYMBOL) == 0) {
		syscall_stats_print(&stats, &all, &out);
		syscall_stats_free(&stats);
	}
	if (sched_report_make(&sched, trace, &filter, 1 << VIEW_THREAD | 1 << VIEW_TID) == 0) {
		FUZZ_HOLDS(sched.wall == sched.time[SCHED_RUNNING] + sched.time[SCHED_RUNNABLE] +
						 sched.time[SCHED_BLOCKED]);
		sched_report_print(&sched, &threads, &out);
		sched_report_free(&sched);
	}
	if (critical_make(&critical, trace, "*", &filter) == 0) {
		for (size_t n = 0; n < critical.span_count; n++)
			FUZZ_HOLDS(critical.spans[n].time ==
				   critical.spans[n].states[SCHED_RUNNING] +
					   critical.spans[n].states[SCHED_RUNNABLE] +
					   critical.spans[n].states[SCHED_BLOCKED] +
					   critical.spans[n].states[SCHED_UNKNOWN]);
		critical_print(&critical, &threads, &out);
		critical_free(&critical);
	}
	view_buffer_free(&out);
}

/* All kinds of spans, and pairs of any event with any other one. A span's own time is never longer than the span. */
static void report_spans(const struct burin_trace *trace, size_t size)
{
	static const char *all[] = { "*", NULL };
	static const struct span_pair pair = { .name = "any", .begin = "*", .end = "*" };
	const struct view_globs names = { .globs = all, .count = 1 };
	const struct view_profile_filter filter = { .from = 0 };
	const struct span_options options = {
		.choice = { .names = &names,
			    .pairs = &pair,
			    .pair_count = 1,
			    .by = { "n", "text" },
			    .by_count = 2 },
		.filter = &filter,
		.parts = 1 << VIEW_TID,
		.by_parent = size % 2,
		.threads = 1,
	};
	const struct column columns[] = { COLUMN_NAME("span", TEXT, SPAN_PART_NAME),
					  COLUMN_NAME("by_n", TEXT, SPAN_PART_FIELD) };
	const struct view_report report = { .limit = UINT64_MAX, .form = (enum table_form)(size % 3) };
	struct view_buffer out = { .used = 0 };
	const char *missing;
	struct span_stats stats;

	if (span_stats_make(&stats, trace, &options, &missing) != 0)
		return;
	for (size_t n = 0; n < stats.rows.count; n++)
		FUZZ_HOLDS(stats.rows.rows[n]->self <= stats.rows.rows[n]->total);
	span_stats_print(&stats, &report, columns, 2, true, &out);
	span_stats_free(&stats);
	view_buffer_free(&out);
}

/* The slowest spans of all kinds, and the comparison of each name. */
static void report_slowest(const struct burin_trace *trace, size_t size)
{
	static const char *globs[] = { "*", "syscall:*", "call:*", NULL };
	const struct view_globs names = { .globs = globs, .count = 3 };
	const struct view_profile_filter filter = { .from = 0 };
	const struct span_options spans = { .choice = { .names = &names }, .filter = &filter, .threads = 1 };
	const struct span_pick_options options = { .spans = &spans,
						   .count = size % 2 ? 20 : 0,
						   .share = size % 2 ? 0 : 0.2 };
	const struct view_report report = { .limit = UINT64_MAX, .form = (enum table_form)(size % 3) };
	struct view_buffer out = { .used = 0 };
	const char *missing;
	struct span_pick pick;

	if (span_pick_make(&pick, trace, &options, &missing) != 0)
		return;
	for (size_t n = 0; n < pick.group_count; n++)
		FUZZ_HOLDS(pick.groups[n].slowest.count && pick.groups[n].slowest.count <= pick.spans);
	if (options.share > 0)
		tail_print(&pick, &report, "20%", "trace", &out);
	else
		slowest_print(&pick, &report, &out);
	span_pick_free(&pick);
	view_buffer_free(&out);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return archive_mutate(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct burin_check_result result;
	struct burin_trace *trace;

	if (nowhere < 0)
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	archive_unpack(data, size);
	burin_trace_check(archive_directory(), NULL, &result, NULL);
	if (burin_trace_open(&trace, archive_directory(), NULL, NULL))
		return 0;
	merge(trace);
	print(trace, size);
	report_kernel(trace, size);
	report_spans(trace, size);
	report_slowest(trace, size);
	burin_trace_close(trace);
	return 0;
}
