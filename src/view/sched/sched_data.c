/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where threads spent their time, as JSON (docs/schema/report-sched.json) and CSV. */
#include <inttypes.h>
#include <stdlib.h>

#include "view/sched/sched_read.h"
#include "view/sched/sched_report.h"
#include "view/sched/sched_stacks.h"
#include "view/losses.h"

static const char *const state_keys[SCHED_STATES] = { "running_ns", "runnable_ns", "blocked_ns" };

static void stacks_json(struct json *json, const struct sched_report *report, const char *time,
			const struct sched_parts *stacks, const struct sched_part *of)
{
	json_array(json, "stacks");
	for (size_t n = 0; n < stacks->count; n++) {
		const struct sched_part *part = &stacks->parts[n];

		if (part->text != of->text)
			continue;
		json_object(json, NULL);
		sched_stack_json(report->strings.texts[part->stack], "stack", json);
		json_u64(json, "count", part->count);
		json_u64(json, time, part->time);
		json_end(json);
	}
	json_end(json);
}

static void parts_json(struct json *json, const struct sched_report *report, const char *key,
		       const char *text, const char *time, const struct sched_parts *parts,
		       const struct sched_parts *stacks)
{
	json_array(json, key);
	for (size_t n = 0; n < parts->count; n++) {
		json_object(json, NULL);
		json_text(json, text, report->strings.texts[parts->parts[n].text]);
		json_u64(json, "count", parts->parts[n].count);
		json_u64(json, time, parts->parts[n].time);
		if (report->has_stacks)
			stacks_json(json, report, time, stacks, &parts->parts[n]);
		json_end(json);
	}
	json_end(json);
}

static void latency_json(struct json *json, const struct sched_row *row, const char *key, uint64_t ns)
{
	if (row->latencies.count)
		json_u64(json, key, ns);
	else
		json_null(json, key);
}

static void row_json(struct json *json, const struct sched_report *report, const struct view_report *options,
		     const struct sched_row *row)
{
	json_object(json, NULL);
	for (unsigned n = 0; n < options->by_count; n++) {
		const char *text = report->strings.texts[row->task[options->by[n]]],
			   *key = view_part_name(options->by[n]);

		if (view_part_is_number(options->by[n]))
			json_u64(json, key, strtoull(text, NULL, 10));
		else
			json_text(json, key, text);
	}
	json_u64(json, "threads", row->threads);
	json_u64(json, "time_ns", row->wall);
	for (unsigned state = 0; state < SCHED_STATES; state++)
		json_u64(json, state_keys[state], row->time[state]);
	json_u64(json, "runs", row->runs);
	json_u64(json, "preempted", row->preempted);
	json_u64(json, "woken", row->latencies.count);
	latency_json(json, row, "latency_average_ns", call_durations_average(&row->latencies));
	latency_json(json, row, "latency_p50_ns", call_durations_quantile(&row->latencies, 50));
	latency_json(json, row, "latency_p99_ns", call_durations_quantile(&row->latencies, 99));
	latency_json(json, row, "latency_max_ns", row->latencies.max);
	parts_json(json, report, "blocked", "in", "time_ns", &row->blocked, &row->blocked_stacks);
	parts_json(json, report, "wakers", "waker", "latency_ns", &row->wakers, &row->waker_stacks);
	json_end(json);
}

void sched_report_json(struct sched_report *report, const struct view_report *options,
		       struct view_buffer *out)
{
	struct json json;

	json_begin(&json, out, 2);
	json_object(&json, NULL);
	json_u64(&json, "threads", report->threads);
	json_u64(&json, "time_ns", report->wall);
	for (unsigned state = 0; state < SCHED_STATES; state++)
		json_u64(&json, state_keys[state], report->time[state]);
	json_bool(&json, "has_wakeups", report->has_wakes);
	view_losses_json(report->trace, &json);
	sched_missing_json(&report->missing, &json);
	json_array(&json, "rows");
	for (size_t n = 0; n < report->count && n < options->limit; n++)
		row_json(&json, report, options, report->rows[n]);
	json_end(&json);
	json_end(&json);
}

void sched_report_csv(struct sched_report *report, const struct view_report *options, struct view_buffer *out)
{
	for (unsigned n = 0; n < options->by_count; n++)
		view_buffer_print(out, "%s,", view_part_name(options->by[n]));
	view_buffer_print(out, "threads,time_ns,running_ns,runnable_ns,blocked_ns,runs,preempted,woken,"
			       "latency_average_ns,latency_p50_ns,latency_p99_ns,latency_max_ns\r\n");
	for (size_t n = 0; n < report->count && n < options->limit; n++) {
		const struct sched_row *row = report->rows[n];

		for (unsigned at = 0; at < options->by_count; at++) {
			view_buffer_csv(out, report->strings.texts[row->task[options->by[at]]]);
			view_buffer_print(out, ",");
		}
		view_buffer_print(out,
				  "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
				  ",%" PRIu64 ",%" PRIu64 ",",
				  row->threads, row->wall, row->time[SCHED_RUNNING],
				  row->time[SCHED_RUNNABLE], row->time[SCHED_BLOCKED], row->runs,
				  row->preempted, row->latencies.count);
		if (row->latencies.count)
			view_buffer_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n",
					  call_durations_average(&row->latencies),
					  call_durations_quantile(&row->latencies, 50),
					  call_durations_quantile(&row->latencies, 99), row->latencies.max);
		else
			view_buffer_print(out, ",,,\r\n");
	}
}
