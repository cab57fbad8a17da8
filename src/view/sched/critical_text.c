/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Critical paths as text, as JSON (docs/schema/report-critical.json) and as CSV. */
#include <inttypes.h>

#include "base/print.h"
#include "view/sched/critical.h"
#include "view/sched/sched_read.h"
#include "view/sched/sched_stacks.h"
#include "view/losses.h"

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];
static const char *const state_names[] = { "running", "waiting for a CPU", "blocked", "unknown" };
static const char *const state_keys[] = { "running", "runnable", "blocked", "unknown" };
static const char *const end_keys[] = { "thread", "interrupt", "unknown" };

static const char *critical_text_of(const struct critical *critical, uint32_t string)
{
	return critical->strings.texts[string];
}

static bool critical_text_is_shown(const struct critical_span *span, const struct critical_node *node,
				   const struct view_report *options)
{
	return (double)node->time * 100 >= options->min * (double)span->time;
}

/* ---- text */

/* A stack of a wait, below its line. */
static void print_stack(const struct critical *critical, const struct critical_node *node, const char *what,
			uint32_t stack, const struct view_report *options, struct view_buffer *out)
{
	if (!stack)
		return;
	view_buffer_print(out, "%s%*s%s", options->color ? dim : "", 37 + 2 * (int)node->depth, "", what);
	sched_stack_text(critical_text_of(critical, stack), out);
	view_buffer_print(out, "%s\n", options->color ? off : "");
}

static void print_node(const struct critical *critical, const struct critical_span *span,
		       const struct critical_node *node, const struct view_report *options,
		       struct view_buffer *out)
{
	char time[TEXT_SHORT], count[TEXT_SHORT];

	view_buffer_print(out, "%6.2f%%  %10s  %11s  %*s%s: %s", table_percent(node->time, span->time),
			  text_duration(time, node->time), text_count(count, node->count),
			  2 * (int)node->depth, "", critical_text_of(critical, node->thread),
			  state_names[node->state]);
	if (node->state == SCHED_BLOCKED)
		view_buffer_print(out, " in %s%s", critical_text_of(critical, node->what),
				  node->end == CRITICAL_INTERRUPT ? ", until an interrupt"
				  : node->end == CRITICAL_UNKNOWN ? ", the waker is unknown"
								  : ", woken by");
	view_buffer_print(out, "\n");
	print_stack(critical, node, "", node->stack, options, out);
	print_stack(critical, node, "woken ", node->waker, options, out);
}

static void print_span(const struct critical *critical, size_t number, const struct view_report *options,
		       struct view_buffer *out)
{
	const struct critical_span *span = &critical->spans[number];
	char count[TEXT_SHORT], time[TEXT_SHORT], max[TEXT_SHORT];
	uint64_t shown = 0, left = 0;

	view_buffer_print(out, "%s%s%s: %s span%s, %s, the longest %s\n\n", options->color ? bold : "",
			  critical_text_of(critical, span->name), options->color ? off : "",
			  text_count(count, span->count), text_plural(span->count),
			  text_duration(time, span->time), text_duration(max, span->max));
	view_buffer_print(out, "%s  SHARE        TIME        TIMES  THREAD%s\n", options->color ? bold : "",
			  options->color ? off : "");
	for (uint32_t n = 0; (n = critical_next(critical, number, n));) {
		if (shown < options->limit && critical_text_is_shown(span, &critical->nodes[n], options)) {
			print_node(critical, span, &critical->nodes[n], options, out);
			shown++;
		} else {
			left++;
		}
	}
	table_left(left, "more lines; see --min and --limit", options->color, out);
	view_buffer_print(out, "\n");
}

static void critical_text(const struct critical *critical, const struct view_report *options,
			  struct view_buffer *out)
{
	char count[TEXT_SHORT];

