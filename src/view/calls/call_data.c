/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted calls as JSON (docs/schema/calls.json) and CSV. */
#include <inttypes.h>
#include <stdlib.h>

#include "view/calls/call_stats.h"
#include "view/losses.h"

static void row_json(struct json *json, const struct call_stats *stats, const struct view_report *report,
		     const struct call_row *row)
{
	json_object(json, NULL);
	for (unsigned n = 0; n < report->by_count; n++) {
		const char *text = call_row_text(stats, row, report->by[n]);

		if (view_part_is_number(report->by[n]))
			json_u64(json, view_part_name(report->by[n]), strtoull(text, NULL, 10));
		else
			json_text(json, view_part_name(report->by[n]), text);
	}
	json_u64(json, "calls", row->calls);
	json_u64(json, "open", row->calls - row->durations.count);
	json_u64(json, "self_ns", call_ns(stats->trace, row->self));
	json_u64(json, "total_ns", call_ns(stats->trace, row->total));
	call_durations_json(&row->durations, stats->trace, json);
	json_end(json);
}

void call_stats_json(struct call_stats *stats, const struct view_report *report, struct view_buffer *out)
{
	const size_t count = call_rows_choose(&stats->rows, report);
	struct json json;

	json_begin(&json, out, 2);
	json_object(&json, NULL);
	json_u64(&json, "calls", stats->call_count);
	json_u64(&json, "open", stats->open);
	json_u64(&json, "without_caller", stats->without_caller);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "self_ns", call_ns(stats->trace, stats->rows.time));
	view_losses_json(stats->trace, &json);
	json_array(&json, "rows");
	for (size_t n = 0; n < count; n++)
		row_json(&json, stats, report, stats->rows.rows[n]);
	json_end(&json);
	json_array(&json, "counted");
	for (size_t n = 0; n < stats->counted_count && n < report->limit; n++) {
		const struct call_counted *counted = &stats->counted[n];

		json_object(&json, NULL);
		json_text(&json, "symbol", view_key_text(&stats->names, counted->key, VIEW_SYMBOL));
		json_text(&json, "image", view_key_text(&stats->names, counted->key, VIEW_IMAGE));
		json_u64(&json, "calls", counted->calls);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

void call_stats_csv(struct call_stats *stats, const struct view_report *report, struct view_buffer *out)
{
	const size_t count = call_rows_choose(&stats->rows, report);

	for (unsigned n = 0; n < report->by_count; n++)
		view_buffer_print(out, "%s,", view_part_name(report->by[n]));
	view_buffer_print(out, "calls,open,self_ns,total_ns,average_ns,min_ns,p50_ns,p99_ns,max_ns\r\n");
	for (size_t n = 0; n < count; n++) {
		const struct call_row *row = stats->rows.rows[n];

		for (unsigned at = 0; at < report->by_count; at++) {
			view_buffer_csv(out, call_row_text(stats, row, report->by[at]));
			view_buffer_print(out, ",");
		}
		view_buffer_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->calls,
				  row->calls - row->durations.count, call_ns(stats->trace, row->self),
				  call_ns(stats->trace, row->total));
		call_durations_csv(&row->durations, stats->trace, out);
		view_buffer_print(out, "\r\n");
	}
}
