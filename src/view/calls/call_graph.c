/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calling contexts as text and as JSON (docs/schema/graph.json). */
#include <stdlib.h>

#include "base/print.h"
#include "base/text.h"
#include "view/calls/call_contexts.h"
#include "view/calls/call_stats.h"
#include "view/losses.h"
#include "view/name_columns.h"
#include "view/profile/nameless.h"
#include "view/symbol_label.h"

enum {
	NAME_BYTES = 4096,
};

static const char *const bold = print_styles[PRINT_BOLD], *const dim = print_styles[PRINT_DIM],
			 *const off = print_styles[PRINT_OFF];

static bool is_printed(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const struct call_context *node)
{
	return table_percent(node->total, contexts->time) >= report->min &&
	       (!report->depth || node->depth <= report->depth);
}

/*
 * The node behind another in the order of printing; 0: none. A node that is left out hides all below it, which have
 * less time: so totals of what is printed never seem larger than their caller's.
 */
static uint32_t next_node(const struct call_contexts *contexts, const struct call_graph_report *report,
			  uint32_t node)
{
	const struct call_context *nodes = contexts->nodes;

	if (nodes[node].child && is_printed(contexts, report, &nodes[nodes[node].child]))
		return nodes[node].child;
	for (; node; node = nodes[node].caller) {
		const uint32_t next = nodes[node].next;

		/* Siblings are in order: behind one that is left out, all are. */
		if (next && is_printed(contexts, report, &nodes[next]))
			return next;
	}
	return 0;
}

static void call_graph_print_head(const struct call_contexts *contexts, struct view_buffer *out)
{
	char calls[TEXT_SHORT], threads[TEXT_SHORT], time[TEXT_SHORT];

	view_buffer_print(out, "%s call%s in %s thread%s, %s\n", text_count(calls, contexts->call_count),
			  text_plural(contexts->call_count), text_count(threads, contexts->threads),
			  text_plural(contexts->threads),
			  text_duration(time, call_ns(contexts->trace, contexts->time)));
	if (!contexts->call_count)
		view_buffer_print(out, "no call was recorded, or none matches the options\n");
}

static void print_name(const struct call_contexts *contexts, uint32_t key, bool color,
		       struct view_buffer *out)
{
	const char *image = view_key_text(&contexts->keys, key, VIEW_IMAGE);
	char room[NAME_BYTES];

	view_buffer_print(out, "%s",
			  view_symbol_short(view_key_text(&contexts->keys, key, VIEW_SYMBOL),
					    VIEW_COLUMNS_MAX, 0, room, sizeof(room)));
	if (*image)
		view_buffer_print(out, "%s  (%s)%s", color ? dim : "", image, color ? off : "");
	view_buffer_print(out, "\n");
}

static void print_cost(const struct call_contexts *contexts, uint64_t total, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	view_buffer_print(out, "%6.2f%%  %10s  ", table_percent(total, contexts->time),
			  text_duration(text, call_ns(contexts->trace, total)));
}

static void print_nameless(const struct call_contexts *contexts, bool color, struct view_buffer *out)
{
	const struct view_nameless nameless = { .profile = burin_calls_profile(contexts->calls),
						.weights = call_contexts_by_function(contexts),
						.calls = true };

	if (nameless.weights)
		view_nameless_text(&nameless, color, out);
	else
		out->failed = true;
	free(nameless.weights);
}

static void call_graph_print_foot(const struct call_contexts *contexts, uint64_t left_out,
				  const struct call_graph_report *report, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	table_left(left_out, "more nodes; see --min and --depth", report->color, out);
	if (contexts->folded)
		view_buffer_print(out,
				  "%s calls are in too deep or too many contexts: they count to their "
				  "callers\n",
				  text_count(text, contexts->folded));
	if (contexts->open)
		view_buffer_print(out,
				  "%s call%s had not ended: their time reaches to the end of the trace\n",
				  text_count(text, contexts->open), text_plural(contexts->open));
	view_losses_line(contexts->trace, view_lost_calls, out);
	print_nameless(contexts, report->color, out);
}

void call_graph_text(const struct call_contexts *contexts, const struct call_graph_report *report,
		     struct view_buffer *out)
{
	uint64_t left_out = contexts->count - 1;
	char text[TEXT_SHORT];

	call_graph_print_head(contexts, out);
	if (contexts->call_count)
		view_buffer_print(out, "\n%s         TOTAL            SELF          CALLS  FUNCTION%s\n",
				  report->color ? bold : "", report->color ? off : "");
	for (uint32_t node = 0; (node = next_node(contexts, report, node)); left_out--) {
		const struct call_context *at = &contexts->nodes[node];

		print_cost(contexts, at->total, out);
		view_buffer_print(out, "%10s  ", text_duration(text, call_ns(contexts->trace, at->self)));
		view_buffer_print(out, "%13s  %*s", text_count(text, at->calls), 2 * ((int)at->depth - 1),
				  "");
		print_name(contexts, at->key, report->color, out);
	}
	call_graph_print_foot(contexts, left_out, report, out);
}

