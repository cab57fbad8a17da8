/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts as text, JSON and CSV; see stat_command.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/control/stat_command.h"
#include "view/json.h"

static const char *stat_print_reason(int error)
{
	switch (-error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return "this machine has no counter for it";
	case EPERM:
		return "not permitted here (a container's seccomp profile?)";
	case EACCES:
		return "not permitted; run as root, or set kernel.perf_event_paranoid to 1 or less";
	case ENOSYS:
		return "perf events are closed here (by seccomp, or not in this kernel)";
	case EAGAIN:
		return "the kernel never scheduled its counter; count fewer events at a time";
	default:
		return strerror(-error);
	}
}

static const char *stat_print_name_of(const struct count_row *row, char name[COUNT_NAME])
{
	snprintf(name, COUNT_NAME, "%s%s", row->counter.event.name, row->source == COUNT_USER ? ":u" : "");
	return name;
}

static double stat_print_percent(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : 0;
}

/* ---- text ---- */

/* "1,234.56" */
static char *with_commas(char text[2 * TEXT_SHORT], double value, unsigned decimals)
{
	const double factor = pow(10, decimals), rounded = round(value * factor) / factor;
	char whole[TEXT_SHORT], rest[TEXT_SHORT];

	snprintf(rest, sizeof(rest), "%.*f", (int)decimals, rounded - floor(rounded));
	snprintf(text, 2 * TEXT_SHORT, "%s%s", text_count(whole, (uint64_t)floor(rounded)), rest + 1);
	return text;
}

static void print_row(const struct counts *counts, const struct count_row *row, int width,
		      struct view_buffer *out)
{
	char name[COUNT_NAME], text[2 * TEXT_SHORT];
	static const char *const units[COUNT_FIGURES] = { "CPUs", "per cycle", "% of branches", "/s" };
	enum count_figure kind;
	double figure;

	with_commas(text, row->is_time ? row->mean / 1e6 : row->mean, row->is_time ? 2 : counts->runs > 1);
	view_buffer_print(out, "%18s %-2s  %-*s", text, row->is_time ? "ms" : "", width,
			  stat_print_name_of(row, name));
	if (count_figure(counts, row, &figure, &kind) && figure > 0)
		view_buffer_print(out, "  %12s %-13s",
				  with_commas(text, figure, kind == COUNT_PER_S && figure >= 100 ? 0 : 3),
				  units[kind]);
	else if (row->runs > 1 || row->share < 1)
		view_buffer_print(out, "  %12s %-13s", "", "");
	if (row->runs > 1)
		view_buffer_print(out, "  ± %6.2f %%  sd %6.2f %%",
				  stat_print_percent(count_confidence(row), row->mean),
				  stat_print_percent(count_deviation(row), row->mean));
	if (row->share < 1)
		view_buffer_print(out, "  (counted %.0f %% of the time)", row->share * 100);
	while (out->used && out->bytes[out->used - 1] == ' ')
		out->used--;
	view_buffer_print(out, "\n");
}

/* Print the names of the rows that match in one line. Return: how many. */
static unsigned print_names(const struct counts *counts, const char *head,
			    bool (*matches)(const struct count_row *row, int error), int error,
			    struct view_buffer *out)
{
	char name[COUNT_NAME];
	unsigned printed = 0;

	for (unsigned n = 0; n < counts->count; n++)
		if (matches(&counts->rows[n], error))
			view_buffer_print(out, "%s%s", printed++ ? ", " : head,
					  stat_print_name_of(&counts->rows[n], name));
	return printed;
}

static bool failed_with(const struct count_row *row, int error)
{
	return row->error && stat_print_reason(row->error) == stat_print_reason(error);
}

static bool is_from_usage(const struct count_row *row, int error)
{
	return !row->error && !error && row->source == COUNT_USAGE;
}

static bool lacks_kernel(const struct count_row *row, int error)
{
	return !row->error && !error && row->source == COUNT_USER && !row->user;
}

/* The counts that are missing or incomplete: a line for each reason. */
static void print_limits(const struct counts *counts, struct view_buffer *out)
{
	for (unsigned n = 0; n < counts->count; n++) {
		const int error = counts->rows[n].error;
		bool printed = !error;

		for (unsigned before = 0; before < n; before++)
			printed |= failed_with(&counts->rows[before], error);
		if (!printed && print_names(counts, "burin: not counted: ", failed_with, error, out))
			view_buffer_print(out, ": %s\n", stat_print_reason(error));
	}
	if (print_names(counts, "burin: without the kernel's share: ", lacks_kernel, 0, out))
		view_buffer_print(out, ": %s\n", stat_print_reason(-EACCES));
	if (print_names(counts,
			"burin: only of processes that have ended, since counters are not permitted: ",
			is_from_usage, 0, out))
		view_buffer_print(out, "\n");
}

