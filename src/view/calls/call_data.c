/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counted calls as JSON (docs/schema/calls.json) and CSV. */
#include <inttypes.h>
#include <stdlib.h>

#include "view/calls/call_stats.h"

/* A duration of calls that ended; null if none has. */
static void ended_json(struct json *json, const struct call_stats *stats, const struct call_row *row,
		       const char *key, uint64_t ticks)
{
	if (row->calls > row->open)
		json_u64(json, key, call_ns(stats->trace, ticks));
	else
		json_null(json, key);
}

static void row_json(struct json *json, const struct call_stats *stats, const struct call_report *report,
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
	json_u64(json, "open", row->open);
	json_u64(json, "self_ns", call_ns(stats->trace, row->self));
	json_u64(json, "total_ns", call_ns(stats->trace, row->total));
	ended_json(json, stats, row, "average_ns", call_row_average(row));
	ended_json(json, stats, row, "min_ns", row->min);
	ended_json(json, stats, row, "p50_ns", call_row_quantile(row, 50));
	ended_json(json, stats, row, "p99_ns", call_row_quantile(row, 99));
	ended_json(json, stats, row, "max_ns", row->max);
	json_end(json);
}

void call_losses_json(struct json *json, const struct burin_trace *trace)
{
	json_object(json, "lost");
	for (unsigned cause = 0; cause < BURIN_LOST_CAUSES; cause++)
		if (burin_trace_lost(trace, cause))
			json_u64(json, burin_loss_name(cause), burin_trace_lost(trace, cause));
	json_end(json);
}

void call_stats_json(const struct call_stats *stats, const struct call_report *report,
		     struct view_buffer *out)
{
	const size_t count = call_stats_choose(stats, report);
	struct json json;

	json_begin(&json, out, 2);
	json_object(&json, NULL);
	json_u64(&json, "calls", stats->call_count);
	json_u64(&json, "open", stats->open);
	json_u64(&json, "without_caller", stats->without_caller);
	json_u64(&json, "threads", stats->threads);
	json_u64(&json, "self_ns", call_ns(stats->trace, stats->time));
	call_losses_json(&json, stats->trace);
	json_array(&json, "rows");
	for (size_t n = 0; n < count; n++)
		row_json(&json, stats, report, stats->rows[n]);
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

static void ended_csv(const struct call_stats *stats, const struct call_row *row, uint64_t ticks,
		      struct view_buffer *out)
{
	if (row->calls > row->open)
		view_buffer_print(out, ",%" PRIu64, call_ns(stats->trace, ticks));
	else
		view_buffer_print(out, ",");
}

void call_stats_csv(const struct call_stats *stats, const struct call_report *report, struct view_buffer *out)
{
	const size_t count = call_stats_choose(stats, report);

	for (unsigned n = 0; n < report->by_count; n++)
		view_buffer_print(out, "%s,", view_part_name(report->by[n]));
	view_buffer_print(out, "calls,open,self_ns,total_ns,average_ns,min_ns,p50_ns,p99_ns,max_ns\r\n");
	for (size_t n = 0; n < count; n++) {
		const struct call_row *row = stats->rows[n];

		for (unsigned at = 0; at < report->by_count; at++) {
			view_buffer_csv(out, call_row_text(stats, row, report->by[at]));
			view_buffer_print(out, ",");
		}
		view_buffer_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->calls, row->open,
				  call_ns(stats->trace, row->self), call_ns(stats->trace, row->total));
		ended_csv(stats, row, call_row_average(row), out);
		ended_csv(stats, row, row->min, out);
		ended_csv(stats, row, call_row_quantile(row, 50), out);
		ended_csv(stats, row, call_row_quantile(row, 99), out);
		ended_csv(stats, row, row->max, out);
		view_buffer_print(out, "\r\n");
	}
}
