/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tables of comparisons; see tail_report.h.
 *
 * One blame_make() serves all names: it reads the trace once. So all picked spans lie in one array, and each is found again by the pick
 * that it refers to, which stays where it is.
 */
#include "view/blame/tail_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/print.h"
#include "base/text.h"
#include "view/blame/blame_fold.h"
#include "view/blame/slowest.h"
#include "view/blame/tail.h"
#include "view/losses.h"

/* A row of the table. */
struct tail_line {
	int64_t more, low, high; /* ns */
	uint64_t share, slow, band;
	uint32_t where; /* string */
	const struct tail_row *row;
};

/* All of a report. */
struct tail_report {
	struct span_pick *pick;
	const struct view_report *report;
	const char *percent, *path;
	struct blame blame;
	struct blame_span *spans;
	size_t count;
	struct view_buffer *out;
	struct blame_fold fold;		/* of the group that is printed */
	struct blame_vector **vectors;	/* of all spans, group by group: its slowest, then its band */
	size_t first;			/* of the group */
	const struct span_group *group; /* that is printed */
	size_t small;			/* names of which text has no table */
};

/* ---- Columns */

static void part_json(const struct table *table, const void *row, struct json *json)
{
	const struct tail_report *report = table->data;
	const struct tail_line *line = row;

	json_object(json, NULL);
	blame_fold_json(&report->fold, line->row->part, json);
	json_end(json);
}

static const struct span_picked *example_of(const struct tail_report *report, const struct tail_line *line)
{
	return &report->group->slowest.spans[line->row->example];
}

static void example_json(const struct table *table, const void *row, struct json *json)
{
	const struct tail_report *report = table->data;
	const struct span_picked *example = example_of(report, row);

	json_object(json, NULL);
	json_i64(json, "begin_ns", burin_trace_ns(report->pick->trace, example->begin));
	json_i64(json, "end_ns", burin_trace_ns(report->pick->trace, example->end));
	json_u64(json, "tid", example->tid);
	json_end(json);
}

static const struct column_list parts = { .json = part_json }, examples = { .json = example_json };

static const struct column tail_columns[] = {
	COLUMN("more_ns", "MORE", DIFFERENCE, 11, struct tail_line, more),
	COLUMN(NULL, "SHARE", SHARE, 8, struct tail_line, share),
	COLUMN("more_low_ns", "FROM", DIFFERENCE, 11, struct tail_line, low),
	COLUMN("more_high_ns", "TO", DIFFERENCE, 11, struct tail_line, high),
	COLUMN("slowest_ns", "SLOWEST", DURATION, 10, struct tail_line, slow, .zero = "-"),
	COLUMN("median_ns", "MEDIAN", DURATION, 10, struct tail_line, band, .zero = "-"),
	{ .key = "part", .kind = COLUMN_LIST, .list = &parts },
	{ .key = "example", .kind = COLUMN_LIST, .list = &examples },
	{ 0 },
};

enum {
	TAIL_PART_SPAN,
	TAIL_PART_SURE,
	TAIL_PART_WHERE,
};

static const char *tail_name(const void *data, const void *row, unsigned part)
{
	const struct tail_report *report = data;
	const struct tail_line *line = row;

	if (part == TAIL_PART_SPAN)
		return report->pick->strings.texts[report->group->name];
	if (part == TAIL_PART_SURE)
		return line->row->sure ? "yes" : "no";
	return report->pick->strings.texts[line->where];
}

static bool tail_is_faint(const void *row)
{
	const struct tail_line *line = row;

	return !line->row->sure;
}

/* The functions that a row has together, and a command that prints the example. */
static void print_more(const struct table *table, const void *row, struct view_buffer *out)
{
	const struct tail_report *report = table->data;
	const struct tail_line *line = row;

	if (report->blame.parts[line->row->part].below && report->fold.callees[0].name &&
	    report->blame.parts[line->row->part].kind == BLAME_RUNNING) {
		view_buffer_print(out, "%14sof which ", "");
		blame_fold_callees(&report->fold, line->row->part, out);
		view_buffer_print(out, "\n");
	}
	if (!line->row->sure || line->more < 0)
		return;
	view_buffer_print(out, "%14sas in: ", "");
	slowest_command(report->pick, example_of(report, line), report->path, out);
	view_buffer_print(out, "\n");
}

