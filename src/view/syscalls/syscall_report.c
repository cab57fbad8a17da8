/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted system calls as text, as JSON (docs/schema/report-syscalls.json) and as CSV; the columns of burin report --syscalls. */
#include <inttypes.h>

#include "view/losses.h"
#include "view/syscalls/syscall_stats.h"

enum {
	ERRORS_SHOWN = 4, /* different errors of a row, in text */
};

/* ---- Columns */

/* "12 ENOENT, 3 EACCES, ..." */
static void errors_text(const void *row, struct view_buffer *out)
{
	const struct syscall_row *of = row;
	char count[TEXT_SHORT], name[TEXT_SHORT];

	for (size_t n = 0; n < of->error_count && n < ERRORS_SHOWN; n++)
		view_buffer_print(out, "%s%s %s", n ? ", " : "", text_count(count, of->by_error[n].calls),
				  kernel_errno_name(of->by_error[n].error, name));
	if (of->error_count > ERRORS_SHOWN)
		view_buffer_print(out, ", ...");
}

static void errors_json(const struct table *table, const void *row, struct json *json)
{
	const struct syscall_row *of = row;
	char name[TEXT_SHORT];

	(void)table;
	json_object(json, NULL);
	for (size_t n = 0; n < of->error_count; n++)
		json_u64(json, kernel_errno_name(of->by_error[n].error, name), of->by_error[n].calls);
	json_end(json);
}

/* "ENOENT=12 EACCES=3" */
static void errors_csv(const void *row, struct view_buffer *out)
{
	const struct syscall_row *of = row;
	char name[TEXT_SHORT];

	for (size_t n = 0; n < of->error_count; n++)
		view_buffer_print(out, "%s%s=%" PRIu64, n ? " " : "",
				  kernel_errno_name(of->by_error[n].error, name), of->by_error[n].calls);
}

static const struct column_list error_list = { errors_text, errors_json, errors_csv };

static const struct column syscall_columns[] = {
	COLUMN("calls", "CALLS", COUNT, 13, struct syscall_row, row.calls),
	COLUMN("errors", "ERRORS", COUNT, 9, struct syscall_row, errors, .zero = ""),
	COLUMN(NULL, "", SHARE, 7, struct syscall_row, row.self, .lead = true),
	COLUMN("time_ns", "TIME     ", DURATION, 10, struct syscall_row, row.self, .zero = "-", .lead = true),
	CALL_DURATION_COLUMNS(struct syscall_row, row.durations),
	{ .key = "errno", .title = "ERRNO", .kind = COLUMN_LIST, .list = &error_list },
	{ 0 },
};

static const char *syscall_row_name(const void *data, const void *row, unsigned part)
{
	const struct syscall_stats *stats = data;
	const struct call_row *of = row;

	return stats->strings.texts[part < VIEW_TASK_PARTS ? of->task[part] : of->key];
}

/* ---- Output */

static void syscall_report_json(const struct syscall_stats *stats, const struct table *rows,
				struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 2);
	json_u64(&json, "calls", stats->calls);
	json_u64(&json, "errors", stats->errors);
	json_u64(&json, "without_begin", stats->unbegun);
	json_u64(&json, "without_end", stats->unended);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "time_ns", call_ns(stats->trace, stats->rows.time));
	view_losses_json(stats->trace, &json);
	table_json(rows, &json, "rows");
	json_end(&json);
}

static void syscall_report_text(const struct syscall_stats *stats, const struct table *rows,
				struct view_buffer *out)
{
	char calls[TEXT_SHORT], errors[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s system call%s of %s thread%s, %s, %s error%s\n",
			  text_count(calls, stats->calls), text_plural(stats->calls),
			  text_count(threads, stats->threads), text_plural(stats->threads),
			  text_duration(time, call_ns(stats->trace, stats->rows.time)),
			  text_count(errors, stats->errors), text_plural(stats->errors));
	if (!stats->calls)
		view_buffer_print(out, "no recorded system call matches the options\n");
	if (rows->count)
		table_text(rows, out);
	table_left(stats->rows.count - rows->count, "more rows; see --min and --limit", rows->color, out);
	view_buffer_print(out, "\n");
	view_losses_line(stats->trace, "", out);
	if (stats->unbegun)
		view_buffer_print(out, "%s call%s without begin in the trace: counted, without time\n",
				  text_count(calls, stats->unbegun), text_plural(stats->unbegun));
	if (stats->unended)
		view_buffer_print(out, "%s call%s without end in the trace: counted, without time\n",
				  text_count(calls, stats->unended), text_plural(stats->unended));
}

void syscall_stats_print(struct syscall_stats *stats, const struct view_report *report,
			 struct view_buffer *out)
{
	struct table rows = { .columns = syscall_columns,
			      .rows = stats->rows.rows,
			      .count = call_rows_choose(&stats->rows, report),
			      .name = syscall_row_name,
			      .data = stats,
			      .hz = stats->trace->clock.hz,
			      .whole = stats->rows.time };

	view_report_names(report, &rows);
	for (unsigned n = 0; n < rows.name_count; n++)
		if (rows.names[n].part == VIEW_SYMBOL)
			rows.names[n] = (struct column)COLUMN_NAME("syscall", TEXT, VIEW_SYMBOL);
	if (report->form == TABLE_JSON)
		syscall_report_json(stats, &rows, out);
	else if (report->form == TABLE_CSV)
		table_csv(&rows, out);
	else
		syscall_report_text(stats, &rows, out);
}
