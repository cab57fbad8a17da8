/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The summary as text. */
#include "view/losses.h"
#include "view/summary/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/number.h"
#include "base/print.h"
#include "base/text.h"
#include "burin/calls.h"
#include "read/trace.h"
#include "view/chunks_text.h"
#include "view/profile/profile_view.h"
#include "wire/wire_terms.h"

enum {
	NAME_COLUMNS_MAX = 40,
	KIND_COLUMNS = 7, /* more if a trace has spans with ids */
};

static const char *const bold = print_styles[PRINT_BOLD], *const warn = print_styles[PRINT_WARN],
			 *const off = print_styles[PRINT_OFF];

const char *view_state(const struct burin_trace *trace, bool *unfinished)
{
	const char *state = burin_trace_recording(trace, "state");

	if (!state)
		state = "unknown";
	*unfinished = strcmp(state, "finished") != 0;
	return state;
}

static void summary_heading(struct view_buffer *out, bool color, const char *text)
{
	view_buffer_print(out, "\n%s%s%s\n", color ? bold : "", text, color ? off : "");
}

static void summary_labelled(struct view_buffer *out, const char *label, const char *value)
{
	view_buffer_print(out, "%-10s %s\n", label, value);
}

static void print_state(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	const char *trouble = burin_trace_recording(trace, "trouble"), *text = view_unfinished(trace);
	bool unfinished;
	const char *state = view_state(trace, &unfinished);

	if (!unfinished)
		text = "finished";
	else if (!strcmp(state, "failed"))
		text = "failed: the recorder stopped early";
	view_buffer_print(out, "%-10s %s%s%s\n", "state", unfinished && color ? warn : "", text,
			  unfinished && color ? off : "");
	if (trouble)
		summary_labelled(out, "trouble", trouble);
}

static void print_chunks(const struct burin_trace *trace, struct view_buffer *out)
{
	const unsigned count = burin_trace_chunks(trace);
	const uint32_t first = burin_trace_chunk(trace, 0), last = burin_trace_chunk(trace, count - 1);

	if (count)
		view_buffer_print(out, "%-10s %u, %04" PRIu32 " to %04" PRIu32 "\n", "chunks", count, first,
				  last);
}

static void summary_print_time(const struct burin_trace *trace, struct view_buffer *out)
{
	uint64_t begin, end;
	char when[64] = "?", span[TEXT_SHORT];
	int64_t ns;
	time_t seconds;
	struct tm parts;

	if (burin_trace_range(trace, &begin, &end)) {
		summary_labelled(out, "time", "no records");
		return;
	}
	ns = burin_trace_ns(trace, begin);
	seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	if (localtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &parts);
	text_duration(span, (uint64_t)(burin_trace_ns(trace, end) - ns));
	view_buffer_print(out, "%-10s %s, %s long\n", "time", when, span);
}

static void print_amount(const struct burin_trace *trace, const struct read_counts *counts,
			 struct view_buffer *out)
{
	char records[TEXT_SHORT], packets[TEXT_SHORT], size[TEXT_SHORT], rate[TEXT_SHORT];
	uint64_t bytes = 0, packet_count = 0, begin, end, ns;

	for (unsigned n = 0; n < burin_trace_rings(trace); n++) {
		bytes += burin_trace_ring(trace, n)->bytes;
		packet_count += burin_trace_ring(trace, n)->packets;
	}
	view_buffer_print(out, "%-10s %s in %s packets of %u %s, %s", "records",
			  text_count(records, counts->records), text_count(packets, packet_count),
			  burin_trace_rings(trace), burin_trace_rings(trace) == 1 ? "ring" : "rings",
			  text_size(size, bytes));
	if (counts->records)
		view_buffer_print(out, ", %.1f bytes each", (double)bytes / (double)counts->records);
	burin_trace_range(trace, &begin, &end);
	ns = (uint64_t)(burin_trace_ns(trace, end) - burin_trace_ns(trace, begin));
	if (ns && counts->records)
		view_buffer_print(out, ", %s per second",
				  text_count(rate, (uint64_t)((double)counts->records * 1e9 / (double)ns)));
	view_buffer_print(out, "\n");
}