/* ---- One name */

static int64_t whole_ns(double ns)
{
	return (int64_t)llround(ns);
}

/* The rows that are printed, of those above --min. Return: an array, or NULL: no memory. */
static struct tail_line *lines_of(struct tail_report *report, const struct tail *tail, size_t *count)
{
	struct tail_line *lines = calloc(tail->count + 1, sizeof(*lines));
	const double extra = tail->slow - tail->band;
	char text[BLAME_TEXT];

	*count = 0;
	for (size_t n = 0; lines && n < tail->count; n++) {
		const struct tail_row *row = &tail->rows[n];
		const double more = row->slow - row->band;

		if (*count == report->report->limit || fabs(more) * 100 < report->report->min * fabs(extra))
			continue;
		lines[(*count)++] = (struct tail_line){
			.more = whole_ns(more),
			.low = whole_ns(row->low),
			.high = whole_ns(row->high),
			.share = more > 0 ? (uint64_t)whole_ns(more) : 0,
			.slow = (uint64_t)whole_ns(row->slow),
			.band = (uint64_t)whole_ns(row->band),
			.where = view_string(&report->pick->strings,
					     blame_fold_text(&report->fold, row->part, text)),
			.row = row
		};
	}
	return lines;
}

static void print_head(const struct tail_report *report, const struct tail *tail)
{
	const struct span_group *group = report->group;
	const struct burin_trace *trace = report->pick->trace;
	struct view_buffer *out = report->out;
	char count[TEXT_SHORT], few[TEXT_SHORT], time[TEXT_SHORT], other[TEXT_SHORT];

	view_buffer_print(out, "%s%s%s: %s span%s, the median %s\n",
			  report->report->color ? print_styles[PRINT_BOLD] : "",
			  report->pick->strings.texts[group->name],
			  report->report->color ? print_styles[PRINT_OFF] : "",
			  text_count(count, group->count), text_plural(group->count),
			  text_duration(time, call_ns(trace, group->median)));
	view_buffer_print(out, "the slowest %s: %s span%s, %s on average; around the median: %s span%s, ",
			  report->percent, text_count(count, group->slowest.all),
			  text_plural(group->slowest.all),
			  text_duration(time, (uint64_t)whole_ns(tail->slow)),
			  text_count(few, group->band.all), text_plural(group->band.all));
	view_buffer_print(out, "%s\n", text_duration(other, (uint64_t)whole_ns(tail->band)));
	if (group->slowest.all > group->slowest.count || group->band.all > group->band.count)
		view_buffer_print(out, "of each, at most %s were examined, chosen at random\n",
				  text_count(count, SPAN_PICK_MAX));
}

/* The kinds of parts that have a share of what the slowest take more. */
static void print_kinds(const struct tail_report *report, const struct tail *tail)
{
	const double extra = tail->slow - tail->band;
	const char *between = "the difference: ";

	for (unsigned kind = 0; kind < BLAME_KINDS && extra > 0; kind++) {
		if (tail->more[kind] * 100 < extra)
			continue;
		view_buffer_print(report->out, "%s%s %.0f%%", between, blame_kind_text(kind),
				  tail->more[kind] / extra * 100);
		between = ", ";
	}
	if (*between == ',')
		view_buffer_print(report->out, "\n");
}

/* Whether so few spans were picked that no difference can be sure. Of several names, text has no table of such a one. */
static bool is_small(const struct tail_report *report)
{
	return report->group->slowest.count < TAIL_SPANS_MIN || report->group->band.count < TAIL_SPANS_MIN;
}

