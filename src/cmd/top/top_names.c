/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of locations; see top_names.h. Entries are those of the table of symbols (docs/format.md). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/leb128.h"
#include "base/number.h"
#include "cmd/top/top_names.h"
#include "image/symbolize/symbolize.h"

enum {
	TOP_NAMES_DEADLINE_MS = 5000, /* of one look-up: the screen waits for it */
};

/* The rest of an entry; damaged ones have zeros at the end. */
struct top_names_entry {
	const unsigned char *at, *end;
};

static uint64_t top_names_take(struct top_names_entry *entry)
{
	uint64_t value;
	const unsigned char *next = leb128_get(entry->at, entry->end, &value);

	entry->at = next ? next : entry->end;
	return next ? value : 0;
}

static const char *top_names_take_text(const struct top_names *names, struct top_names_entry *entry)
{
	const uint64_t number = top_names_take(entry);
	const char *text = number - 1 < names->text_count ? names->texts[number - 1] : NULL;

	return text && *text ? text : NULL;
}

static int top_names_keep_text(struct top_names *names, struct top_names_entry *entry)
{
	const uint64_t bytes = top_names_take(entry);

	if (bytes > (uint64_t)(entry->end - entry->at) ||
	    !array_reserve(names->texts, names->text_room, names->text_count + 1))
		return -ENOMEM;
	names->texts[names->text_count] = arena_keep(&names->arena, entry->at, bytes);
	return names->texts[names->text_count++] ? 0 : -ENOMEM;
}

static int top_names_compare(const void *one, const void *other)
{
	const struct top_location *a = *(struct top_location *const *)one,
				  *b = *(struct top_location *const *)other;

	return number_order(a->image, b->image) ?: number_order(a->offset, b->offset);
}

