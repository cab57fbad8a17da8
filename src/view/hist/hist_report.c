/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted records as text, as JSON (docs/schema/hist.json) and as CSV; the columns of burin hist. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "view/bar.h"
#include "view/hist/hist.h"
#include "view/losses.h"
#include "view/table.h"

enum {
	PART_EVENT,
	PART_VALUE,
	PART_TIME,
	PART_BY, /* and those behind it */
	NAME_BYTES = 80,
	VALUE_MEAN = 1001, /* numbers of a row; up to 1000 a quantile, of so many per mille */
	VALUE_MIN,
	VALUE_MAX,
};

/* ---- Columns */

static bool value_number(const void *at, unsigned which, uint64_t *number)
{
	const struct value_counts *counts = at;
	double value;

	if (!counts->count)
		return false;
	value = which == VALUE_MEAN  ? counts->mean
		: which == VALUE_MIN ? counts->min
		: which == VALUE_MAX ? counts->max
				     : value_counts_quantile(counts, which);
	memcpy(number, &value, sizeof(value));
	return true;
}

static void hist_bars_json(const struct table *table, const void *row, struct json *json)
{
	const struct hist_row *of = row;
	struct value_bar bars[VALUE_BARS];
	const unsigned count = value_counts_bars(&of->values, bars);

	(void)table;
	json_array(json, NULL);
	for (unsigned n = 0; n < count; n++) {
		json_object(json, NULL);
		json_double(json, "from", bars[n].from, 9);
		json_double(json, "to", bars[n].to, 9);
		json_u64(json, "count", bars[n].count);
		json_end(json);
	}
	json_end(json);
}

static const struct column_list hist_bars = { .json = hist_bars_json };

#define HIST_NUMBER(name, head, which) \
	COLUMN(name, head, REAL, 10, struct hist_row, values, .get = value_number, .part = (which))

static bool hist_begin(const void *at, unsigned which, uint64_t *number)
{
	(void)which;
	*number = *(const uint64_t *)at;
	return *number != UINT64_MAX;
}

#define HIST_RECORDS                                                                      \
	COLUMN("begin_ns", NULL, COUNT, 0, struct hist_row, begin_ns, .get = hist_begin), \
		COLUMN("count", "COUNT", COUNT, 12, struct hist_row, records),            \
		COLUMN("per_second", "PER SECOND", REAL, 10, struct hist_row, rate_bits)

/* The records of a row beside those of others. */
static void hist_bar_text(const void *row, struct view_buffer *out)
{
	const struct hist_row *of = row;

	for (unsigned n = 0; n < of->bar; n++)
		view_buffer_print(out, "#");
}

static const struct column_list hist_bar = { .text = hist_bar_text };

#define HIST_BAR                                                    \
	{                                                           \
		.title = "", .kind = COLUMN_LIST, .list = &hist_bar \
	}

static const struct column record_columns[] = {
	HIST_RECORDS,
	COLUMN(NULL, "", SHARE, 7, struct hist_row, records),
	HIST_BAR,
	{ 0 },
};

static const struct column value_columns[] = {
	HIST_RECORDS,
	HIST_NUMBER("mean", "MEAN", VALUE_MEAN),
	HIST_NUMBER("min", "MIN", VALUE_MIN),
	HIST_NUMBER("p50", "P50", 500),
	HIST_NUMBER("p90", "P90", 900),
	HIST_NUMBER("p99", "P99", 990),
	HIST_NUMBER("max", "MAX", VALUE_MAX),
	{ .key = "histogram", .kind = COLUMN_LIST, .list = &hist_bars },
	HIST_BAR,
	{ 0 },
};

/* ---- Names and bars */

static const char *hist_row_name(const void *data, const void *row, unsigned part)
{
	const struct hist *hist = data;
	const struct hist_row *of = row;
	const uint32_t text = part == PART_EVENT   ? of->key.event
			      : part == PART_VALUE ? of->key.value
			      : part == PART_TIME  ? of->time
						   : of->key.by[part - PART_BY];

	return hist->strings.texts[text];
}

static const char *bar_text(const struct value_bar *bar, char text[TEXT_SHORT * 2])
{
	if (bar->from == bar->to)
		snprintf(text, (size_t)TEXT_SHORT * 2, "%12s    %10s", "0", "");
	else
		snprintf(text, (size_t)TEXT_SHORT * 2, "%12.6g to %10.6g", bar->from, bar->to);
	return text;
}

