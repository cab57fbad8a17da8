/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of locations in images, looked up while their processes run. Each location is looked up once: those that were asked for
 * since the last look-up go to image/symbolize/symbolize.h together, since each image costs a child process.
 *
 * Samples come from ever new locations in the same few functions. Where functions suffice (->whole), a location represents all of the
 * function that it is in, and the others in it are not looked up.
 */
#ifndef BURIN_CMD_TOP_TOP_NAMES_H
#define BURIN_CMD_TOP_TOP_NAMES_H

#include "base/containers/arena.h"
#include "base/containers/hash_table.h"
#include "source/perf/tasks/images.h"
#include "view/top/top.h"

enum {
	TOP_NAMES_MAX =
		1
		<< 16, /* locations; with more all are forgotten, since code that is made at run time has no end */
	TOP_NAMES_FRAMES = 8, /* functions of a location, of which all but the last are inlined */
};

struct top_location {
	uint32_t image; /* by number in the table of images */
	uint64_t offset;
	bool asked;	      /* it was looked up */
	uint64_t begin, size; /* of its function; size 0: unknown */
	unsigned count;	      /* of functions, the innermost first; 0: unknown */
	const char *program;  /* the last part of the image's path */
	struct top_frame frames[TOP_NAMES_FRAMES];
};

/* A function that a location represents. */
struct top_extent {
	uint32_t image, location; /* by number */
	uint64_t begin, size;
};

struct top_names {
	bool whole; /* the caller's: functions suffice, and those that are inlined are parts of the others */
	struct arena arena;
	struct top_location *all;
	size_t count, room;
	size_t asked; /* those before it have been looked up */
	struct hash_table places;
	struct top_extent *extents; /* by image and begin */
	size_t extent_count, extent_room;
	const char **texts; /* of the look-up */
	size_t text_count, text_room;
	struct top_location **order; /* of the look-up, by image and offset */
	size_t order_count;
};

/* top_names_begin - before the locations of a screen: all are forgotten if there are too many. Pointers to them are not valid any more. */
void top_names_begin(struct top_names *names);

/* top_names_find - a location, or the one that represents it, by its number from 1 until top_names_begin(). Return: 0: no memory. */
uint32_t top_names_find(struct top_names *names, uint32_t image, uint64_t offset);

/* top_names_look_up - name all locations that are new. Context: forks. Return: 0 or a negative errno. */
int top_names_look_up(struct top_names *names, const struct images *images);

static inline const struct top_location *top_names_at(const struct top_names *names, uint32_t number)
{
	return &names->all[number - 1];
}

void top_names_free(struct top_names *names);

#endif
