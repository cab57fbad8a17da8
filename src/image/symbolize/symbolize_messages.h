/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A child of symbolize.c reads one image and sends its results as messages: a u32 of bytes, then these, with numbers and
 * texts as in a table. Each begins with its kind:
 *
 *	CHILD_TEXT   a text, numbered from 1
 *	CHILD_LOCATION  offset, begin, size, frames, then for each: name, file, line
 *	CHILD_DONE   locations done
 *	CHILD_IMAGE  state, whether the debug information is missing, its file or what is wrong
 *	CHILD_WANT   nothing: the image has no names; the parent may find its debug file, and starts another child
 *	CHILD_FREE   an errno: the child has no seccomp
 *	CHILD_LASTING  nothing: the answers hold for as long as the files stay what they are
 *	CHILD_PARAMETERS  offset of a function, whether it has a description; that as of image/names/parameters.h, source file
 *	CHILD_PLACE  address of code of a line, number of the line
 *
 * The receiver does not trust the messages. First, with the recorder's rights and only our own code, the child opens the
 * files that it needs. Then it gives up all rights (confine.h), and the libraries begin. They may need more files, parts of
 * split debug information (.dwo). The child requests them from the parent, which opens files that the image's owner could
 * open.
 */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_MESSAGES_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_MESSAGES_H

#include "image/symbolize/symbolize_types.h"

enum child_message {
	CHILD_TEXT = 1,
	CHILD_LOCATION,
	CHILD_DONE,
	CHILD_IMAGE,
	CHILD_WANT,
	CHILD_FREE,
	CHILD_PARAMETERS,
	CHILD_LASTING,
	CHILD_PLACE,
};

enum {
	CHILD_MESSAGE_MAX = 1 << 17, /* bytes, without the u32 */
};

/* How much of the file is read; the next level is used when a child has died. */
enum child_level {
	CHILD_LINES,
	CHILD_NAMES, /* no DWARF */
	CHILD_LEVELS
};

struct child_task {
	const struct symbolize_image *image;
	const uint64_t *offsets;
	size_t count;
	enum child_level level;
	const char *root;
	bool functions;	    /* by symbols, without debug information */
	bool parameters;    /* send those of all functions, in place of the locations */
	const char *source; /* send the places of a line of it, in place of the locations; NULL: do not */
	uint32_t source_line;
	bool may_want; /* without names, send CHILD_WANT in place of results */
	int debug[2];  /* its debug file and the one to which dwz moved parts, from a server; -1: none */
	uint64_t memory_max; /* bytes */
	unsigned seconds;    /* of CPU time; 0: no limit */
};

#endif
