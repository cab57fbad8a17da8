/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Times of threads; see windows.h. */
#include "view/profile/windows.h"

#include <stdlib.h>

#include "base/containers/array.h"
#include "base/number.h"

bool view_windows_add(struct view_windows *windows, const struct view_window *window)
{
	if (!array_reserve(windows->windows, windows->room, windows->count + 1))
		return false;
	windows->windows[windows->count++] = *window;
	return true;
}

static int window_order(const void *a, const void *b)
{
	const struct view_window *one = a, *other = b;

	return number_order(one->tid, other->tid) ?: number_order(one->begin, other->begin);
}

void view_windows_sort(struct view_windows *windows)
{
	size_t kept = 0;

	if (!windows->count)
		return;
	qsort(windows->windows, windows->count, sizeof(*windows->windows), window_order);
	for (size_t n = 1; n < windows->count; n++) {
		struct view_window *last = &windows->windows[kept];
		const struct view_window *next = &windows->windows[n];

		if (next->tid != last->tid || next->begin > last->end)
			windows->windows[++kept] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	windows->count = kept + 1;
}

bool view_windows_has(const struct view_windows *windows, uint32_t tid, uint64_t time)
{
	size_t low = 0, high = windows->count;

	/* The first one that ends at the time or later. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct view_window *at = &windows->windows[middle];

		if (at->tid < tid || (at->tid == tid && at->end < time))
			low = middle + 1;
		else
			high = middle;
	}
	return low < windows->count && windows->windows[low].tid == tid &&
	       windows->windows[low].begin <= time;
}

void view_windows_free(struct view_windows *windows)
{
	free(windows->windows);
	*windows = (struct view_windows){ .windows = NULL };
}
