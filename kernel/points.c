// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own tracepoints; see points.h. */
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "points.h"

struct find {
	const char *name;
	struct tracepoint *found;
};

static void find(struct tracepoint *point, void *data)
{
	struct find *find = data;

	if (strcmp(point->name, find->name) == 0)
		find->found = point;
}

struct tracepoint *points_find(const char *name)
{
	struct find arguments = { .name = name };

	for_each_kernel_tracepoint(find, &arguments);
	return arguments.found;
}
