/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The page's data: names, each once; frames, which are pairs of names (function, image); and up to three
 * trees: all samples, by program, by thread. flame.js describes the format of a tree.
 *
 * A browser must be able to show the page, so nodes are limited: below 0.01 % of the weight, or below the
 * weight of the node number NODES_MAX, they are left out, and the page states the limit. A node's children
 * are sorted, so the first one that is too small ends its siblings.
 *
 * A tree is printed in the order of a walk from the root: each node with how many levels the walk went up
 * before it. The walk has no stack of its own: nodes know parent and next sibling.
 *
 * Weights are divided by a common divisor, or by what makes them short. Names come from programs: JSON
 * escapes them, and `<`, too, so that no name can end the script element.
 */
#include "view/profile/flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "view/json.h"
#include "view/losses.h"

/* Made of page.html, flame.css and flame.js at build time. */
extern const char view_flame_head[], view_flame_tail[];

enum {
	NODES_MAX = 60000,	/* of a tree in the page */
	WEIGHT_MAX = 100000000, /* in the page: more digits are of no use */
	TREES = 3,
};

struct page {
	const struct view_profile *counted;
	struct view_strings names;
	struct frame {
		uint32_t name, image;
		uint32_t next; /* the previous one with the same name, plus 1; 0: none */
	} * frames;	       /* by number */
	uint32_t frame_count;
	uint32_t *frame_index; /* by name: the last frame with it, plus 1 */
	size_t name_room, frame_room;
	uint64_t
		scale; /* weights are printed in multiples of this, rounded down: children never exceed their parent */
	double pruned; /* percent */
	struct json json;
};

static uint64_t common_divisor(uint64_t one, uint64_t other)
{
	while (other) {
		uint64_t rest = one % other;

		one = other;
		other = rest;
	}
	return one;
}

/* Return: the frame's number; -ENOMEM. */
static int64_t frame_of(struct page *page, const struct view_tree *tree, uint32_t node)
{
	const struct view_node *at = &tree->nodes[node];
	uint32_t name = view_string(&page->names, view_node_text(tree, node)), image, frame;

	image = view_string(&page->names, at->part == VIEW_SYMBOL
						  ? view_key_text(tree->keys, at->key, VIEW_IMAGE)
						  : view_part_name(at->part));
	if (!array_reserve_zeroed(page->frame_index, page->name_room, (size_t)name + 1) ||
	    !array_reserve(page->frames, page->frame_room, page->frame_count + 1))
		return -ENOMEM;
	for (frame = page->frame_index[name]; frame; frame = page->frames[frame - 1].next)
		if (page->frames[frame - 1].image == image)
			return frame - 1;
	page->frames[page->frame_count] = (struct frame){ name, image, page->frame_index[name] };
	page->frame_index[name] = ++page->frame_count;
	return page->frame_count - 1;
}

static int flame_by_total(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one < *other) - (*one > *other);
}

/* The least total of a node in the page: 0.01 %, or more so that at most NODES_MAX remain. */
static int least_total(struct page *page, const struct view_tree *tree, uint64_t *least)
{
	uint64_t *totals;

	*least = page->counted->weight / 10000;
	if (tree->count > NODES_MAX) {
		totals = calloc(tree->count, sizeof(*totals));
		if (!totals)
			return -ENOMEM;
		for (uint32_t n = 0; n < tree->count; n++)
			totals[n] = tree->nodes[n].total.all;
		qsort(totals, tree->count, sizeof(*totals), flame_by_total);
		if (totals[NODES_MAX] >= *least)
			*least = totals[NODES_MAX] + 1;
		free(totals);
	}
	if (page->counted->weight && 100.0 * (double)*least / (double)page->counted->weight > page->pruned)
		page->pruned = 100.0 * (double)*least / (double)page->counted->weight;
	return 0;
}

static int add_nodes(struct page *page, const struct view_tree *tree)
{
	uint32_t node = tree->nodes[0].child, up = 0;
	struct json *json = &page->json;
	uint64_t least;

	if (least_total(page, tree, &least))
		return -ENOMEM;
	for (;;) {
		const struct view_node *at = &tree->nodes[node];
		int64_t frame;

		if (!node || at->total.all < least) {
			/* Its siblings have still less: continue with the next sibling of an ancestor. */
			uint32_t parent = node ? at->parent : 0;

			if (!node)
				break;
			for (; parent && !tree->nodes[parent].next; up++)
				parent = tree->nodes[parent].parent;
			if (!parent)
				break;
			node = tree->nodes[parent].next;
			up++;
			continue;
		}
		frame = frame_of(page, tree, node);
		if (frame < 0)
			return -ENOMEM;
		json_i64(json, NULL, frame);
		json_u64(json, NULL, up);
		json_u64(json, NULL, at->total.all / page->scale);
		json_u64(json, NULL, at->self.all / page->scale);
		if (view_profile_mixed(page->counted)) {
			json_u64(json, NULL, at->total.waited / page->scale);
			json_u64(json, NULL, at->self.waited / page->scale);
		}
		up = 0;
		if (at->child) {
			node = at->child;
			continue;
		}
		for (; node && !tree->nodes[node].next; up++)
			node = tree->nodes[node].parent;
		if (!node)
			break;
		node = tree->nodes[node].next;
		up++;
	}
	return 0;
}