static void print_foot(const struct tail_report *report, const struct tail *tail)
{
	struct view_buffer *out = report->out;

	if (is_small(report))
		view_buffer_print(out, "too few spans: no difference is sure\n");
	else if ((tail->slow - tail->band) * 100 < TAIL_EXTRA_MIN * tail->band)
		view_buffer_print(out, "the slowest take only %.0f %% more: no difference is sure\n",
				  tail->band > 0 ? (tail->slow / tail->band - 1) * 100 : 0.0);
	else if (tail->by_samples)
		view_buffer_print(
			out, "the slowest have more samples than their time explains: taking samples made "
			     "them slow, so no function is sure; next time record with a lower --frequency, "
			     "or with --no-samples\n");
}

static struct table table_of(const struct tail_report *report, const struct tail *tail,
			     const struct tail_line *lines, size_t count)
{
	const double extra = tail->slow - tail->band;
	struct table table = { .columns = tail_columns,
			       .rows = lines,
			       .count = count,
			       .size = sizeof(*lines),
			       .name = tail_name,
			       .data = report,
			       .whole = extra > 0 ? (uint64_t)whole_ns(extra) : 0,
			       .color = report->report->color,
			       .faint = tail_is_faint,
			       .below = print_more };

	if (report->report->form == TABLE_CSV)
		table.names[table.name_count++] = (struct column)COLUMN_NAME("span", TEXT, TAIL_PART_SPAN);
	table.names[table.name_count++] = (struct column)COLUMN_NAME("sure", TEXT, TAIL_PART_SURE);
	table.names[table.name_count++] = (struct column)COLUMN_NAME("where", TEXT, TAIL_PART_WHERE);
	return table;
}

static void print_group_json(const struct tail_report *report, const struct tail *tail,
			     const struct table *table, struct json *json)
{
	const struct span_group *group = report->group;
	const struct burin_trace *trace = report->pick->trace;

	json_object(json, NULL);
	json_text(json, "span", report->pick->strings.texts[group->name]);
	json_u64(json, "count", group->count);
	json_u64(json, "p50_ns", call_ns(trace, group->median));
	json_u64(json, "slowest", group->slowest.all);
	json_u64(json, "slowest_examined", group->slowest.count);
	json_u64(json, "slowest_average_ns", (uint64_t)whole_ns(tail->slow));
	json_u64(json, "around_median", group->band.all);
	json_u64(json, "around_median_examined", group->band.count);
	json_u64(json, "around_median_average_ns", (uint64_t)whole_ns(tail->band));
	json_bool(json, "slowed_by_samples", tail->by_samples);
	table_json(table, json, "rows");
	json_end(json);
}

static int print_group(struct tail_report *report, const struct tail *tail, struct json *json)
{
	size_t count;
	struct tail_line *lines = lines_of(report, tail, &count);
	struct table table;

	if (!lines)
		return -ENOMEM;
	table = table_of(report, tail, lines, count);
	if (json) {
		print_group_json(report, tail, &table, json);
	} else if (report->report->form == TABLE_CSV) {
		table.headless =
			report->group != report->pick->groups; /* its rows follow those of another name */
		table_csv(&table, report->out);
	} else {
		print_head(report, tail);
		print_kinds(report, tail);
		table_text(&table, report->out);
		table_left(tail->count + tail->left - count, "more parts; see --min and --limit", table.color,
			   report->out);
		print_foot(report, tail);
		view_buffer_print(report->out, "\n");
	}
	free(lines);
	return 0;
}

/* ---- All names */

static int compare_group(struct tail_report *report, struct json *json)
{
	const struct span_group *group = report->group;
	const struct blame_set slow = { report->vectors + report->first, group->slowest.count },
			       band = { slow.vectors + slow.count, group->band.count };
	struct tail tail = { .rows = NULL };
	int error = blame_fold_make(&report->fold, &report->blame, slow, band);

	if (!error)
		error = tail_make(
			&tail, report->blame.parts, report->blame.part_count,
			(struct tail_set){ (const struct blame_vector *const *)slow.vectors, slow.count },
			(struct tail_set){ (const struct blame_vector *const *)band.vectors, band.count },
			report->blame.samples_in_ns);
	if (!error)
		error = print_group(report, &tail, json);
	tail_free(&tail);
	blame_fold_free(&report->fold);
	return error;
}

