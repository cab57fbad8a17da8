/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted system calls as text. */
#include <string.h>

#include "base/print.h"
#include "view/syscalls/syscall_stats.h"
#include "view/losses.h"
#include "view/name_columns.h"

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

enum {
	ERRORS_SHOWN = 4, /* different errors of a row */
};

/* "12 ENOENT, 3 EACCES, ..." */
static void print_errors(const struct syscall_row *row, struct view_buffer *out)
{
	char count[TEXT_SHORT], name[TEXT_SHORT];

	for (size_t n = 0; n < row->error_count && n < ERRORS_SHOWN; n++)
		view_buffer_print(out, "%s%s %s", n ? ", " : "", text_count(count, row->by_error[n].calls),
				  kernel_errno_name(row->by_error[n].error, name));
	if (row->error_count > ERRORS_SHOWN)
		view_buffer_print(out, ", ...");
}

static void print_row(const struct syscall_stats *stats, const struct view_report *report,
		      const unsigned *widths, const struct syscall_row *row, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_buffer_print(out, "%6.2f%%  ",
			  stats->rows.time ? 100.0 * (double)row->row.self / (double)stats->rows.time : 0.0);
	call_duration_text(stats->trace, row->row.self, row->row.durations.count > 0, out);
	view_buffer_print(out, "%13s  ", text_count(text, row->row.calls));
	view_buffer_print(out, "%9s  ", row->errors ? text_count(text, row->errors) : "");
	call_durations_text(&row->row.durations, stats->trace, out);
	for (unsigned n = 0; n < report->by_count; n++)
		view_column(out, syscall_row_text(stats, row, report->by[n]), widths[n], false);
	print_errors(row, out);
	while (out->used && out->bytes[out->used - 1] == ' ')
		out->used--;
	view_buffer_print(out, "\n");
}

static void print_rows(const struct syscall_stats *stats, const struct view_report *report, size_t count,
		       struct view_buffer *out)
{
	unsigned widths[VIEW_PARTS];

	view_buffer_print(out,
			  "\n%s          TIME          CALLS     ERRORS     AVERAGE         MIN         P50"
			  "         P99         MAX  ",
			  report->color ? bold : "");
	for (unsigned n = 0; n < report->by_count; n++) {
		widths[n] = (unsigned)strlen(syscall_part_name(report->by[n]));
		for (size_t row = 0; row < count; row++)
			widths[n] = view_column_wider(
				widths[n], syscall_row_text(stats, syscall_row(stats, row), report->by[n]));
		view_column_title(out, syscall_part_name(report->by[n]), widths[n]);
	}
	view_buffer_print(out, "ERRNO%s\n", report->color ? off : "");
	for (size_t n = 0; n < count; n++)
		print_row(stats, report, widths, syscall_row(stats, n), out);
}

void syscall_stats_text(struct syscall_stats *stats, const struct view_report *report,
			struct view_buffer *out)
{
	const size_t count = call_rows_choose(&stats->rows, report);
	char calls[TEXT_SHORT], errors[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s system call%s of %s thread%s, %s, %s error%s\n",
			  text_count(calls, stats->calls), stats->calls == 1 ? "" : "s",
			  text_count(threads, stats->threads), stats->threads == 1 ? "" : "s",
			  text_duration(time, call_ns(stats->trace, stats->rows.time)),
			  text_count(errors, stats->errors), stats->errors == 1 ? "" : "s");
	if (!stats->calls)
		view_buffer_print(out, "no recorded system call matches the options\n");
	if (count)
		print_rows(stats, report, count, out);
	if (stats->rows.count > count)
		view_buffer_print(out, "%s%s more rows; see --min and --limit%s\n", report->color ? dim : "",
				  text_count(calls, stats->rows.count - count), report->color ? off : "");
	view_buffer_print(out, "\n");
	view_losses_line(stats->trace, "", out);
	if (stats->unbegun)
		view_buffer_print(out, "%s call%s without begin in the trace: counted, without time\n",
				  text_count(calls, stats->unbegun), stats->unbegun == 1 ? "" : "s");
	if (stats->unended)
		view_buffer_print(out, "%s call%s without end in the trace: counted, without time\n",
				  text_count(calls, stats->unended), stats->unended == 1 ? "" : "s");
}
