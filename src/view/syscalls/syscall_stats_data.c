/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted system calls as JSON (docs/schema/report-syscalls.json) and CSV. */
#include <inttypes.h>
#include <stdlib.h>

#include "view/syscalls/syscall_stats.h"
#include "view/losses.h"

static void row_json(struct json *json, const struct syscall_stats *stats, const struct view_report *report,
		     const struct syscall_row *row)
{
	char name[TEXT_SHORT];

	json_object(json, NULL);
	for (unsigned n = 0; n < report->by_count; n++) {
		const char *text = syscall_row_text(stats, row, report->by[n]);

		if (view_part_is_number(report->by[n]))
			json_u64(json, syscall_part_name(report->by[n]), strtoull(text, NULL, 10));
		else
			json_text(json, syscall_part_name(report->by[n]), text);
	}
	json_u64(json, "calls", row->row.calls);
	json_u64(json, "errors", row->errors);
	json_u64(json, "time_ns", call_ns(stats->trace, row->row.self));
	call_durations_json(&row->row.durations, stats->trace, json);
	json_object(json, "errno");
	for (size_t n = 0; n < row->error_count; n++)
		json_u64(json, kernel_errno_name(row->by_error[n].error, name), row->by_error[n].calls);
	json_end(json);
	json_end(json);
}

void syscall_stats_json(struct syscall_stats *stats, const struct view_report *report,
			struct view_buffer *out)
{
	const size_t count = call_rows_choose(&stats->rows, report);
	struct json json;

	json_begin(&json, out, 2);
	json_object(&json, NULL);
	json_u64(&json, "calls", stats->calls);
	json_u64(&json, "errors", stats->errors);
	json_u64(&json, "without_begin", stats->unbegun);
	json_u64(&json, "without_end", stats->unended);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "time_ns", call_ns(stats->trace, stats->rows.time));
	view_losses_json(stats->trace, &json);
	json_array(&json, "rows");
	for (size_t n = 0; n < count; n++)
		row_json(&json, stats, report, syscall_row(stats, n));
	json_end(&json);
	json_end(&json);
}

void syscall_stats_csv(struct syscall_stats *stats, const struct view_report *report, struct view_buffer *out)
{
	const size_t count = call_rows_choose(&stats->rows, report);
	char name[TEXT_SHORT];

	for (unsigned n = 0; n < report->by_count; n++)
		view_buffer_print(out, "%s,", syscall_part_name(report->by[n]));
	view_buffer_print(out, "calls,errors,time_ns,average_ns,min_ns,p50_ns,p99_ns,max_ns,errno\r\n");
	for (size_t n = 0; n < count; n++) {
		const struct syscall_row *row = syscall_row(stats, n);

		for (unsigned at = 0; at < report->by_count; at++) {
			view_buffer_csv(out, syscall_row_text(stats, row, report->by[at]));
			view_buffer_print(out, ",");
		}
		view_buffer_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->row.calls, row->errors,
				  call_ns(stats->trace, row->row.self));
		call_durations_csv(&row->row.durations, stats->trace, out);
		view_buffer_print(out, ",");
		for (size_t at = 0; at < row->error_count; at++)
			view_buffer_print(out, "%s%s=%" PRIu64, at ? " " : "",
					  kernel_errno_name(row->by_error[at].error, name),
					  row->by_error[at].calls);
		view_buffer_print(out, "\r\n");
	}
}