static void add_picks(struct tail_report *report, const struct span_picks *picks)
{
	for (size_t n = 0; n < picks->count; n++) {
		report->spans[report->count] =
			(struct blame_span){ .span = &picks->spans[n], .number = report->count };
		report->count++;
	}
}

static int gather_spans(struct tail_report *report)
{
	const struct span_pick *pick = report->pick;
	size_t count = 0;

	for (size_t n = 0; n < pick->group_count; n++)
		count += pick->groups[n].slowest.count + pick->groups[n].band.count;
	report->spans = calloc(count + 1, sizeof(*report->spans));
	if (!report->spans)
		return -ENOMEM;
	for (size_t n = 0; n < pick->group_count; n++) {
		add_picks(report, &pick->groups[n].slowest);
		add_picks(report, &pick->groups[n].band);
	}
	return 0;
}

/* The vectors as gather_spans() numbered their spans: blame_make() has put these into another order. */
static int order_vectors(struct tail_report *report)
{
	report->vectors = calloc(report->count + 1, sizeof(struct blame_vector *));
	for (size_t n = 0; report->vectors && n < report->count; n++)
		report->vectors[report->spans[n].number] = &report->spans[n].vector;
	return report->vectors ? 0 : -ENOMEM;
}

static int print_groups(struct tail_report *report, struct json *json)
{
	int error = order_vectors(report);

	for (size_t n = 0; n < report->pick->group_count && !error; n++) {
		report->group = &report->pick->groups[n];
		if (report->report->form == TABLE_TEXT && report->pick->group_count > 1 && is_small(report))
			report->small++;
		else
			error = compare_group(report, json);
		report->first += report->group->slowest.count + report->group->band.count;
	}
	return error;
}

static int tail_json(struct tail_report *report)
{
	struct json json;
	int error;

	json_begin_object(&json, report->out, 3);
	json_u64(&json, "spans", report->pick->spans);
	json_u64(&json, "open", report->pick->open);
	json_u64(&json, "without_begin", report->pick->unbegun);
	blame_missing_json(&report->blame, &json);
	view_losses_json(report->pick->trace, &json);
	json_array(&json, "names");
	error = print_groups(report, &json);
	json_end(&json);
	json_end(&json);
	return error;
}

static int tail_text(struct tail_report *report)
{
	char count[TEXT_SHORT];
	int error = print_groups(report, NULL);

	if (!report->pick->group_count)
		view_buffer_print(report->out, "no recorded span matches the options\n");
	table_left(report->small, "names have too few spans for a comparison; see --json",
		   report->report->color, report->out);
	view_losses_line(report->pick->trace, "", report->out);
	if (report->pick->open)
		view_buffer_print(report->out, "%s span%s without end in the trace: not among them\n",
				  text_count(count, report->pick->open), text_plural(report->pick->open));
	blame_missing_text(&report->blame, report->out);
	return error;
}

int tail_print(struct span_pick *pick, const struct view_report *report, const char *percent,
	       const char *path, struct view_buffer *out)
{
	struct tail_report tail = {
		.pick = pick, .report = report, .percent = percent, .path = path, .out = out
	};
	int error = gather_spans(&tail);

	if (!error)
		error = blame_make(&tail.blame, pick->trace, &pick->strings, tail.spans, tail.count);
	if (!error)
		error = report->form == TABLE_JSON  ? tail_json(&tail)
			: report->form == TABLE_CSV ? print_groups(&tail, NULL)
						    : tail_text(&tail);
	free(tail.vectors);
	blame_free(&tail.blame);
	blame_spans_free(tail.spans, tail.count);
	return !error && pick->strings.failed ? -ENOMEM : error;
}
