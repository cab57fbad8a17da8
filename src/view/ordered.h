/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ordered output of several threads. The work is divided into slices. Each thread renders one slice after another into a
 * buffer, and the buffers are written in the order of the slices. A buffer that grows too large waits for its turn and is
 * written in parts, so memory stays bounded.
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
	int file;	/* output */
	uint64_t lines; /* limit; 0: all */
	/*
	 * Renders a slice into out, and calls view_ordered_pause() after each line. Several threads call it at a
	 * time; @worker is below `threads` and indexes private data. Return: 0 or a negative errno.
	 */
	int (*render)(void *data, unsigned worker, size_t slice, struct view_ordered *ordered,
		      struct view_buffer *out);
	void *data;
};

/* Return: 0; -EPIPE when the reader has closed the pipe; another negative errno of writing, or of render. */
int view_ordered_run(const struct view_ordered_work *work);

/* Waits for the slice's turn and writes its buffer. Return: as view_ordered_pause(). */
int view_ordered_wait(struct view_ordered *ordered, size_t slice, struct view_buffer *out);

/* Writes a buffer that is too large. Return: 0: go on with the slice; 1: enough lines; or a negative errno. */
static inline int view_ordered_pause(struct view_ordered *ordered, size_t slice, struct view_buffer *out)
{
	if (__builtin_expect(out->used < (4 << 20), 1))
		return 0;
	return view_ordered_wait(ordered, slice, out);
}

#endif
