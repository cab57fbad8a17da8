/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where threads spent their time, as text. */
#include <string.h>

#include "base/print.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_report.h"
#include "view/sched/sched_stacks.h"
#include "view/losses.h"
#include "view/name_columns.h"

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

enum {
	PARTS_SHOWN = 4,  /* of what a row is blocked in, and of who woke it */
	STACKS_SHOWN = 3, /* of each of these */
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *part_text(const struct sched_report *report, const struct sched_row *row,
			     enum view_part part)
{
	return report->strings.texts[row->task[part]];
}

/* The stacks of a part of a row; those that look the same are one line. */
struct shown_stacks {
	const char *texts[STACKS_SHOWN];
	uint64_t counts[STACKS_SHOWN];
	size_t count, left;
};

static void add_shown(struct shown_stacks *shown, const char *text, uint64_t count)
{
	for (size_t n = 0; n < shown->count; n++)
		if (sched_stack_same(shown->texts[n], text)) {
			shown->counts[n] += count;
			return;
		}
	if (shown->count == STACKS_SHOWN) {
		shown->left++;
		return;
	}
	shown->texts[shown->count] = text;
	shown->counts[shown->count++] = count;
}

static void print_stacks(const struct sched_report *report, const struct sched_parts *stacks,
			 const struct sched_part *of, struct view_buffer *out)
{
	struct shown_stacks shown = { .count = 0 };
	char count[TEXT_SHORT];

	for (size_t n = 0; n < stacks->count; n++)
		if (stacks->parts[n].text == of->text)
			add_shown(&shown, report->strings.texts[stacks->parts[n].stack],
				  stacks->parts[n].count);
	for (size_t n = 0; n < shown.count; n++) {
		view_buffer_print(out, "%53s%9s x    ", "", text_count(count, shown.counts[n]));
		sched_stack_text(shown.texts[n], out);
		view_buffer_print(out, "\n");
	}
	if (shown.left)
		view_buffer_print(out, "%68sand at %s other%s\n", "", text_count(count, shown.left),
				  shown.left == 1 ? "" : "s");
}

static void print_parts(const struct sched_report *report, const struct sched_row *row, bool color,
			struct view_buffer *out)
{
	char text[TEXT_SHORT], count[TEXT_SHORT];

	view_buffer_print(out, "%s", color ? dim : "");
	for (size_t n = 0; n < row->blocked.count && n < PARTS_SHOWN; n++) {
		view_buffer_print(out, "%34s%6.2f%% %10s %9s x  in %s\n", "",
				  percent(row->blocked.parts[n].time, row->wall),
				  text_duration(text, row->blocked.parts[n].time),
				  text_count(count, row->blocked.parts[n].count),
				  report->strings.texts[row->blocked.parts[n].text]);
		print_stacks(report, &row->blocked_stacks, &row->blocked.parts[n], out);
	}
	if (row->blocked.count > PARTS_SHOWN)
		view_buffer_print(out, "%34sand in %s others\n", "",
				  text_count(count, row->blocked.count - PARTS_SHOWN));
	for (size_t n = 0; n < row->wakers.count && n < PARTS_SHOWN; n++) {
		view_buffer_print(out, "%53s%9s x  woken by %s\n", "",
				  text_count(count, row->wakers.parts[n].count),
				  report->strings.texts[row->wakers.parts[n].text]);
		print_stacks(report, &row->waker_stacks, &row->wakers.parts[n], out);
	}
	if (row->wakers.count > PARTS_SHOWN)
		view_buffer_print(out, "%66sand by %s others\n", "",
				  text_count(count, row->wakers.count - PARTS_SHOWN));
	view_buffer_print(out, "%s", color ? off : "");
}

static void print_row(const struct sched_report *report, const struct view_report *options,
		      const unsigned *widths, const struct sched_row *row, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_buffer_print(out, "%10s  ", text_duration(text, row->wall));
	for (unsigned state = 0; state < SCHED_STATES; state++)
		view_buffer_print(out, "%7.2f%%  ", percent(row->time[state], row->wall));
	view_buffer_print(out, "%9s  ", text_count(text, row->runs));
	view_buffer_print(out, "%9s  ", text_count(text, row->preempted));
	view_buffer_print(out, "%9s  ", text_count(text, row->latencies.count));
	view_buffer_print(out, "%8s  ",
			  row->latencies.count
				  ? text_duration(text, call_durations_quantile(&row->latencies, 50))
				  : "-");
	view_buffer_print(out, "%8s  ",
			  row->latencies.count
				  ? text_duration(text, call_durations_quantile(&row->latencies, 99))
				  : "-");
	view_buffer_print(out, "%8s  ", row->latencies.count ? text_duration(text, row->latencies.max) : "-");
	for (unsigned n = 0; n < options->by_count; n++)
		view_column(out, part_text(report, row, options->by[n]),
			    n + 1 < options->by_count ? widths[n] : 0, false);
	view_buffer_print(out, "\n");
	print_parts(report, row, options->color, out);
}

void sched_report_text(struct sched_report *report, const struct view_report *options,
		       struct view_buffer *out)
{
	const size_t shown = report->count < options->limit ? report->count : (size_t)options->limit;
	unsigned widths[VIEW_PARTS] = { 0 };
	char threads[TEXT_SHORT], wall[TEXT_SHORT], time[SCHED_STATES][TEXT_SHORT];

	for (unsigned state = 0; state < SCHED_STATES; state++)
		text_duration(time[state], report->time[state]);
	view_buffer_print(out, "%s thread%s, %s: running %s, waiting for a CPU %s, blocked %s\n",
			  text_count(threads, report->threads), report->threads == 1 ? "" : "s",
			  text_duration(wall, report->wall), time[SCHED_RUNNING], time[SCHED_RUNNABLE],
			  time[SCHED_BLOCKED]);
	if (shown) {
		view_buffer_print(
			out,
			"\n%s      TIME   RUNNING  RUNNABLE   BLOCKED       RUNS  PREEMPTED      WOKEN   "
			"    P50       P99       MAX  ",
			options->color ? bold : "");
		for (unsigned n = 0; n < options->by_count; n++) {
			const char *title = view_part_name(options->by[n]);

			widths[n] = (unsigned)strlen(title);
			for (size_t row = 0; row < shown; row++)
				widths[n] = view_column_wider(
					widths[n], part_text(report, report->rows[row], options->by[n]));
			view_column_title(out, title, n + 1 < options->by_count ? widths[n] : 0);
		}
		view_buffer_print(out, "%s\n", options->color ? off : "");
	}
	for (size_t n = 0; n < shown; n++)
		print_row(report, options, widths, report->rows[n], out);
	if (!report->count)
		view_buffer_print(out, "no recorded thread matches the options\n");
	if (report->count > shown)
		view_buffer_print(out, "%s more rows; see --limit\n",
				  text_count(threads, report->count - shown));
	view_buffer_print(out, "\n");
	view_losses_line(report->trace, "", out);
	sched_missing_text(&report->missing, out);
	if (!report->has_wakes)
		view_buffer_print(out, "no wake-ups are in the trace: waiting for a CPU after one counts as "
				       "blocked; record with --sched\n");
}