	for (size_t n = 0; n < critical->span_count; n++)
		print_span(critical, n, options, out);
	if (!critical->span_count)
		view_buffer_print(out, "no span matches the options\n\n");
	view_losses_line(critical->trace, "", out);
	sched_missing_text(&critical->missing, out);
	if (critical->unended)
		view_buffer_print(out, "%s span%s without begin or end in the trace\n",
				  text_count(count, critical->unended), text_plural(critical->unended));
	if (critical->dropped)
		view_buffer_print(
			out, "the states of threads took too much memory: parts of long spans are unknown\n");
	if (!critical->has_wakes)
		view_buffer_print(
			out, "no wake-ups are in the trace, so wakers are unknown; record with --sched\n");
}

/* ---- data */

static void node_json(struct json *json, const struct critical *critical, const struct critical_node *node)
{
	json_object(json, NULL);
	json_u64(json, "depth", node->depth);
	json_text(json, "thread", critical_text_of(critical, node->thread));
	json_text(json, "state", state_keys[node->state]);
	if (node->state == SCHED_BLOCKED) {
		json_text(json, "in", critical_text_of(critical, node->what));
		json_text(json, "until", end_keys[node->end]);
		if (node->stack)
			sched_stack_json(critical_text_of(critical, node->stack), "stack", json);
		if (node->waker)
			sched_stack_json(critical_text_of(critical, node->waker), "waker_stack", json);
	}
	json_u64(json, "count", node->count);
	json_u64(json, "time_ns", node->time);
	json_end(json);
}

static void critical_json(const struct critical *critical, const struct view_report *options,
			  struct view_buffer *out)
{
	static const char *const keys[] = { "running_ns", "runnable_ns", "blocked_ns", "unknown_ns" };
	struct json json;

	json_begin_object(&json, out, 3);
	json_array(&json, "spans");
	for (size_t n = 0; n < critical->span_count; n++) {
		const struct critical_span *span = &critical->spans[n];
		uint64_t shown = 0;

		json_object(&json, NULL);
		json_text(&json, "span", critical_text_of(critical, span->name));
		json_u64(&json, "count", span->count);
		json_u64(&json, "time_ns", span->time);
		json_u64(&json, "max_ns", span->max);
		for (unsigned state = 0; state <= SCHED_STATES; state++)
			json_u64(&json, keys[state], span->states[state]);
		json_array(&json, "path");
		for (uint32_t node = 0; (node = critical_next(critical, n, node)) && shown < options->limit;)
			if (critical_text_is_shown(span, &critical->nodes[node], options)) {
				node_json(&json, critical, &critical->nodes[node]);
				shown++;
			}
		json_end(&json);
		json_end(&json);
	}
	json_end(&json);
	json_u64(&json, "without_begin_or_end", critical->unended);
	json_bool(&json, "has_wakeups", critical->has_wakes);
	view_losses_json(critical->trace, &json);
	sched_missing_json(&critical->missing, &json);
	json_end(&json);
}

static void critical_csv(const struct critical *critical, const struct view_report *options,
			 struct view_buffer *out)
{
	view_buffer_print(out, "span,depth,thread,state,in,until,count,time_ns\r\n");
	for (size_t n = 0; n < critical->span_count; n++) {
		const struct critical_span *span = &critical->spans[n];
		uint64_t shown = 0;

		for (uint32_t number = 0;
		     (number = critical_next(critical, n, number)) && shown < options->limit;) {
			const struct critical_node *node = &critical->nodes[number];
			const bool blocked = node->state == SCHED_BLOCKED;

			if (!critical_text_is_shown(span, node, options))
				continue;
			shown++;
			view_buffer_csv(out, critical_text_of(critical, span->name));
			view_buffer_print(out, ",%u,", node->depth);
			view_buffer_csv(out, critical_text_of(critical, node->thread));
			view_buffer_print(out, ",%s,", state_keys[node->state]);
			view_buffer_csv(out, blocked ? critical_text_of(critical, node->what) : "");
			view_buffer_print(out, ",%s,%" PRIu64 ",%" PRIu64 "\r\n",
					  blocked ? end_keys[node->end] : "", node->count, node->time);
		}
	}
}

void critical_print(const struct critical *critical, const struct view_report *options,
		    struct view_buffer *out)
{
	if (options->form == TABLE_JSON)
		critical_json(critical, options, out);
	else if (options->form == TABLE_CSV)
		critical_csv(critical, options, out);
	else
		critical_text(critical, options, out);
}