static void stat_print_text(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME];
	int width = 0;

	view_buffer_print(out, "burin:");
	for (char **word = counts->command; *word; word++)
		view_buffer_print(out, " %s", *word);
	if (counts->runs > 1)
		view_buffer_print(out, ": mean of %u runs, ± at 95 %% confidence, sd of one run",
				  counts->runs);
	view_buffer_print(out, "\n\n");
	for (unsigned n = 0; n < counts->count; n++) {
		const int length = (int)strlen(stat_print_name_of(&counts->rows[n], name));

		width = length > width ? length : width;
	}
	for (unsigned n = 0; n < counts->count; n++)
		if (!counts->rows[n].error)
			print_row(counts, &counts->rows[n], width, out);
	view_buffer_print(out, "\n");
	print_limits(counts, out);
}

/* ---- for programs: the names of columns and keys have the unit ---- */

static const char *const figure_keys[COUNT_FIGURES] = { "cpus", "per_cycle", "percent_of_branches", "per_s" };

static const char *source_of(const struct count_row *row)
{
	static const char *const sources[] = { "all", "user", "usage", "time" };

	return sources[row->source];
}

static void print_numbers(const struct counts *counts, const struct count_row *row, struct json *json)
{
	enum count_figure kind;
	double figure;

	json_double(json, row->is_time ? "value_ns" : "value", row->mean, 17);
	json_double(json, row->is_time ? "deviation_ns" : "deviation", count_deviation(row), 6);
	json_double(json, row->is_time ? "confidence_ns" : "confidence", count_confidence(row), 6);
	json_double(json, "share", row->share, 6);
	json_text(json, "source", source_of(row));
	if (count_figure(counts, row, &figure, &kind))
		json_double(json, figure_keys[kind], figure, 6);
}

static void stat_print_json(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME];
	struct json json;

	json_begin_object(&json, out, 0);
	json_array(&json, "command");
	for (char **word = counts->command; *word; word++)
		json_text(&json, NULL, *word);
	json_end(&json);
	json_u64(&json, "runs", counts->runs);
	json_i64(&json, "status", counts->status);
	json_array(&json, "counts");
	for (unsigned n = 0; n < counts->count; n++) {
		const struct count_row *row = &counts->rows[n];

		json_object(&json, NULL);
		json_text(&json, "event", stat_print_name_of(row, name));
		if (row->error)
			json_text(&json, "missing", stat_print_reason(row->error));
		else
			print_numbers(counts, row, &json);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

static void print_csv(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME];

	view_buffer_print(out, "event,missing,runs,share,source,value,deviation,confidence,value_ns,"
			       "deviation_ns,confidence_ns");
	for (unsigned n = 0; n < COUNT_FIGURES; n++)
		view_buffer_print(out, ",%s", figure_keys[n]);
	for (unsigned n = 0; n < counts->count; n++) {
		const struct count_row *row = &counts->rows[n];
		enum count_figure kind = COUNT_FIGURES;
		double figure = 0;

		view_buffer_print(out, "\n");
		view_buffer_csv(out, stat_print_name_of(row, name));
		view_buffer_print(out, ",");
		if (row->error) {
			view_buffer_csv(out, stat_print_reason(row->error));
			view_buffer_print(out, ",0,,,,,,,,,,,,");
			continue;
		}
		view_buffer_print(out, ",%u,%.6g,%s,%s%.17g,%.6g,%.6g%s", row->runs, row->share,
				  source_of(row), row->is_time ? ",,," : "", row->mean, count_deviation(row),
				  count_confidence(row), row->is_time ? "" : ",,,");
		count_figure(counts, row, &figure, &kind);
		for (unsigned at = 0; at < COUNT_FIGURES; at++)
			view_buffer_print(out, at == kind ? ",%.6g" : ",", figure);
	}
	view_buffer_print(out, "\n");
}

void count_print(const struct counts *counts, const struct stat_options *options, struct view_buffer *out)
{
	if (options->json)
		stat_print_json(counts, out);
	else if (options->csv)
		print_csv(counts, out);
	else
		stat_print_text(counts, out);
}
