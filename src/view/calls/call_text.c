/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted calls as text. */
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/text.h"
#include "view/calls/call_stats.h"
#include "view/losses.h"
#include "view/name_columns.h"
#include "view/profile/nameless.h"

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

struct table {
	const struct call_stats *stats;
	const struct view_report *report;
	size_t count; /* printed rows */
	struct view_label *labels;
	unsigned widths[VIEW_PARTS]; /* of the columns; 0: the last */
};

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *symbol_of(const void *data, size_t row)
{
	const struct call_stats *stats = data;

	return call_row_text(stats, stats->rows.rows[row], VIEW_SYMBOL);
}

static const char *part_text(const struct table *table, size_t row, enum view_part part)
{
	return part == VIEW_SYMBOL ? table->labels[row].text
				   : call_row_text(table->stats, table->stats->rows.rows[row], part);
}

static void measure(struct table *table)
{
	for (unsigned n = 0; n + 1 < table->report->by_count; n++) {
		const enum view_part part = table->report->by[n];

		table->widths[n] = (unsigned)strlen(view_part_name(part));
		for (size_t row = 0; row < table->count; row++)
			table->widths[n] = view_column_wider(table->widths[n], part_text(table, row, part));
	}
}

static void print_row(const struct table *table, size_t number, struct view_buffer *out)
{
	const struct call_stats *stats = table->stats;
	const struct call_row *row = stats->rows.rows[number];
	char text[TEXT_SHORT];

	view_buffer_print(out, "%6.2f%%  ", percent(row->self, stats->rows.time));
	call_duration_text(stats->trace, row->self, true, out);
	call_duration_text(stats->trace, row->total, true, out);
	view_buffer_print(out, "%13s  ", text_count(text, row->calls));
	call_durations_text(&row->durations, stats->trace, out);
	for (unsigned n = 0; n < table->report->by_count; n++) {
		const enum view_part part = table->report->by[n];

		view_column(out,
			    table->widths[n] ? part_text(table, number, part)
					     : call_row_text(stats, row, part),
			    table->widths[n], part == VIEW_SYMBOL && table->labels[number].less);
	}
	view_buffer_print(out, "\n");
}

static void print_rows(const struct table *table, struct view_buffer *out)
{
	const struct view_report *report = table->report;

	view_buffer_print(out,
			  "\n%s          SELF            TOTAL          CALLS     AVERAGE         MIN"
			  "         P50         P99         MAX  ",
			  report->color ? bold : "");
	for (unsigned n = 0; n < report->by_count; n++)
		view_column_title(out, view_part_name(report->by[n]), table->widths[n]);
	view_buffer_print(out, "%s\n", report->color ? off : "");
	for (size_t n = 0; n < table->count; n++)
		print_row(table, n, out);
}

static void print_counted(const struct call_stats *stats, const struct view_report *report,
			  struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (!stats->counted_count)
		return;
	view_buffer_print(out, "\n%s    ONLY COUNTED  SYMBOL%s\n", report->color ? bold : "",
			  report->color ? off : "");
	for (size_t n = 0; n < stats->counted_count && n < report->limit; n++) {
		const struct call_counted *counted = &stats->counted[n];

		view_buffer_print(out, "%16s  %s\n", text_count(text, counted->calls),
				  view_key_text(&stats->names, counted->key, VIEW_SYMBOL));
	}
	if (stats->counted_count > report->limit)
		view_buffer_print(out, "%s more functions; see --limit\n",
				  text_count(text, stats->counted_count - report->limit));
}

static void print_gaps(const struct call_stats *stats, bool color, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_losses_line(stats->trace, view_lost_calls, out);
	if (stats->open)
		view_buffer_print(out,
				  "%s call%s had not ended: SELF and TOTAL have their time up to the end of "
				  "the trace, AVERAGE to MAX do not\n",
				  text_count(text, stats->open), plural(stats->open));
	if (stats->without_caller)
		view_buffer_print(out, "%s call%s without a caller in the trace\n",
				  text_count(text, stats->without_caller), plural(stats->without_caller));
	view_nameless_text(&(struct view_nameless){ .profile = burin_calls_profile(stats->calls),
						    .weights = stats->by_function,
						    .calls = true },
			   color, out);
}

void call_stats_text(struct call_stats *stats, const struct view_report *report, struct view_buffer *out)
{
	struct table table = { .stats = stats,
			       .report = report,
			       .count = call_rows_choose(&stats->rows, report) };
	char calls[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s call%s in %s thread%s, %s\n", text_count(calls, stats->call_count),
			  plural(stats->call_count), text_count(threads, stats->threads),
			  plural(stats->threads),
			  text_duration(time, call_ns(stats->trace, stats->rows.time)));
	if (!stats->call_count && !stats->counted_count)
		view_buffer_print(out, "no call was recorded, or none matches the options\n");
	table.labels = view_labels_make(symbol_of, stats, table.count);
	if (!table.labels) {
		out->failed = true;
		return;
	}
	measure(&table);
	if (table.count)
		print_rows(&table, out);
	view_labels_free(table.labels, table.count);
	if (stats->rows.count > table.count)
		view_buffer_print(out, "%s%s more rows; see --min and --limit%s\n", report->color ? dim : "",
				  text_count(calls, stats->rows.count - table.count),
				  report->color ? off : "");
	print_counted(stats, report, out);
	view_buffer_print(out, "\n");
	print_gaps(stats, report->color, out);
}
