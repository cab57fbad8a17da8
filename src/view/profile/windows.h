/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Times of threads, such as those of spans: only samples in them are counted. */
#ifndef BURIN_VIEW_PROFILE_WINDOWS_H
#define BURIN_VIEW_PROFILE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_window {
	uint32_t tid;
	uint64_t begin, end; /* ticks; both inclusive */
};

/* All 0 at first. */
struct view_windows {
	struct view_window
		*windows; /* after view_windows_sort(): by thread and time, none overlaps another one */
	size_t count, room;
};

/* view_windows_add - Return: false: no memory. */
bool view_windows_add(struct view_windows *windows, const struct view_window *window);
void view_windows_sort(struct view_windows *windows);

/* view_windows_has - whether a time of a thread is in one. */
bool view_windows_has(const struct view_windows *windows, uint32_t tid, uint64_t time);
void view_windows_free(struct view_windows *windows);

#endif