/* The first location in the order at or behind an offset of an image. */
static size_t top_names_position(const struct top_names *names, uint64_t image, uint64_t offset)
{
	size_t low = 0, high = names->order_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct top_location *at = names->order[middle];

		if (at->image < image || (at->image == image && at->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void top_names_take_location(struct top_names *names, struct top_names_entry *entry)
{
	const uint64_t image = top_names_take(entry), offset = top_names_take(entry);
	const size_t place = top_names_position(names, image, offset);
	const unsigned most = names->whole ? 1 : TOP_NAMES_FRAMES;
	struct top_location *at = place < names->order_count ? names->order[place] : NULL;
	uint64_t frames;

	if (!at || at->image != image || at->offset != offset)
		return;
	at->begin = top_names_take(entry);
	at->size = top_names_take(entry);
	frames = top_names_take(entry);
	at->count = 0;
	for (uint64_t n = 0; n < frames && entry->at < entry->end; n++) {
		/* The last one is the function that has the others in it: it takes the last place. */
		struct top_frame *frame = &at->frames[n < most ? n : most - 1];

		frame->function = top_names_take_text(names, entry);
		frame->file = top_names_take_text(names, entry);
		frame->line = (uint32_t)top_names_take(entry);
		at->count = n < most ? (unsigned)n + 1 : most;
	}
}

/* The name for all locations of a function that have none of their own. */
static void top_names_take_function(struct top_names *names, struct top_names_entry *entry)
{
	const uint64_t image = top_names_take(entry), begin = top_names_take(entry),
		       size = top_names_take(entry);
	const char *name = top_names_take_text(names, entry);

	for (size_t n = top_names_position(names, image, begin); n < names->order_count; n++) {
		struct top_location *at = names->order[n];

		if (at->image != image || at->offset - begin >= size)
			break;
		at->begin = begin;
		at->size = size;
		if (!at->count && name) {
			at->frames[0] = (struct top_frame){ .function = name };
			at->count = 1;
		}
	}
}

static int top_names_on_entry(void *data, const void *bytes, size_t count)
{
	struct top_names_entry entry = { bytes, (const unsigned char *)bytes + count };
	struct top_names *names = data;

	switch (top_names_take(&entry)) {
	case WIRE_SYMBOLS_TEXT:
		return top_names_keep_text(names, &entry);
	case WIRE_SYMBOLS_LOCATION:
		top_names_take_location(names, &entry);
		return 0;
	case WIRE_SYMBOLS_FUNCTION:
		top_names_take_function(names, &entry);
		return 0;
	default:
		return 0;
	}
}

/* ---- functions as a whole */

static int top_names_compare_extents(const void *one, const void *other)
{
	const struct top_extent *a = one, *b = other;

	return number_order(a->image, b->image) ?: number_order(a->begin, b->begin);
}

/* The location that represents another one, by number; 0: none. */
static uint32_t top_names_whole(const struct top_names *names, uint32_t image, uint64_t offset)
{
	size_t low = 0, high = names->extent_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct top_extent *at = &names->extents[middle];

		if (at->image < image || (at->image == image && at->begin <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || names->extents[low - 1].image != image ||
	    offset - names->extents[low - 1].begin >= names->extents[low - 1].size)
		return 0;
	return names->extents[low - 1].location;
}

/* Code that is made at run time may give its addresses to another function. */
static bool top_names_is_made(const struct images *images, uint32_t image)
{
	const uint32_t kind = images->numbered[image - 1]->kind;

	return kind == WIRE_IMAGE_JIT || kind == WIRE_IMAGE_JITDUMP || kind == WIRE_IMAGE_ANONYMOUS;
}

/* Functions that a look-up has found. */
static void top_names_keep_extents(struct top_names *names, const struct images *images)
{
	for (size_t n = 0; n < names->order_count; n++) {
		const struct top_location *at = names->order[n], *before = n ? names->order[n - 1] : at;

		if (!at->size || top_names_is_made(images, at->image) ||
		    (n && before->image == at->image && before->begin == at->begin) ||
		    !array_reserve(names->extents, names->extent_room, names->extent_count + 1))
			continue;
		names->extents[names->extent_count++] =
			(struct top_extent){ .image = at->image,
					     .location = (uint32_t)(at - names->all) + 1,
					     .begin = at->begin,
					     .size = at->size };
	}
	if (names->extent_count)
		qsort(names->extents, names->extent_count, sizeof(*names->extents),
		      top_names_compare_extents);
}

/* ---- the look-up */

static const char *top_names_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void top_names_describe(struct symbolize_image *image, const struct images *all, uint32_t number,
			       const uint64_t *offsets)
{
	const struct sample_image *sampled = all->numbered[number - 1];

	*image = (struct symbolize_image){ .kind = sampled->kind,
					   .number = number,
					   .path = sampled->path,
					   .build_id = sampled->build_id,
					   .build_id_bytes = sampled->build_id_bytes,
					   .file = images_file(all, number),
					   .offsets = offsets };
	/* A map or jitdump that was not opened may be another user's: do not trust its path. */
	if (image->file < 0 && (image->kind == WIRE_IMAGE_JIT || image->kind == WIRE_IMAGE_JITDUMP))
		image->path = "";
}

/* One of `images` for each image of the order. Return: how many. */
static size_t top_names_collect(struct top_names *names, const struct images *all,
				struct symbolize_image *images, uint64_t *offsets)
{
	uint32_t last = 0;
	size_t count = 0;

	for (size_t n = 0; n < names->order_count; n++) {
		struct top_location *at = names->order[n];

		offsets[n] = at->offset;
		if (at->image != last)
			top_names_describe(&images[count++], all, at->image, &offsets[n]);
		last = at->image;
		images[count - 1].count++;
		at->program = arena_keep(&names->arena, top_names_base(images[count - 1].path),
					 strlen(top_names_base(images[count - 1].path)));
	}
	return count;
}

/* The new locations, by image and offset. */
static void top_names_sort(struct top_names *names, const struct images *images)
{
	names->order_count = 0;
	for (size_t n = names->asked; n < names->count; n++) {
		struct top_location *at = &names->all[n];

		at->asked = true;
		if (at->image - 1 < images->numbered_count && images->numbered[at->image - 1])
			names->order[names->order_count++] = at;
	}
	qsort(names->order, names->order_count, sizeof(*names->order), top_names_compare);
}

int top_names_look_up(struct top_names *names, const struct images *images)
{
	const size_t count = names->count - names->asked;
	const struct symbolize_options options = { .cached = true,
						   .functions = names->whole,
						   .deadline_ms = TOP_NAMES_DEADLINE_MS,
						   .data = names,
						   .entry = top_names_on_entry };
	struct symbolize_counts counts;
	struct symbolize_image *asked;
	uint64_t *offsets;
	int error = -ENOMEM;

	if (!count)
		return 0;
	asked = calloc(count, sizeof(*asked));
	offsets = calloc(count, sizeof(*offsets));
	names->order = calloc(count, sizeof(*names->order));
	names->text_count = 0;
	if (asked && offsets && names->order) {
		top_names_sort(names, images);
		error = symbolize(asked, top_names_collect(names, images, asked, offsets), &options, &counts);
		if (names->whole)
			top_names_keep_extents(names, images);
	}
	names->asked = names->count;
	free(names->order);
	names->order = NULL;
	names->order_count = 0;
	free(offsets);
	free(asked);
	return error;
}

uint32_t top_names_find(struct top_names *names, uint32_t image, uint64_t offset)
{
	const uint64_t hash = hash_pair(image, offset);
	uint32_t number = top_names_whole(names, image, offset);

	if (number)
		return number;
	for (size_t at = 0; (number = hash_table_next(&names->places, hash, &at));)
		if (names->all[number - 1].image == image && names->all[number - 1].offset == offset)
			return number;
	if (!array_reserve(names->all, names->room, names->count + 1) || !hash_table_reserve(&names->places))
		return 0;
	names->all[names->count++] = (struct top_location){ .image = image, .offset = offset };
	hash_table_add(&names->places, hash, (uint32_t)names->count);
	return (uint32_t)names->count;
}

void top_names_begin(struct top_names *names)
{
	if (names->count >= TOP_NAMES_MAX)
		top_names_free(names);
}

void top_names_free(struct top_names *names)
{
	arena_free(&names->arena);
	hash_table_free(&names->places);
	free(names->all);
	free(names->texts);
	free(names->extents);
	*names = (struct top_names){ .whole = names->whole };
}
