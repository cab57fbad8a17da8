/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rows, trees and annotations as JSON. */
#include <stdio.h>

#include "view/profile/annotate.h"
#include "view/profile/profile_view.h"

enum {
	DEPTH_MAX = 512,
};

void view_weight_json(struct json *json, const struct view_profile *counted, const char *name,
		      uint64_t weight)
{
	char key[48];

	snprintf(key, sizeof(key), "%s_%s", name, counted->unit);
	json_u64(json, key, weight);
}

static void json_head(const struct view_profile *counted, struct json *json, struct view_buffer *out)
{
	json_begin_object(json, out, 2);
	json_array(json, "events");
	for (unsigned state = 0; state < VIEW_STATES; state++) {
		const struct view_counted *of = &counted->of[state];

		if (!of->event)
			continue;
		json_object(json, NULL);
		json_text(json, "name", of->event->name);
		json_text(json, "state", view_state_name(state));
		json_u64(json, "samples", of->samples);
		view_weight_json(json, counted, "weight", of->weight);
		json_end(json);
	}
	json_end(json);
	json_text(json, "unit", counted->unit);
	json_u64(json, "samples", counted->samples);
	view_weight_json(json, counted, "weight", counted->weight);
	json_u64(json, "other_samples", counted->of_other_events);
}

static void json_costs(struct json *json, const struct view_profile *counted, const struct view_cost *self,
		       const struct view_cost *total)
{
	view_weight_json(json, counted, "self", self->all);
	view_weight_json(json, counted, "self_waited", self->waited);
	if (!total)
		return;
	view_weight_json(json, counted, "total", total->all);
	view_weight_json(json, counted, "total_waited", total->waited);
}

static void json_foot(const struct view_profile *counted, struct json *json)
{
	view_ledger_json(counted->profile, json, "ledger");
	json_end(json);
}

void view_rows_json(const struct view_profile *counted, const struct table *rows, struct view_buffer *out)
{
	struct json json;

	json_head(counted, &json, out);
	table_json(rows, &json, "rows");
	json_foot(counted, &json);
}

void view_tree_json(const struct view_profile *counted, const struct view_tree *tree,
		    const struct view_report *report, struct view_buffer *out)
{
	uint32_t path[DEPTH_MAX], node = tree->nodes[0].child;
	unsigned depth = 0;
	double least = report->min * (double)tree->nodes[0].total.all / 100;
	struct json json;

	json_head(counted, &json, out);
	json_array(&json, "tree");
	for (;;) {
		const struct view_node *at = &tree->nodes[node];

		/*
		 * The end of a list of siblings, or all that follow are smaller: close the list, and the
		 * object around it.
		 */
		if (!node || (double)at->total.all < least) {
			json_end(&json);
			if (!depth)
				break;
			json_end(&json);
			node = tree->nodes[path[--depth]].next;
			continue;
		}
		json_object(&json, NULL);
		json_text(&json, "name", view_node_text(tree, node));
		if (at->part == VIEW_SYMBOL && (tree->keys->parts & 1 << VIEW_IMAGE))
			json_text(&json, "image", view_key_text(tree->keys, at->key, VIEW_IMAGE));
		json_costs(&json, counted, &at->self, &at->total);
		json_array(&json, "children");
		path[depth++] = node;
		node = depth < DEPTH_MAX ? at->child : 0;
	}
	json_foot(counted, &json);
}

void view_annotation_json(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out)
{
	struct json json;

	json_head(counted, &json, out);
	json_array(&json, "lines");
	for (size_t n = 0; n < annotation->line_count; n++) {
		const struct view_line_cost *line = &annotation->lines[n];

		json_object(&json, NULL);
		json_text(&json, "file", annotation->strings.texts[line->file]);
		json_u64(&json, "line", line->line);
		json_costs(&json, counted, &line->self, &line->total);
		json_end(&json);
	}
	json_end(&json);
	json_array(&json, "addresses");
	for (size_t n = 0; n < annotation->address_count; n++) {
		const struct view_address_cost *at = &annotation->addresses[n];
		const struct burin_image *image = burin_profile_image(counted->profile, at->image);

		json_object(&json, NULL);
		json_text(&json, "image",
			  image && image->kind == BURIN_IMAGE_FILE ? image->path : burin_image_name(image));
		json_u64(&json, "offset", at->offset);
		json_u64(&json, "begin", at->begin);
		json_u64(&json, "size_bytes", at->size);
		json_costs(&json, counted, &at->self, NULL);
		json_end(&json);
	}
	json_end(&json);
	json_foot(counted, &json);
}