/* Whether there are several programs, and several threads: a single one needs no tree. */
static void count_roots(const struct view_profile *counted, bool *programs, bool *threads)
{
	const char *program = NULL, *thread = NULL;
	uint32_t task = 0;

	*programs = *threads = false;
	for (size_t n = 0; n < counted->pair_count; n++) {
		if (n && counted->pairs[n].task == task)
			continue;
		task = counted->pairs[n].task;
		*programs |= program && strcmp(program, view_program(counted->profile, task)) != 0;
		*threads |= thread && strcmp(thread, view_thread(counted->profile, task)) != 0;
		program = view_program(counted->profile, task);
		thread = view_thread(counted->profile, task);
	}
}

static int add_trees(struct page *page)
{
	const struct {
		const char *label;
		unsigned roots;
	} trees[TREES] = { { "All", 0 },
			   { "Programs", 1 << VIEW_PROGRAM },
			   { "Threads", 1 << VIEW_PROGRAM | 1 << VIEW_THREAD } };
	bool shown[TREES] = { true };
	struct view_keys keys;
	int result = view_keys_make(&keys, page->counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, false);

	count_roots(page->counted, &shown[1], &shown[2]);
	json_array(&page->json, "trees");
	for (unsigned n = 0; n < TREES && !result; n++) {
		const struct view_tree_options options = { .roots = trees[n].roots };
		struct view_tree tree;

		if (!shown[n])
			continue;
		result = view_tree_make(&tree, &keys, page->counted, &options);
		if (result)
			break;
		json_object(&page->json, NULL);
		json_text(&page->json, "label", trees[n].label);
		json_array(&page->json, "nodes");
		result = add_nodes(page, &tree);
		json_end(&page->json);
		json_end(&page->json);
		view_tree_free(&tree);
	}
	json_end(&page->json);
	view_keys_free(&keys);
	return result;
}

/* The trees refer to these, and their pruning is known now. */
static void add_tables(struct page *page)
{
	struct json *json = &page->json;
	char text[64];

	json_array(json, "names");
	for (uint32_t n = 0; n < page->names.count; n++)
		json_text(json, NULL, page->names.texts[n]);
	json_end(json);
	json_array(json, "frames");
	for (uint32_t n = 0; n < page->frame_count; n++) {
		json_u64(json, NULL, page->frames[n].name);
		json_u64(json, NULL, page->frames[n].image);
	}
	json_end(json);
	snprintf(text, sizeof(text), "Frames of less than %.2g %% are left out", page->pruned);
	json_text(json, "pruned", text);
}

static void flame_add_text(struct json *json, const char *key, struct view_buffer *text)
{
	json_bytes(json, key, text->bytes, text->failed ? 0 : text->used);
	json->out->failed |= text->failed;
	view_buffer_free(text);
}

static void add_head(struct page *page, const char *title)
{
	const struct view_profile *counted = page->counted;
	struct view_buffer about = { .used = 0 }, missing = { .used = 0 };
	struct json *json = &page->json;

	view_head_text(counted, &about);
	if (counted->calls) {
		view_losses_line(counted->trace, view_lost_calls, &missing);
		view_ledger_nameless(counted->profile, counted, false, &missing);
	} else {
		view_ledger_text(counted->trace, counted->profile, counted, false, SIZE_MAX, &missing);
	}
	json_text(json, "title", title);
	flame_add_text(json, "about", &about);
	flame_add_text(json, "missing", &missing);
	json_text(json, "unit", counted->unit);
	json_u64(json, "weight", counted->weight / page->scale);
	json_u64(json, "waited", counted->of[VIEW_WAITING].weight / page->scale);
	json_bool(json, "mixed", view_profile_mixed(counted));
	json_u64(json, "scale", page->scale);
}

/* The data stands in a script element, and must not end it: `<` is escaped. */
static void flame_put_data(const struct view_buffer *data, struct view_buffer *out)
{
	static const char escaped[] = "\\u003c";

	for (size_t n = 0; n < data->used;) {
		const char *at = memchr(data->bytes + n, '<', data->used - n);
		size_t bytes = at ? (size_t)(at - data->bytes) - n : data->used - n;
		char *to = view_buffer_reserve(out, bytes + sizeof(escaped));

		if (!to)
			return;
		memcpy(to, data->bytes + n, bytes);
		if (at)
			memcpy(to + bytes, escaped, sizeof(escaped) - 1);
		view_buffer_commit(out, to + bytes + (at ? sizeof(escaped) - 1 : 0));
		n += bytes + 1;
	}
}

int view_flame(const struct view_profile *counted, const char *title, struct view_buffer *out)
{
	struct page page = { .counted = counted };
	struct view_buffer data = { .used = 0 };
	int result;

	for (size_t n = 0; n < counted->pair_count; n++)
		page.scale = common_divisor(page.scale, counted->pairs[n].weight);
	if (!page.scale || counted->weight / page.scale > WEIGHT_MAX)
		page.scale = counted->weight / WEIGHT_MAX + 1;
	view_string(&page.names, "");
	json_begin_object(&page.json, &data, 1);
	add_head(&page, title);
	result = add_trees(&page);
	if (!result) {
		add_tables(&page);
		json_end(&page.json);
		view_buffer_put(out, view_flame_head, strlen(view_flame_head));
		flame_put_data(&data, out);
		view_buffer_put(out, view_flame_tail, strlen(view_flame_tail));
		if (data.failed || page.names.failed || out->failed)
			result = -ENOMEM;
	}
	view_buffer_free(&data);
	view_strings_free(&page.names);
	free(page.frames);
	free(page.frame_index);
	return result;
}
