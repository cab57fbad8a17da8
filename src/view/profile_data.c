/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows, trees and the inside of functions for programs: JSON, and CSV as in RFC 4180. */
#include <inttypes.h>
#include <string.h>

#include "view/annotate.h"
#include "view/profile.h"

enum {
	DEPTH_MAX = 512,
};

static void json_head(const struct view_profile *counted, struct view_buffer *out)
{
	view_buffer_print(out, "{\"events\":[");
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		const struct view_counted *of = &counted->of[state];

		if (!of->event)
			continue;
		view_buffer_print(out, "%s{\"name\":", state && counted->of[0].event ? "," : "");
		view_buffer_json(out, of->event->name);
		view_buffer_print(out, ",\"state\":\"%s\",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 "}",
				  view_state_name(state), of->samples, of->weight);
	}
	view_buffer_print(out, "],\"unit\":");
	view_buffer_json(out, counted->unit);
	view_buffer_print(out, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"other_samples\":%" PRIu64,
			  counted->samples, counted->weight, counted->of_other_events);
}

static void json_costs(const struct view_cost *self, const struct view_cost *total, struct view_buffer *out)
{
	view_buffer_print(out,
			  "\"self\":%" PRIu64 ",\"total\":%" PRIu64 ",\"self_waited\":%" PRIu64
			  ",\"total_waited\":%" PRIu64,
			  self->all, total->all, self->waited, total->waited);
}

static void json_foot(const struct view_profile *counted, struct view_buffer *out)
{
	view_buffer_print(out, ",\"ledger\":");
	view_ledger_json(counted->profile, out);
	view_buffer_print(out, "}\n");
}

void view_rows_json(const struct view_profile *counted, struct view_rows *rows,
		    const struct view_report *report, struct view_buffer *out)
{
	size_t left_out;

	view_rows_choose(counted, rows, report, &left_out);
	json_head(counted, out);
	view_buffer_print(out, ",\"rows\":[");
	for (size_t n = 0; n < rows->count; n++) {
		const struct view_row *row = &rows->rows[n];

		view_buffer_print(out, "%s{", n ? ",\n" : "\n");
		for (unsigned at = 0; at < report->by_count; at++) {
			view_buffer_print(out, "\"%s\":", view_part_name(report->by[at]));
			view_buffer_json(out, view_row_text(rows, row, report->by[at]));
			view_buffer_print(out, ",");
		}
		json_costs(&row->self, &row->total, out);
		view_buffer_print(out, ",\"samples\":%" PRIu64 "}", row->samples);
	}
	view_buffer_print(out, "]");
	json_foot(counted, out);
}

static void csv_field(struct view_buffer *out, const char *text)
{
	char *at;

	if (!text[strcspn(text, "\",\r\n")]) {
		view_buffer_print(out, "%s", text);
		return;
	}
	at = view_buffer_reserve(out, 2 * strlen(text) + 2);
	if (!at)
		return;
	*at++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*at++ = '"';
		*at++ = *text;
	}
	*at++ = '"';
	view_buffer_commit(out, at);
}

void view_rows_csv(const struct view_profile *counted, struct view_rows *rows,
		   const struct view_report *report, struct view_buffer *out)
{
	size_t left_out;

	view_rows_choose(counted, rows, report, &left_out);
	for (unsigned at = 0; at < report->by_count; at++)
		view_buffer_print(out, "%s,", view_part_name(report->by[at]));
	view_buffer_print(out, "self,total,samples,self_waited,total_waited\r\n");
	for (size_t n = 0; n < rows->count; n++) {
		const struct view_row *row = &rows->rows[n];

		for (unsigned at = 0; at < report->by_count; at++) {
			csv_field(out, view_row_text(rows, row, report->by[at]));
			view_buffer_print(out, ",");
		}
		view_buffer_print(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\r\n",
				  row->self.all, row->total.all, row->samples, row->self.waited,
				  row->total.waited);
	}
}

void view_tree_json(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out)
{
	uint32_t path[DEPTH_MAX], node = tree->nodes[0].child;
	unsigned depth = 0;
	double least = report->min * (double)tree->nodes[0].total.all / 100;

	json_head(counted, out);
	view_buffer_print(out, ",\"tree\":[");
	for (;;) {
		const struct view_node *at = &tree->nodes[node];

		if (!node || (double)at->total.all < least) {
			view_buffer_print(out, "]");
			if (!depth)
				break;
			view_buffer_print(out, "}");
			node = tree->nodes[path[--depth]].next;
			if (node && (double)tree->nodes[node].total.all >= least)
				view_buffer_print(out, ",");
			continue;
		}
		view_buffer_print(out, "\n{\"name\":");
		view_buffer_json(out, view_node_text(tree, node));
		if (at->part == VIEW_SYMBOL && (tree->keys->wanted & 1 << VIEW_IMAGE)) {
			view_buffer_print(out, ",\"image\":");
			view_buffer_json(out, view_key_text(tree->keys, at->key, VIEW_IMAGE));
		}
		view_buffer_print(out, ",");
		json_costs(&at->self, &at->total, out);
		view_buffer_print(out, ",\"children\":[");
		path[depth++] = node;
		node = depth < DEPTH_MAX ? at->child : 0;
	}
	json_foot(counted, out);
}

void view_annotation_json(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out)
{
	json_head(counted, out);
	view_buffer_print(out, ",\"lines\":[");
	for (size_t n = 0; n < annotation->line_count; n++) {
		const struct view_line_cost *line = &annotation->lines[n];

		view_buffer_print(out, "%s{\"file\":", n ? ",\n" : "\n");
		view_buffer_json(out, annotation->strings.texts[line->file]);
		view_buffer_print(out, ",\"line\":%" PRIu32 ",", line->line);
		json_costs(&line->self, &line->total, out);
		view_buffer_print(out, "}");
	}
	view_buffer_print(out, "],\"addresses\":[");
	for (size_t n = 0; n < annotation->address_count; n++) {
		const struct view_address_cost *at = &annotation->addresses[n];
		const struct burin_image *image = burin_profile_image(counted->profile, at->image);

		view_buffer_print(out, "%s{\"image\":", n ? ",\n" : "\n");
		view_buffer_json(out, image && image->kind == BURIN_IMAGE_FILE ? image->path
									       : burin_image_name(image));
		view_buffer_print(out,
				  ",\"offset\":%" PRIu64 ",\"begin\":%" PRIu64 ",\"size\":%" PRIu64
				  ",\"self\":%" PRIu64 ",\"self_waited\":%" PRIu64 "}",
				  at->offset, at->begin, at->size, at->self.all, at->self.waited);
	}
	view_buffer_print(out, "]");
	json_foot(counted, out);
}
