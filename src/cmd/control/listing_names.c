/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of functions in a session; see listing_names.h. Entries are those of the table of symbols (docs/format.md). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "base/number.h"
#include "cmd/control/listing_names.h"
#include "image/elf/debugfile.h"
#include "image/symbolize/symbolize.h"

enum {
	NAMES_DEADLINE_MS = 60000,
};

/* The rest of an entry; damaged ones have zeros at the end. */
struct entry {
	const unsigned char *at, *end;
};

static uint64_t listing_names_take(struct entry *entry)
{
	uint64_t value;
	const unsigned char *next = leb128_get(entry->at, entry->end, &value);

	entry->at = next ? next : entry->end;
	return next ? value : 0;
}

static const char *listing_names_take_text(const struct listing_names *names, struct entry *entry)
{
	const uint64_t number = listing_names_take(entry);

	return number - 1 < names->count ? names->texts[number - 1] : NULL;
}

static int listing_names_keep_text(struct listing_names *names, struct entry *entry)
{
	const uint64_t bytes = listing_names_take(entry);

	if (bytes > (uint64_t)(entry->end - entry->at) ||
	    !array_reserve(names->texts, names->room, names->count + 1))
		return -ENOMEM;
	names->texts[names->count] = arena_keep(&names->arena, entry->at, bytes);
	return names->texts[names->count++] ? 0 : -ENOMEM;
}

static int listing_names_compare(const void *one, const void *other)
{
	const struct listed_function *a = *(struct listed_function *const *)one,
				     *b = *(struct listed_function *const *)other;

	return a->image != b->image ? number_order(a->image, b->image) : number_order(a->offset, b->offset);
}

/* The first function of an image at or behind an offset, in the order. */
static size_t listing_names_position(const struct listing_names *names, uint64_t image, uint64_t offset)
{
	size_t low = 0, high = names->listing->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct listed_function *function = names->order[middle];

		if (function->image < image || (function->image == image && function->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @begin, @size: of the functions that get the name. @exact: it is for them, and not for all that have no name */
static void name_range(struct listing_names *names, uint64_t image, uint64_t begin, uint64_t size, bool exact,
		       const char *name, const char *file)
{
	for (size_t n = listing_names_position(names, image, begin); n < names->listing->count; n++) {
		struct listed_function *function = names->order[n];

		if (function->image != image || function->offset - begin >= size)
			break;
		if (!exact && function->name)
			continue;
		function->name = name;
		function->file = file;
	}
}

/* The outermost frame is the function; others were inlined at its beginning. */
static void listing_names_take_location(struct listing_names *names, struct entry *entry)
{
	const uint64_t image = listing_names_take(entry), offset = listing_names_take(entry);
	const char *name = NULL, *file = NULL;

	listing_names_take(entry); /* begin */
	listing_names_take(entry); /* size */
	for (uint64_t frames = listing_names_take(entry); frames && entry->at < entry->end; frames--) {
		name = listing_names_take_text(names, entry);
		file = listing_names_take_text(names, entry);
		listing_names_take(entry); /* line */
	}
	name_range(names, image, offset, 1, true, name, file);
}

static int listing_names_on_entry(void *data, const void *bytes, size_t count)
{
	struct entry entry = { bytes, (const unsigned char *)bytes + count };
	struct listing_names *names = data;
	uint64_t image, begin, size;

	switch (listing_names_take(&entry)) {
	case WIRE_SYMBOLS_TEXT:
		return listing_names_keep_text(names, &entry);
	case WIRE_SYMBOLS_LOCATION:
		listing_names_take_location(names, &entry);
		return 0;
	case WIRE_SYMBOLS_FUNCTION:
		image = listing_names_take(&entry);
		begin = listing_names_take(&entry);
		size = listing_names_take(&entry);
		name_range(names, image, begin, size, false, listing_names_take_text(names, &entry), NULL);
		return 0;
	default:
		return 0;
	}
}

bool listing_names_open(const struct target *target, struct symbolize_image *images, size_t count)
{
	char root[64] = "";

	if (geteuid() != 0 || !target->user)
		return false;
	if (target->processes && target->pids[0])
		snprintf(root, sizeof(root), "/proc/%u/root", target->pids[0]);
	for (size_t n = 0; n < count; n++) {
		if (images[n].kind == WIRE_IMAGE_FILE && images[n].count)
			images[n].file = debugfile_named(images[n].path, root, target->user);
		if (images[n].file < 0)
			images[n].kind = WIRE_IMAGE_ANONYMOUS;
	}
	return true;
}

/* The offsets of each image, sorted, each once. */
static void listing_names_collect(const struct listing_names *names, struct symbolize_image *images,
				  uint64_t *offsets)
{
	const struct call_listing *listing = names->listing;
	size_t at = 0, used = 0;

	for (size_t n = 0; n < listing->image_count; n++) {
		const struct listed_image *image = &listing->images[n];

		images[n] = (struct symbolize_image){
			.kind = *image->path ? WIRE_IMAGE_FILE : WIRE_IMAGE_ANONYMOUS,
			.number = (uint32_t)n + 1,
			.path = image->path,
			.build_id = image->build_id,
			.build_id_bytes = image->build_id_bytes,
			.file = -1,
			.offsets = offsets + used,
		};
		while (at < listing->count && names->order[at]->image < n + 1)
			at++;
		for (; at < listing->count && names->order[at]->image == n + 1; at++) {
			if (images[n].count && offsets[used - 1] == names->order[at]->offset)
				continue;
			offsets[used++] = names->order[at]->offset;
			images[n].count++;
		}
	}
}

int listing_names_find(struct listing_names *names, struct call_listing *listing, const struct target *target)
{
	bool is_foreign = false;
	const struct symbolize_options options = { .deadline_ms = NAMES_DEADLINE_MS,
						   .data = names,
						   .entry = listing_names_on_entry };
	struct symbolize_image *images = calloc(listing->image_count + 1, sizeof(*images));
	uint64_t *offsets = calloc(listing->count + 1, sizeof(*offsets));
	struct symbolize_counts counts;
	int error = -ENOMEM;

	*names = (struct listing_names){ .listing = listing,
					 .order = calloc(listing->count + 1, sizeof(*names->order)) };
	if (images && offsets && names->order) {
		for (size_t n = 0; n < listing->count; n++)
			names->order[n] = &listing->functions[n];
		qsort(names->order, listing->count, sizeof(*names->order), listing_names_compare);
		listing_names_collect(names, images, offsets);
		is_foreign = listing_names_open(target, images, listing->image_count);
		error = symbolize(images, listing->image_count, &options, &counts);
	}
	for (size_t n = 0; is_foreign && images && n < listing->image_count; n++)
		if (images[n].file > 0)
			close(images[n].file);
	free(offsets);
	free(images);
	return error;
}

void listing_names_free(struct listing_names *names)
{
	for (size_t n = 0; n < names->listing->count; n++)
		names->listing->functions[n].name = names->listing->functions[n].file = NULL;
	arena_free(&names->arena);
	free(names->texts);
	free(names->order);
}