static void summary_print_head(const struct burin_trace *trace, const struct read_counts *counts, bool color,
			       struct view_buffer *out)
{
	static const struct {
		const char *label, *key;
	} rows[] = { { "command", "command" }, { "result", "result" },	 { "host", "hostname" },
		     { "kernel", "kernel" },   { "machine", "machine" }, { "mode", "mode" },
		     { "context", "context" } };
	const char *clock = burin_trace_recording(trace, "clock"),
		   *hz = burin_trace_recording(trace, "clock_hz");

	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		if (burin_trace_recording(trace, rows[n].key))
			summary_labelled(out, rows[n].label, burin_trace_recording(trace, rows[n].key));
	if (clock && hz)
		view_buffer_print(out, "%-10s %s, %.3f MHz\n", "clock", clock, (double)trace->clock.hz / 1e6);
	print_state(trace, color, out);
	print_chunks(trace, out);
	summary_print_time(trace, out);
	print_amount(trace, counts, out);
}

/* The width of the column of kinds. */
static int kind_columns(const struct burin_trace *trace)
{
	size_t columns = 0;

	for (uint32_t id = 1; id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);
		const size_t bytes = event ? strlen(wire_kind_words[event->kind]) : 0;

		columns = bytes > columns ? bytes : columns;
	}
	return columns > KIND_COLUMNS ? (int)columns : KIND_COLUMNS;
}

static void summary_print_event(const struct burin_event *event, uint64_t count, int columns,
				struct view_buffer *out)
{
	char number[TEXT_SHORT];

	view_buffer_print(out, "%16s  %-*s  %-*s  ", text_count(number, count), NAME_COLUMNS_MAX, event->name,
			  columns, wire_kind_words[event->kind]);
	if (event->line)
		view_buffer_print(out, "%s:%" PRIu32, event->file, event->line);
	view_buffer_print(out, "\n");
	if (event->refused) {
		view_buffer_print(out, "%16s  refused %u %s with another format", "", event->refused,
				  event->refused == 1 ? "time" : "times");
		if (*event->refused_file)
			view_buffer_print(out, ", last at %s:%" PRIu32, event->refused_file,
					  event->refused_line);
		view_buffer_print(out, "; those were not recorded\n");
	}
}

static void summary_print_refused(const struct burin_trace *trace, struct view_buffer *out)
{
	struct read_refusal refusal;
	const char *at = NULL;

	while (read_refusal_next(trace, &at, &refusal)) {
		if (*refusal.name)
			view_buffer_print(out, "%16s  %s  ", "refused", refusal.name);
		else
			view_buffer_print(out, "%16s  %u  ", "refused", refusal.times);
		if (*refusal.file)
			view_buffer_print(out, "%s:%u: ", refusal.file, refusal.line);
		view_buffer_print(out, "%s\n", refusal.why);
	}
}

struct ranked {
	uint32_t id;
	uint64_t count;
};

static int summary_by_count(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return number_order(other->count, one->count) ?: number_order(one->id, other->id);
}

/* The kernel has hundreds, such as those of all system calls: without records they are only counted. */
static bool is_idle_of_kernel(const struct burin_event *event, uint64_t count)
{
	return !count && event && strncmp(event->name, "kernel.", 7) == 0;
}