/* The histogram of a row: a line for each bar. */
static void hist_print_bars(const struct table *table, const void *row, struct view_buffer *out)
{
	const struct hist_row *of = row;
	struct value_bar bars[VALUE_BARS];
	const unsigned count = value_counts_bars(&of->values, bars);
	char range[TEXT_SHORT * 2], number[TEXT_SHORT], bar[VIEW_BAR + 1];
	uint64_t most = 1;

	(void)table;
	for (unsigned n = 0; n < count; n++)
		most = bars[n].count > most ? bars[n].count : most;
	for (unsigned n = 0; n < count; n++)
		view_buffer_print(out, "%s %13s  %s\n", bar_text(&bars[n], range),
				  text_count(number, bars[n].count), view_bar(bar, bars[n].count, most));
}

static void hist_choose_names(const struct hist *hist, struct table *table)
{
	const struct hist_options *options = hist->options;
	static char keys[HIST_BY_MAX][NAME_BYTES];

	if (options->every_ns)
		table->names[table->name_count++] =
			(struct column){ .title = "time", .kind = COLUMN_TEXT, .part = PART_TIME };
	table->names[table->name_count++] = (struct column)COLUMN_NAME("event", TEXT, PART_EVENT);
	for (unsigned n = 0; n < options->by_count; n++) {
		snprintf(keys[n], sizeof(keys[n]), "by_%s", options->by[n]);
		table->names[table->name_count++] = (struct column){
			.key = keys[n], .title = options->by[n], .kind = COLUMN_TEXT, .part = PART_BY + n
		};
	}
	if (hist->by_value)
		table->names[table->name_count++] = (struct column){
			.key = "value", .title = options->field, .kind = COLUMN_TEXT, .part = PART_VALUE
		};
}

/* ---- Output */

static void hist_json(const struct hist *hist, const struct table *rows, struct view_buffer *out)
{
	const struct hist_options *options = hist->options;
	struct json json;

	json_begin_object(&json, out, 2);
	json_u64(&json, "records", hist->records);
	json_text(&json, "field", options->field);
	json_u64(&json, "not_finite", hist->unfinite);
	if (options->every_ns)
		json_u64(&json, "every_ns", options->every_ns);
	else
		json_null(&json, "every_ns");
	if (hist->losses)
		view_losses_object(hist->losses, &json);
	else
		view_losses_json(hist->trace, &json);
	table_json(rows, &json, "rows");
	json_end(&json);
}

static void hist_text(const struct hist *hist, const struct table *rows, struct view_buffer *out)
{
	const char *what = hist->losses ? "event" : "record";
	char records[TEXT_SHORT], time[TEXT_SHORT], number[TEXT_SHORT];

	view_buffer_print(out, "%s %s%s in %s\n", text_count(records, hist->records), what,
			  text_plural(hist->records), text_duration(time, (uint64_t)(hist->seconds * 1e9)));
	if (!hist->count)
		view_buffer_print(out, "no %s matches the options\n", what);
	if (rows->count)
		table_text(rows, out);
	table_left(hist->count - rows->count, "more rows; see --limit", rows->color, out);
	view_buffer_print(out, "\n");
	if (hist->losses)
		view_losses_print(hist->losses, what, "", out);
	else
		view_losses_line(hist->trace, "", out);
	if (hist->unfinite)
		view_buffer_print(out, "%s value%s not finite: in COUNT only\n",
				  text_count(number, hist->unfinite), hist->unfinite == 1 ? " is" : "s are");
}

void hist_print(struct hist *hist, const struct view_report *report, struct view_buffer *out)
{
	const bool has_numbers = hist->by_number;
	struct table rows = { .columns = has_numbers ? value_columns : record_columns,
			      .rows = hist->rows,
			      .count = table_limit(hist->count, report->limit),
			      .name = hist_row_name,
			      .data = hist,
			      .whole = hist->records,
			      .color = report->color,
			      .below = has_numbers && !hist->options->every_ns ? hist_print_bars : NULL };

	hist_choose_names(hist, &rows);
	if (report->form == TABLE_JSON)
		hist_json(hist, &rows, out);
	else if (report->form == TABLE_CSV)
		table_csv(&rows, out);
	else
		hist_text(hist, &rows, out);
}
