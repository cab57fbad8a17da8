/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a child of symbolise.c does: reads one image, and says what it finds, in messages: a u32 of bytes, then those,
 * numbers and texts as in a table. Each begins with its kind:
 *
 *	CHILD_TEXT   a text, numbered from 1
 *	CHILD_PLACE  offset, begin, size, frames, then for each: name, file, line
 *	CHILD_DONE   places done
 *	CHILD_IMAGE  state, whether the debug information is not there, the file that was looked for or what is wrong
 *
 * Who gets them does not trust them.
 */
#ifndef BURIN_IMAGE_SYMBOLISE_CHILD_H
#define BURIN_IMAGE_SYMBOLISE_CHILD_H

#include "image/symbolise.h"

enum child_message {
	CHILD_TEXT = 1,
	CHILD_PLACE,
	CHILD_DONE,
	CHILD_IMAGE,
};

enum {
	CHILD_MESSAGE_MAX = 1 << 17, /* bytes, without the u32 */
};

/* How deep to look; the next when a child has died. */
enum child_level {
	CHILD_LINES,
	CHILD_NAMES, /* no DWARF */
	CHILD_LEVELS
};

struct child_task {
	const struct symbolise_image *image;
	const uint64_t *offsets;
	size_t count;
	enum child_level level;
	const char *root;
};

/* symbolise_child - do all of it. Context: allocates, frees little: the process ends soon. Return: 0 or a negative errno. */
int symbolise_child(const struct child_task *task, int pipe);

#endif
