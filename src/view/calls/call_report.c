/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted calls as text, as JSON (docs/schema/report-calls.json) and as CSV; the columns of burin report --calls. */
#include "base/text.h"
#include "view/calls/call_stats.h"
#include "view/losses.h"
#include "view/profile/nameless.h"

/* ---- Columns */

static bool open_number(const void *row, unsigned part, uint64_t *number)
{
	const struct call_row *of = row;

	(void)part;
	*number = of->calls - of->durations.count;
	return true;
}

/* Text has SELF in the middle above the time and its share. */
static const struct column call_columns[] = {
	COLUMN("calls", "CALLS", COUNT, 13, struct call_row, calls),
	{ .key = "open", .kind = COLUMN_COUNT, .get = open_number },
	COLUMN(NULL, "", SHARE, 7, struct call_row, self, .lead = true),
	COLUMN("self_ns", "SELF     ", DURATION, 10, struct call_row, self, .lead = true),
	COLUMN("total_ns", "TOTAL", DURATION, 10, struct call_row, total, .lead = true),
	CALL_DURATION_COLUMNS(struct call_row, durations),
	{ 0 },
};

static const struct column counted_columns[] = {
	COLUMN_NAME("symbol", TEXT, VIEW_SYMBOL),
	{ .key = "image", .kind = COLUMN_TEXT, .part = VIEW_IMAGE },
	COLUMN("calls", "ONLY COUNTED", COUNT, 16, struct call_counted, calls),
	{ 0 },
};

static const char *call_row_name(const void *data, const void *row, unsigned part)
{
	const struct call_stats *stats = data;
	const struct call_row *of = row;

	return part < VIEW_TASK_PARTS ? stats->keys.strings.texts[of->task[part]]
				      : view_key_text(&stats->keys, of->key, part);
}

static const char *counted_row_name(const void *data, const void *row, unsigned part)
{
	const struct call_stats *stats = data;
	const struct call_counted *of = row;

	return view_key_text(&stats->names, of->key, part);
}

/* ---- Output */

static void call_report_json(const struct call_stats *stats, const struct table *rows,
			     const struct table *counted, struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 2);
	json_u64(&json, "calls", stats->call_count);
	json_u64(&json, "open", stats->open);
	json_u64(&json, "without_caller", stats->without_caller);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "self_ns", call_ns(stats->trace, stats->rows.time));
	view_losses_json(stats->trace, &json);
	table_json(rows, &json, "rows");
	table_json(counted, &json, "counted");
	json_end(&json);
}

static void call_report_gaps(const struct call_stats *stats, bool color, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_losses_line(stats->trace, view_lost_calls, out);
	if (stats->open)
		view_buffer_print(out,
				  "%s call%s had not ended: SELF and TOTAL have their time up to the end of "
				  "the trace, AVERAGE to MAX do not\n",
				  text_count(text, stats->open), text_plural(stats->open));
	if (stats->without_caller)
		view_buffer_print(out, "%s call%s without a caller in the trace\n",
				  text_count(text, stats->without_caller),
				  text_plural(stats->without_caller));
	view_nameless_text(&(struct view_nameless){ .profile = burin_calls_profile(stats->calls),
						    .weights = stats->by_function,
						    .calls = true },
			   color, out);
}

static void call_report_text(const struct call_stats *stats, const struct table *rows,
			     const struct table *counted, struct view_buffer *out)
{
	char calls[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s call%s in %s thread%s, %s\n", text_count(calls, stats->call_count),
			  text_plural(stats->call_count), text_count(threads, stats->threads),
			  text_plural(stats->threads),
			  text_duration(time, call_ns(stats->trace, stats->rows.time)));
	if (!stats->call_count && !stats->counted_count)
		view_buffer_print(out, "no call was recorded, or none matches the options\n");
	if (rows->count)
		table_text(rows, out);
	table_left(stats->rows.count - rows->count, "more rows; see --min and --limit", rows->color, out);
	if (counted->count)
		table_text(counted, out);
	table_left(stats->counted_count - counted->count, "more functions; see --limit", rows->color, out);
	view_buffer_print(out, "\n");
	call_report_gaps(stats, rows->color, out);
}

void call_stats_print(struct call_stats *stats, const struct view_report *report, struct view_buffer *out)
{
	struct table rows = { .columns = call_columns,
			      .rows = stats->rows.rows,
			      .count = call_rows_choose(&stats->rows, report),
			      .name = call_row_name,
			      .data = stats,
			      .hz = stats->trace->clock.hz,
			      .whole = stats->rows.time };
	const struct table counted = { .columns = counted_columns,
				       .rows = stats->counted,
				       .count = table_limit(stats->counted_count, report->limit),
				       .size = sizeof(*stats->counted),
				       .name = counted_row_name,
				       .data = stats,
				       .color = report->color };

	view_report_names(report, &rows);
	if (report->form == TABLE_JSON)
		call_report_json(stats, &rows, &counted, out);
	else if (report->form == TABLE_CSV)
		table_csv(&rows, out);
	else
		call_report_text(stats, &rows, &counted, out);
}
