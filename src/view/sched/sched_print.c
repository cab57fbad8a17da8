/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where threads spent their time, as text, as JSON (docs/schema/report-sched.json) and as CSV; the columns of burin report --sched. */
#include "base/print.h"
#include "base/text.h"
#include "view/losses.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_report.h"
#include "view/sched/sched_stacks.h"

static const char *const dim = print_styles[PRINT_DIM], *const off = print_styles[PRINT_OFF];

enum {
	PARTS_SHOWN = 4,  /* of what a row is blocked in, and of who woke it */
	STACKS_SHOWN = 3, /* of each of these */
};

/* ---- Lines below a row */

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
				  text_plural(shown.left));
}

static void sched_row_below(const struct table *table, const void *data, struct view_buffer *out)
{
	const struct sched_report *report = table->data;
	const struct sched_row *row = data;
	char text[TEXT_SHORT], count[TEXT_SHORT];

	view_buffer_print(out, "%s", table->color ? dim : "");
	for (size_t n = 0; n < row->blocked.count && n < PARTS_SHOWN; n++) {
		view_buffer_print(out, "%34s%6.2f%% %10s %9s x  in %s\n", "",
				  table_percent(row->blocked.parts[n].time, row->row.total),
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
	view_buffer_print(out, "%s", table->color ? off : "");
}

/* ---- Columns */

static void stacks_json(struct json *json, const struct sched_report *report, const char *time,
			const struct sched_parts *stacks, const struct sched_part *of)
{
	json_array(json, "stacks");
	for (size_t n = 0; n < stacks->count; n++) {
		const struct sched_part *part = &stacks->parts[n];

		if (part->text != of->text)
			continue;
		json_object(json, NULL);
		sched_stack_json(report->strings.texts[part->stack], "stack", json);
		json_u64(json, "count", part->count);
		json_u64(json, time, part->time);
		json_end(json);
	}
	json_end(json);
}

static void parts_json(struct json *json, const struct sched_report *report, const char *text,
		       const char *time, const struct sched_parts *parts, const struct sched_parts *stacks)
{
	json_array(json, NULL);
	for (size_t n = 0; n < parts->count; n++) {
		json_object(json, NULL);
		json_text(json, text, report->strings.texts[parts->parts[n].text]);
		json_u64(json, "count", parts->parts[n].count);
		json_u64(json, time, parts->parts[n].time);
		if (report->has_stacks)
			stacks_json(json, report, time, stacks, &parts->parts[n]);
		json_end(json);
	}
	json_end(json);
}

static void blocked_json(const struct table *table, const void *data, struct json *json)
{
	const struct sched_row *row = data;

	parts_json(json, table->data, "in", "time_ns", &row->blocked, &row->blocked_stacks);
}

static void wakers_json(const struct table *table, const void *data, struct json *json)
{
	const struct sched_row *row = data;

	parts_json(json, table->data, "waker", "latency_ns", &row->wakers, &row->waker_stacks);
}

static const struct column_list blocked_list = { .json = blocked_json }, waker_list = { .json = wakers_json };

#define STATE_COLUMN(name, head, state)                             \
	COLUMN(name, head, SHARE, 8, struct sched_row, time[state], \
	       .whole = offsetof(struct sched_row, row.total))
#define LATENCY_COLUMN(name, head, which) \
	CALL_DURATION_COLUMN(name, head, 8, struct sched_row, row.durations, which)

static const struct column sched_columns[] = {
	COLUMN("threads", NULL, COUNT, 0, struct sched_row, threads),
	COLUMN("time_ns", "TIME", DURATION, 10, struct sched_row, row.total),
	STATE_COLUMN("running_ns", "RUNNING", SCHED_RUNNING),
	STATE_COLUMN("runnable_ns", "RUNNABLE", SCHED_RUNNABLE),
	STATE_COLUMN("blocked_ns", "BLOCKED", SCHED_BLOCKED),
	COLUMN("runs", "RUNS", COUNT, 9, struct sched_row, runs),
	COLUMN("preempted", "PREEMPTED", COUNT, 9, struct sched_row, preempted),
	COLUMN("woken", "WOKEN", COUNT, 9, struct sched_row, row.durations.count),
	LATENCY_COLUMN("latency_average_ns", NULL, CALL_AVERAGE),
	LATENCY_COLUMN("latency_p50_ns", "P50", 500),
	LATENCY_COLUMN("latency_p99_ns", "P99", 990),
	LATENCY_COLUMN("latency_max_ns", "MAX", CALL_MAX),
	{ .key = "blocked", .kind = COLUMN_LIST, .list = &blocked_list },
	{ .key = "wakers", .kind = COLUMN_LIST, .list = &waker_list },
	{ 0 },
};

static const char *sched_row_name(const void *data, const void *row, unsigned part)
{
	const struct sched_report *report = data;
	const struct call_row *of = row;

	return report->strings.texts[of->task[part]];
}

/* ---- Output */

static void sched_report_json(const struct sched_report *report, const struct table *rows,
			      struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 2);
	json_u64(&json, "threads", report->threads);
	json_u64(&json, "time_ns", report->wall);
	json_u64(&json, "running_ns", report->time[SCHED_RUNNING]);
	json_u64(&json, "runnable_ns", report->time[SCHED_RUNNABLE]);
	json_u64(&json, "blocked_ns", report->time[SCHED_BLOCKED]);
	json_bool(&json, "has_wakeups", report->has_wakes);
	view_losses_json(report->trace, &json);
	sched_missing_json(&report->missing, &json);
	table_json(rows, &json, "rows");
	json_end(&json);
}

static void sched_report_text(const struct sched_report *report, const struct table *rows,
			      struct view_buffer *out)
{
	char threads[TEXT_SHORT], wall[TEXT_SHORT], time[SCHED_STATES][TEXT_SHORT];

	for (unsigned state = 0; state < SCHED_STATES; state++)
		text_duration(time[state], report->time[state]);
	view_buffer_print(out, "%s thread%s, %s: running %s, waiting for a CPU %s, blocked %s\n",
			  text_count(threads, report->threads), text_plural(report->threads),
			  text_duration(wall, report->wall), time[SCHED_RUNNING], time[SCHED_RUNNABLE],
			  time[SCHED_BLOCKED]);
	if (rows->count)
		table_text(rows, out);
	if (!report->rows.count)
		view_buffer_print(out, "no recorded thread matches the options\n");
	table_left(report->rows.count - rows->count, "more rows; see --limit", rows->color, out);
	view_buffer_print(out, "\n");
	view_losses_line(report->trace, "", out);
	sched_missing_text(&report->missing, out);
	if (!report->has_wakes)
		view_buffer_print(out, "no wake-ups are in the trace: waiting for a CPU after one counts as "
				       "blocked; record with --sched\n");
}

void sched_report_print(struct sched_report *report, const struct view_report *options,
			struct view_buffer *out)
{
	struct table rows = { .columns = sched_columns,
			      .rows = report->rows.rows,
			      .count = table_limit(report->rows.count, options->limit),
			      .name = sched_row_name,
			      .data = report,
			      .below = sched_row_below };

	view_report_names(options, &rows);
	if (options->form == TABLE_JSON)
		sched_report_json(report, &rows, out);
	else if (options->form == TABLE_CSV)
		table_csv(&rows, out);
	else
		sched_report_text(report, &rows, out);
}
