/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Output that several threads render and that comes out in order: the work is cut into slices, each thread
 * renders one slice after another into a buffer, and the buffers are written in the order of their slices. A
 * buffer that grows too large waits for its turn and is written in parts, so memory stays bounded.
 */
#ifndef BURIN_VIEW_ORDERED_H
#define BURIN_VIEW_ORDERED_H

#include <stdbool.h>
#include <stdint.h>

#include "view/buffer.h"

struct view_ordered;

struct view_ordered_work {
	size_t slices;
	unsigned threads;
	int file;	/* where to write */
	uint64_t lines; /* no more than so many lines; 0: all */
	/*
	 * Renders a slice into out, and calls view_ordered_pause() after each line. Called by several threads
	 * at a time, with a worker's number below `threads` for what each keeps for itself. Return: 0 or a
	 * negative errno.
	 */
	int (*render)(void *data, unsigned worker, size_t slice, struct view_ordered *ordered,
		      struct view_buffer *out);
	void *data;
};

/* Return: 0; -EPIPE when nobody reads any more; another negative errno of writing, or of render. */
int view_ordered_run(const struct view_ordered_work *work);

/* The same of a buffer that is large: waits for the slice's turn and writes it. */
int view_ordered_wait(struct view_ordered *ordered, size_t slice, struct view_buffer *out);

/* Whether to go on with a slice: 0; 1: no more lines are wanted; or a negative errno. */
static inline int view_ordered_pause(struct view_ordered *ordered, size_t slice, struct view_buffer *out)
{
	if (__builtin_expect(out->used < (4 << 20), 1))
		return 0;
	return view_ordered_wait(ordered, slice, out);
}

#endif
