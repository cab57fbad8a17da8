/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Bars of histograms in text. */
#ifndef BURIN_VIEW_BAR_H
#define BURIN_VIEW_BAR_H

#include <stdint.h>
#include <string.h>

enum {
	VIEW_BAR = 40, /* columns of the longest one */
};

/* view_bar - one of a length by its count, at least one mark unless it is 0. @most: the largest count, above 0 */
static inline const char *view_bar(char bar[VIEW_BAR + 1], uint64_t count, uint64_t most)
{
	const unsigned filled = (unsigned)(((unsigned __int128)count * VIEW_BAR + most - 1) / most);

	memset(bar, '#', filled);
	bar[filled] = 0;
	return bar;
}

#endif
