/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted spans as text, as JSON (docs/schema/report-spans.json) and as CSV; the columns of burin report --spans. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "view/bar.h"
#include "view/losses.h"
#include "view/spans/span_stats.h"

/* ---- Columns */

static void histogram_json(const struct table *table, const void *row, struct json *json)
{
	const struct span_row *of = row;
	struct call_bar bars[CALL_BARS];
	const unsigned count = call_durations_histogram(&of->row.durations, table->hz, bars);

	json_array(json, NULL);
	for (unsigned n = 0; n < count; n++) {
		json_object(json, NULL);
		json_u64(json, "from_ns", bars[n].from);
		json_u64(json, "to_ns", bars[n].to);
		json_u64(json, "count", bars[n].count);
		json_end(json);
	}
	json_end(json);
}

static const struct column_list histogram = { .json = histogram_json };

#define SPAN_DURATION(name, head, which) \
	CALL_DURATION_COLUMN(name, head, 10, struct span_row, row.durations, which)

static const struct column span_columns[] = {
	COLUMN("count", "COUNT", COUNT, 12, struct span_row, row.calls),
	COLUMN("failed", "FAILED", COUNT, 8, struct span_row, failed, .zero = ""),
	COLUMN("open", "OPEN", COUNT, 7, struct span_row, open, .zero = ""),
	COLUMN(NULL, "", SHARE, 7, struct span_row, row.self, .lead = true),
	COLUMN("self_ns", "SELF     ", DURATION, 10, struct span_row, row.self, .zero = "-", .lead = true),
	COLUMN("total_ns", "TOTAL    ", DURATION, 10, struct span_row, row.total, .zero = "-", .lead = true),
	SPAN_DURATION("average_ns", "AVERAGE", CALL_AVERAGE),
	SPAN_DURATION("min_ns", NULL, CALL_MIN),
	SPAN_DURATION("p50_ns", "P50", 500),
	SPAN_DURATION("p90_ns", "P90", 900),
	SPAN_DURATION("p99_ns", "P99", 990),
	SPAN_DURATION("p999_ns", "P99.9", 999),
	SPAN_DURATION("max_ns", "MAX", CALL_MAX),
	{ .key = "histogram", .kind = COLUMN_LIST, .list = &histogram },
	{ 0 },
};

static const char *span_row_name(const void *data, const void *row, unsigned part)
{
	const struct span_stats *stats = data;
	const struct call_row *of = row;
	const struct span_key *key = &stats->keys[of->key];

	if (part < VIEW_TASK_PARTS)
		return stats->strings.texts[of->task[part]];
	if (part == SPAN_PART_NAME)
		return stats->strings.texts[key->span];
	if (part == SPAN_PART_PARENT)
		return stats->strings.texts[key->parent];
	return stats->strings.texts[key->values.texts[part - SPAN_PART_FIELD]];
}

/* The histogram of a row: a line for each bar. */
static void print_bars(const struct table *table, const void *row, struct view_buffer *out)
{
	const struct span_row *of = row;
	struct call_bar bars[CALL_BARS];
	const unsigned count = call_durations_histogram(&of->row.durations, table->hz, bars);
	uint64_t most = 1;

	for (unsigned n = 0; n < count; n++)
		most = bars[n].count > most ? bars[n].count : most;
	for (unsigned n = 0; n < count; n++) {
		char from[TEXT_SHORT], to[TEXT_SHORT], number[TEXT_SHORT], bar[VIEW_BAR + 1];

		view_buffer_print(out, "%12s to %10s %13s  %s\n", text_duration(from, bars[n].from),
				  text_duration(to, bars[n].to), text_count(number, bars[n].count),
				  view_bar(bar, bars[n].count, most));
	}
}

/* ---- Output */

static void span_report_json(const struct span_stats *stats, const struct table *rows,
			     struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 2);
	json_u64(&json, "spans", stats->spans);
	json_u64(&json, "failed", stats->failed);
	json_u64(&json, "open", stats->open);
	json_u64(&json, "without_begin", stats->unbegun);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "self_ns", call_ns(stats->trace, stats->rows.time));
	view_losses_json(stats->trace, &json);
	table_json(rows, &json, "rows");
	json_end(&json);
}

static void span_report_text(const struct span_stats *stats, const struct table *rows,
			     struct view_buffer *out)
{
	char spans[TEXT_SHORT], failed[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s span%s of %s thread%s, %s, %s failed\n", text_count(spans, stats->spans),
			  text_plural(stats->spans), text_count(threads, stats->threads),
			  text_plural(stats->threads),
			  text_duration(time, call_ns(stats->trace, stats->rows.time)),
			  text_count(failed, stats->failed));
	if (!stats->rows.count)
		view_buffer_print(out, "no recorded span matches the options\n");
	if (rows->count)
		table_text(rows, out);
	table_left(stats->rows.count - rows->count, "more rows; see --min and --limit", rows->color, out);
	view_buffer_print(out, "\n");
	view_losses_line(stats->trace, "", out);
	if (stats->open)
		view_buffer_print(out, "%s span%s without end in the trace: in OPEN, without time\n",
				  text_count(spans, stats->open), text_plural(stats->open));
	if (stats->unbegun)
		view_buffer_print(out, "%s end%s without begin in the trace: not counted\n",
				  text_count(spans, stats->unbegun), text_plural(stats->unbegun));
}

void span_stats_print(struct span_stats *stats, const struct view_report *report, const struct column *names,
		      unsigned name_count, bool histogram_lines, struct view_buffer *out)
{
	struct table rows = { .name_count = name_count,
			      .columns = span_columns,
			      .rows = stats->rows.rows,
			      .count = call_rows_choose(&stats->rows, report),
			      .name = span_row_name,
			      .data = stats,
			      .hz = stats->trace->clock.hz,
			      .whole = stats->rows.time,
			      .color = report->color,
			      .below = histogram_lines ? print_bars : NULL };

	memcpy(rows.names, names, name_count * sizeof(*names));
	if (report->form == TABLE_JSON)
		span_report_json(stats, &rows, out);
	else if (report->form == TABLE_CSV)
		table_csv(&rows, out);
	else
		span_report_text(stats, &rows, out);
}