static void print_edges(const struct call_contexts *contexts, const struct call_graph_report *report,
			const struct call_edge *edges, size_t count, const char *what,
			struct view_buffer *out)
{
	char text[TEXT_SHORT];
	size_t printed = 0;

	for (size_t n = 0; n < count; n++) {
		if (table_percent(edges[n].total, contexts->time) < report->min)
			continue;
		print_cost(contexts, edges[n].total, out);
		view_buffer_print(out, "%10s  %13s  %s ", "", text_count(text, edges[n].calls), what);
		if (edges[n].key)
			print_name(contexts, edges[n].key, report->color, out);
		else
			view_buffer_print(out, "no function in the trace\n");
		printed++;
	}
	table_left(count - printed, "more; see --min", report->color, out);
}

int call_graph_of_text(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const uint32_t *keys, size_t count, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	call_graph_print_head(contexts, out);
	for (size_t n = 0; n < count; n++) {
		struct call_neighbours neighbours;
		const int error = call_neighbours_make(&neighbours, contexts, keys[n]);

		if (error)
			return error;
		view_buffer_print(out, "\n%s         TOTAL            SELF          CALLS  FUNCTION%s\n",
				  report->color ? bold : "", report->color ? off : "");
		print_edges(contexts, report, neighbours.callers, neighbours.caller_count, "  called by",
			    out);
		print_cost(contexts, neighbours.total, out);
		view_buffer_print(out, "%10s  ",
				  text_duration(text, call_ns(contexts->trace, neighbours.self)));
		view_buffer_print(out, "%13s  ", text_count(text, neighbours.calls));
		print_name(contexts, neighbours.key, report->color, out);
		print_edges(contexts, report, neighbours.callees, neighbours.callee_count, "  calls", out);
		call_neighbours_free(&neighbours);
	}
	call_graph_print_foot(contexts, 0, report, out);
	return 0;
}

/* ---- JSON */

static void head_json(const struct call_contexts *contexts, struct json *json, struct view_buffer *out)
{
	json_begin_object(json, out, 2);
	json_u64(json, "calls", contexts->call_count);
	json_u64(json, "open", contexts->open);
	json_u64(json, "folded", contexts->folded);
	json_u64(json, "threads", contexts->threads);
	json_u64(json, "total_ns", call_ns(contexts->trace, contexts->time));
	view_losses_json(contexts->trace, json);
}

static void name_json(const struct call_contexts *contexts, uint32_t key, struct json *json)
{
	json_text(json, "symbol", key ? view_key_text(&contexts->keys, key, VIEW_SYMBOL) : NULL);
	json_text(json, "image", key ? view_key_text(&contexts->keys, key, VIEW_IMAGE) : NULL);
}

void call_graph_json(const struct call_contexts *contexts, const struct call_graph_report *report,
		     struct view_buffer *out)
{
	struct json json;
	uint32_t depth = 0;

	head_json(contexts, &json, out);
	json_array(&json, "tree");
	for (uint32_t node = 0; (node = next_node(contexts, report, node));) {
		const struct call_context *at = &contexts->nodes[node];

		for (; depth >= at->depth; depth--) {
			json_end(&json);
			json_end(&json);
		}
		json_object(&json, NULL);
		name_json(contexts, at->key, &json);
		json_u64(&json, "calls", at->calls);
		json_u64(&json, "self_ns", call_ns(contexts->trace, at->self));
		json_u64(&json, "total_ns", call_ns(contexts->trace, at->total));
		json_array(&json, "children");
		depth = at->depth;
	}
	for (; depth; depth--) {
		json_end(&json);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

static void edges_json(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const struct call_edge *edges, size_t count, const char *what, struct json *json)
{
	json_array(json, what);
	for (size_t n = 0; n < count; n++) {
		if (table_percent(edges[n].total, contexts->time) < report->min)
			continue;
		json_object(json, NULL);
		name_json(contexts, edges[n].key, json);
		json_u64(json, "calls", edges[n].calls);
		json_u64(json, "total_ns", call_ns(contexts->trace, edges[n].total));
		json_end(json);
	}
	json_end(json);
}

int call_graph_of_json(const struct call_contexts *contexts, const struct call_graph_report *report,
		       const uint32_t *keys, size_t count, struct view_buffer *out)
{
	struct json json;
	int error = 0;

	head_json(contexts, &json, out);
	json_array(&json, "functions");
	for (size_t n = 0; !error && n < count; n++) {
		struct call_neighbours neighbours;

		error = call_neighbours_make(&neighbours, contexts, keys[n]);
		if (error)
			break;
		json_object(&json, NULL);
		name_json(contexts, neighbours.key, &json);
		json_u64(&json, "calls", neighbours.calls);
		json_u64(&json, "self_ns", call_ns(contexts->trace, neighbours.self));
		json_u64(&json, "total_ns", call_ns(contexts->trace, neighbours.total));
		edges_json(contexts, report, neighbours.callers, neighbours.caller_count, "callers", &json);
		edges_json(contexts, report, neighbours.callees, neighbours.callee_count, "callees", &json);
		json_end(&json);
		call_neighbours_free(&neighbours);
	}
	json_end(&json);
	json_end(&json);
	return error;
}
