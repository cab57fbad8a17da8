/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The page's data: names, each once; frames, pairs of names (function, image); and up to three trees: all together,
 * by program, by thread. flame.js tells how a tree is written.
 */
#include "view/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Made of page.html, flame.css and flame.js at build time. */
extern const char view_flame_head[], view_flame_tail[];

enum {
	NODES_MAX = 60000,	/* of a tree in the page */
	WEIGHT_MAX = 100000000, /* that the page tells: more digits are of no use */
	TREES = 3,
};

struct page {
	const struct view_profile *counted;
	struct view_strings names;
	struct frame {
		uint32_t name, image;
	} * frames; /* by number */
	uint32_t frame_count, frame_room;
	uint32_t *frame_index; /* by name: the last frame with it */
	uint32_t *frame_next;  /* by frame: the one before with the same name; both + 1 */
	uint32_t name_room;
	uint64_t
		scale; /* weights are told in multiples of this, rounded down: children never exceed their parent */
	double pruned; /* percent */
	struct view_buffer trees;
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

/* Room for what belongs to one more name and one more frame. */
static int make_room(struct page *page, uint32_t name)
{
	if (name >= page->name_room) {
		uint32_t room = 2 * name + 1024;
		uint32_t *index = reallocarray(page->frame_index, room, sizeof(*index));

		if (!index)
			return -ENOMEM;
		memset(index + page->name_room, 0, (room - page->name_room) * sizeof(*index));
		page->frame_index = index;
		page->name_room = room;
	}
	if (page->frame_count == page->frame_room) {
		uint32_t room = page->frame_room ? 2 * page->frame_room : 1024;
		struct frame *frames = reallocarray(page->frames, room, sizeof(*frames));
		uint32_t *next;

		if (!frames)
			return -ENOMEM;
		page->frames = frames;
		next = reallocarray(page->frame_next, room, sizeof(*next));
		if (!next)
			return -ENOMEM;
		page->frame_next = next;
		page->frame_room = room;
	}
	return 0;
}

/* Return: the frame's number; -ENOMEM. */
static int64_t frame_of(struct page *page, const struct view_tree *tree, uint32_t node)
{
	const struct view_node *at = &tree->nodes[node];
	uint32_t name = view_string(&page->names, view_node_text(tree, node)), image, frame;

	image = view_string(&page->names, at->part == VIEW_SYMBOL
						  ? view_key_text(tree->keys, at->key, VIEW_IMAGE)
						  : view_part_name(at->part));
	if (make_room(page, name))
		return -ENOMEM;
	for (frame = page->frame_index[name]; frame; frame = page->frame_next[frame - 1]) {
		if (page->frames[frame - 1].image == image)
			return frame - 1;
	}
	page->frames[page->frame_count] = (struct frame){ name, image };
	page->frame_next[page->frame_count] = page->frame_index[name];
	page->frame_index[name] = ++page->frame_count;
	return page->frame_count - 1;
}

static int by_total(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one < *other) - (*one > *other);
}

/* The least total of a node that is shown: 0.01 %, or what NODES_MAX allow. */
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
		qsort(totals, tree->count, sizeof(*totals), by_total);
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
	const char *comma = "";
	uint64_t least;

	if (least_total(page, tree, &least))
		return -ENOMEM;
	for (;;) {
		const struct view_node *at = &tree->nodes[node];
		int64_t frame;

		if (!node || at->total.all < least) {
			/* Nor are its siblings shown, which have still less. Back to where there is one to come. */
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
		view_buffer_print(&page->trees, "%s%" PRId64 ",%u,%" PRIu64 ",%" PRIu64, comma, frame, up,
				  at->total.all / page->scale, at->self.all / page->scale);
		if (view_profile_mixed(page->counted))
			view_buffer_print(&page->trees, ",%" PRIu64 ",%" PRIu64,
					  at->total.waited / page->scale, at->self.waited / page->scale);
		comma = ",";
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

/* How many different programs and threads there are: one needs no tree. */
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
	bool wanted[TREES] = { true };
	struct view_keys keys;
	int result = view_keys_make(&keys, page->counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE);

	count_roots(page->counted, &wanted[1], &wanted[2]);
	for (unsigned n = 0; n < TREES && !result; n++) {
		const struct view_tree_options options = { .roots = trees[n].roots };
		struct view_tree tree;

		if (!wanted[n])
			continue;
		result = view_tree_make(&tree, &keys, page->counted, &options);
		if (result)
			break;
		view_buffer_print(&page->trees, "%s\n{\"label\":\"%s\",\"nodes\":[", n ? "," : "",
				  trees[n].label);
		result = add_nodes(page, &tree);
		view_buffer_print(&page->trees, "]}");
		view_tree_free(&tree);
	}
	view_keys_free(&keys);
	return result;
}

static void print_tables(const struct page *page, struct view_buffer *out)
{
	view_buffer_print(out, ",\n\"names\":[");
	for (uint32_t n = 0; n < page->names.count; n++) {
		view_buffer_print(out, "%s", n ? "," : "");
		view_buffer_json(out, page->names.texts[n]);
	}
	view_buffer_print(out, "],\n\"frames\":[");
	for (uint32_t n = 0; n < page->frame_count; n++)
		view_buffer_print(out, "%s%u,%u", n ? "," : "", page->frames[n].name, page->frames[n].image);
	view_buffer_print(out, "],\n\"trees\":[%.*s]}", (int)page->trees.used,
			  page->trees.used ? page->trees.bytes : "");
}

static void print_head(const struct page *page, const char *title, struct view_buffer *out)
{
	const struct view_profile *counted = page->counted;
	struct view_buffer about = { .used = 0 }, missing = { .used = 0 };

	view_head_text(counted, &about);
	*view_buffer_reserve(&about, 1) = '\0';
	view_ledger_text(counted->profile, counted, false, &missing);
	*view_buffer_reserve(&missing, 1) = '\0';
	view_buffer_print(out, "{\"title\":");
	view_buffer_json(out, title);
	view_buffer_print(out, ",\"about\":");
	view_buffer_json(out, about.failed ? "" : about.bytes);
	view_buffer_free(&about);
	view_buffer_print(out, ",\"unit\":");
	view_buffer_json(out, counted->unit);
	view_buffer_print(out,
			  ",\"weight\":%" PRIu64 ",\"waited\":%" PRIu64 ",\"mixed\":%s,\"scale\":%" PRIu64
			  ",\"pruned\":",
			  counted->weight / page->scale, counted->of[VIEW_WAITING].weight / page->scale,
			  view_profile_mixed(counted) ? "true" : "false", page->scale);
	view_buffer_print(out, "\"Frames of less than %.2g %% are left out\",\"missing\":", page->pruned);
	view_buffer_json(out, missing.failed ? "" : missing.bytes);
	view_buffer_free(&missing);
}

/* Nothing in the data may end the script that it stands in. */
static void put_data(const struct view_buffer *data, struct view_buffer *out)
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
	result = add_trees(&page);
	if (!result) {
		print_head(&page, title, &data);
		print_tables(&page, &data);
		view_buffer_print(out, "%s", view_flame_head);
		put_data(&data, out);
		view_buffer_print(out, "%s", view_flame_tail);
		if (data.failed || page.trees.failed || out->failed)
			result = -ENOMEM;
	}
	view_buffer_free(&data);
	view_buffer_free(&page.trees);
	view_strings_free(&page.names);
	free(page.frames);
	free(page.frame_index);
	free(page.frame_next);
	return result;
}