static void summary_print_events(const struct burin_trace *trace, const struct read_counts *counts,
				 bool color, struct view_buffer *out)
{
	unsigned count = burin_trace_events(trace), idle = 0;
	const int columns = kind_columns(trace);
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));
	char number[TEXT_SHORT];

	if (!ranked) {
		out->failed = true;
		return;
	}
	for (uint32_t n = 0; n < count; n++)
		ranked[n] = (struct ranked){ n + 1, counts->events[n + 1] };
	qsort(ranked, count, sizeof(*ranked), summary_by_count);
	summary_heading(out, color, "Events");
	for (unsigned n = 0; n < count; n++) {
		const struct burin_event *event = burin_trace_event(trace, ranked[n].id);

		if (is_idle_of_kernel(event, ranked[n].count))
			idle++;
		else if (event)
			summary_print_event(event, ranked[n].count, columns, out);
		else if (ranked[n].count)
			view_buffer_print(out, "%16s  (event %u, whose entry cannot be read)\n",
					  text_count(number, ranked[n].count), ranked[n].id);
	}
	if (idle)
		view_buffer_print(out, "%16s  %u other event%s of the kernel\n", "0", idle,
				  text_plural(idle));
	if (counts->unknown)
		view_buffer_print(out, "%16s  (events that are not in the table)\n",
				  text_count(number, counts->unknown));
	if (!count)
		view_buffer_print(out, "%16s  none\n", "");
	summary_print_refused(trace, out);
	free(ranked);
}

static void print_process(const struct burin_trace *trace, const struct burin_thread *thread,
			  struct view_buffer *out)
{
	const struct burin_process *process =
		thread ? burin_trace_process(trace, thread->pid, thread->time) : NULL;

	if (!thread) {
		view_buffer_print(
			out, "%16s  threads that did not announce themselves: without tracepoints\n", "");
		return;
	}
	view_buffer_print(out, "%16s  process %" PRIu32 "  ", "", thread->pid);
	if (process)
		view_buffer_print(out, "%s  (parent %" PRIu32 ")",
				  *process->command ? process->command : process->exe, process->parent);
	view_buffer_print(out, "\n");
}

/* The kernel's last name for a thread that did not announce itself. */
static void print_task(const struct burin_profile *profile, uint32_t tid, struct view_buffer *out)
{
	const struct burin_task *task = NULL;

	for (uint32_t n = burin_profile_tasks(profile); n > 0 && (!task || task->tid != tid); n--)
		task = burin_profile_task(profile, n);
	if (!task || task->tid != tid)
		return;
	view_buffer_print(out, "%s  (process %" PRIu32 ")", task->name, task->pid);
}

static void print_threads(const struct burin_trace *trace, const struct read_counts *counts, bool color,
			  struct view_buffer *out)
{
	struct burin_profile *profile = NULL;
	char number[TEXT_SHORT];

	out->failed |= burin_profile_open(&profile, trace) == -ENOMEM;
	summary_heading(out, color, "Processes and threads");
	for (size_t n = 0; n < counts->thread_count; n++) {
		const struct read_thread_count *entry = &counts->threads[n];
		const struct burin_thread *last = n ? entry[-1].thread : NULL;

		if (!n || !entry->thread != !last || (last && entry->thread->pid != last->pid))
			print_process(trace, entry->thread, out);
		view_buffer_print(out, "%16s    %-8" PRIu32 " ", text_count(number, entry->count),
				  entry->tid);
		if (entry->thread)
			view_buffer_escape(out, entry->thread->name);
		else if (profile)
			print_task(profile, entry->tid, out);
		view_buffer_print(out, "\n");
	}
	burin_profile_close(profile);
	if (counts->uncounted)
		view_buffer_print(out, "%16s    of further threads, which are not counted one by one\n",
				  text_count(number, counts->uncounted));
	if (!counts->thread_count)
		view_buffer_print(out, "%16s  none\n", "");
}

static void print_faults(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	struct burin_skipped skipped;
	char number[TEXT_SHORT], packets[TEXT_SHORT], records[TEXT_SHORT];
	uint64_t faults = burin_trace_faults(trace);

	if (!faults)
		return;
	burin_trace_skipped(trace, &skipped);
	view_buffer_print(out,
			  "%s%s faults%s; %s packets and %s records could not be read; see burin check\n",
			  color ? warn : "", text_count(number, faults), color ? off : "",
			  text_count(packets, skipped.packets), text_count(records, skipped.records));
}

