/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts as text, JSON and CSV; see count.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/count.h"

static const char *reason(int error)
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
		return "its turn never came; count fewer events at a time";
	default:
		return strerror(-error);
	}
}

static const char *name_of(const struct count_row *row, char name[COUNT_NAME])
{
	snprintf(name, COUNT_NAME, "%s%s", row->counter.event.name, row->source == COUNT_USER ? ":u" : "");
	return name;
}

static double percent(double part, double whole)
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
	const char *unit;
	double figure;

	with_commas(text, row->is_time ? row->mean / 1e6 : row->mean, row->is_time ? 2 : counts->runs > 1);
	view_buffer_print(out, "%18s %-2s  %-*s", text, row->is_time ? "ms" : "", width, name_of(row, name));
	if (count_figure(counts, row, &figure, &unit) && figure > 0)
		view_buffer_print(out, "  %12s %-13s",
				  with_commas(text, figure, *unit == '/' && figure >= 100 ? 0 : 3), unit);
	else if (row->runs > 1 || row->share < 1)
		view_buffer_print(out, "  %12s %-13s", "", "");
	if (row->runs > 1)
		view_buffer_print(out, "  ± %6.2f %%  sd %6.2f %%", percent(count_confidence(row), row->mean),
				  percent(count_deviation(row), row->mean));
	if (row->share < 1)
		view_buffer_print(out, "  (counted %.0f %% of the time)", row->share * 100);
	while (out->used && out->bytes[out->used - 1] == ' ')
		out->used--;
	view_buffer_print(out, "\n");
}

/* The rows that `is_meant`, by their names in one line. Return: how many. */
static unsigned print_names(const struct counts *counts, const char *head,
			    bool (*is_meant)(const struct count_row *row, int error), int error,
			    struct view_buffer *out)
{
	char name[COUNT_NAME];
	unsigned told = 0;

	for (unsigned n = 0; n < counts->count; n++)
		if (is_meant(&counts->rows[n], error))
			view_buffer_print(out, "%s%s", told++ ? ", " : head, name_of(&counts->rows[n], name));
	return told;
}

static bool failed_with(const struct count_row *row, int error)
{
	return row->error && reason(row->error) == reason(error);
}

static bool is_of_usage(const struct count_row *row, int error)
{
	return !row->error && !error && row->source == COUNT_USAGE;
}

static bool is_cut(const struct count_row *row, int error)
{
	return !row->error && !error && row->source == COUNT_USER && !row->user;
}

/* What is not there or not as it was meant, and why: a line for each reason. */
static void print_limits(const struct counts *counts, struct view_buffer *out)
{
	for (unsigned n = 0; n < counts->count; n++) {
		const int error = counts->rows[n].error;
		bool told = !error;

		for (unsigned before = 0; before < n; before++)
			told |= failed_with(&counts->rows[before], error);
		if (!told && print_names(counts, "burin: not counted: ", failed_with, error, out))
			view_buffer_print(out, ": %s\n", reason(error));
	}
	if (print_names(counts, "burin: without what the kernel does: ", is_cut, 0, out))
		view_buffer_print(out, ": %s\n", reason(-EACCES));
	if (print_names(counts, "burin: of ended processes only, since counters are not permitted: ",
			is_of_usage, 0, out))
		view_buffer_print(out, "\n");
}

static void print_text(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME], safe[512];
	int width = 0;

	view_buffer_print(out, "burin:");
	for (char **word = counts->command; *word; word++)
		view_buffer_print(out, " %s", text_escape_line(safe, sizeof(safe), *word));
	if (counts->runs > 1)
		view_buffer_print(out, ": mean of %u runs, ± at 95 %% confidence, sd of one run",
				  counts->runs);
	view_buffer_print(out, "\n\n");
	for (unsigned n = 0; n < counts->count; n++) {
		const int length = (int)strlen(name_of(&counts->rows[n], name));

		width = length > width ? length : width;
	}
	for (unsigned n = 0; n < counts->count; n++)
		if (!counts->rows[n].error)
			print_row(counts, &counts->rows[n], width, out);
	view_buffer_print(out, "\n");
	print_limits(counts, out);
}

/* ---- for programs: times in ns ---- */

static const char *source_of(const struct count_row *row)
{
	static const char *const sources[] = { "all", "user", "usage", "time" };

	return sources[row->source];
}

static void print_json(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME];
	const char *unit;
	double figure;

	view_buffer_print(out, "{\"command\":[");
	for (char **word = counts->command; *word; word++) {
		view_buffer_print(out, word == counts->command ? "" : ",");
		view_buffer_json(out, *word);
	}
	view_buffer_print(out, "],\"runs\":%u,\"status\":%d,\"counts\":[", counts->runs, counts->status);
	for (unsigned n = 0; n < counts->count; n++) {
		const struct count_row *row = &counts->rows[n];

		view_buffer_print(out, "%s{\"event\":", n ? "," : "");
		view_buffer_json(out, name_of(row, name));
		if (row->error) {
			view_buffer_print(out, ",\"missing\":");
			view_buffer_json(out, reason(row->error));
		} else {
			view_buffer_print(out, ",\"value\":%.17g,\"unit\":\"%s\",\"deviation\":%.6g",
					  row->mean, row->is_time ? "ns" : "", count_deviation(row));
			view_buffer_print(out, ",\"confidence\":%.6g,\"share\":%.6g,\"source\":\"%s\"",
					  count_confidence(row), row->share, source_of(row));
			if (count_figure(counts, row, &figure, &unit))
				view_buffer_print(out, ",\"figure\":%.6g,\"figure_unit\":\"%s\"", figure,
						  unit);
		}
		view_buffer_print(out, "}");
	}
	view_buffer_print(out, "]}\n");
}

/* Names of events and reasons that we give hold no quotes; reasons may hold commas. */
static void print_csv(const struct counts *counts, struct view_buffer *out)
{
	char name[COUNT_NAME];
	const char *unit;
	double figure;

	view_buffer_print(
		out, "event,value,unit,deviation,confidence,runs,share,source,figure,figure_unit,missing\n");
	for (unsigned n = 0; n < counts->count; n++) {
		const struct count_row *row = &counts->rows[n];

		if (row->error) {
			view_buffer_print(out, "%s,,,,,0,,,,,\"%s\"\n", name_of(row, name),
					  reason(row->error));
			continue;
		}
		view_buffer_print(out, "%s,%.17g,%s,%.6g,%.6g,%u,%.6g,%s,", name_of(row, name), row->mean,
				  row->is_time ? "ns" : "", count_deviation(row), count_confidence(row),
				  row->runs, row->share, source_of(row));
		if (count_figure(counts, row, &figure, &unit))
			view_buffer_print(out, "%.6g,%s,\n", figure, unit);
		else
			view_buffer_print(out, ",,\n");
	}
}

void count_print(const struct counts *counts, enum count_format format, struct view_buffer *out)
{
	if (format == COUNT_JSON)
		print_json(counts, out);
	else if (format == COUNT_CSV)
		print_csv(counts, out);
	else
		print_text(counts, out);
}