static void print_samples(const struct burin_trace *trace, bool color, struct view_buffer *out)
{
	struct burin_profile *profile;
	char received[TEXT_SHORT], attributed[TEXT_SHORT];
	const char *frequency;

	out->failed |= burin_profile_open(&profile, trace) == -ENOMEM;
	if (!profile)
		return;
	summary_heading(out, color, "Samples");
	view_buffer_print(out, "%s received, %s attributed",
			  text_count(received, burin_profile_number(profile, "received")),
			  text_count(attributed, burin_profile_number(profile, "attributed")));
	frequency = burin_profile_value(profile, "frequency");
	if (frequency)
		view_buffer_print(out, "; requested: %s Hz", frequency);
	view_buffer_print(out, "\n");
	view_ledger_text(trace, profile, NULL, color, SIZE_MAX, out);
	burin_profile_close(profile);
}

int view_calls_sum(const struct burin_trace *trace, const struct read_counts *counts,
		   struct view_calls_sum *sum)
{
	struct burin_calls *calls;
	int result = burin_calls_open(&calls, trace);

	*sum = (struct view_calls_sum){ .functions = 0 };
	if (result)
		return result;
	for (uint32_t id = 1; id <= burin_trace_events(trace); id++)
		if (burin_calls_is_call(calls, burin_trace_event(trace, id)))
			sum->calls = counts->events[id];
	sum->open = burin_calls_open_count(calls);
	for (uint32_t n = 1; n <= burin_calls_functions(calls); n++) {
		struct burin_function function;

		sum->counted += burin_calls_count(calls, n);
		if (!burin_calls_function(calls, n, &function) && function.same == n)
			sum->functions++;
	}
	burin_calls_close(calls);
	return 0;
}

static void summary_print_calls(const struct burin_trace *trace, const struct read_counts *counts, bool color,
				struct view_buffer *out)
{
	struct view_calls_sum sum;
	const int result = view_calls_sum(trace, counts, &sum);
	char number[TEXT_SHORT];

	out->failed |= result == -ENOMEM;
	if (result)
		return;
	summary_heading(out, color, "Calls");
	view_buffer_print(out, "%16s  of %" PRIu64 " functions\n", text_count(number, sum.calls),
			  sum.functions);
	if (sum.open)
		view_buffer_print(out, "%16s  open: they had not ended\n", text_count(number, sum.open));
	if (sum.counted)
		view_buffer_print(out, "%16s  only counted\n", text_count(number, sum.counted));
}

void view_summary_text(const struct burin_trace *trace, const struct read_counts *counts, bool color,
		       struct view_buffer *out)
{
	uint64_t steps = view_recorded(trace, "clock_steps");
	struct view_buffer missing = { .used = 0 }, switched = { .used = 0 };

	summary_print_head(trace, counts, color, out);
	summary_print_events(trace, counts, color, out);
	print_threads(trace, counts, color, out);
	print_samples(trace, color, out);
	summary_print_calls(trace, counts, color, out);
	view_history_text(trace, color, out);
	view_losses_text(trace, color, &missing);
	view_off_text(trace, color, &switched);
	summary_heading(out, color, "Missing");
	if (missing.used)
		view_buffer_add(out, &missing);
	else
		view_buffer_print(out, "nothing was lost%s\n",
				  switched.used ? " of events that were on" : "");
	view_buffer_add(out, &switched);
	if (steps)
		view_buffer_print(
			out, "the clock went back before %" PRIu64 " records; their times were clamped\n",
			steps);
	print_faults(trace, color, out);
	out->failed |= missing.failed | switched.failed;
	view_buffer_free(&missing);
	view_buffer_free(&switched);
}
