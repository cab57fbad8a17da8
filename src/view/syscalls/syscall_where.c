/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Conditions of system calls; see syscall_where.h. */
#include "view/syscalls/syscall_where.h"

#include <errno.h>
#include <stdlib.h>

int syscall_where_make(struct view_where **where, const struct kernel_view *view,
		       const struct view_conditions *conditions, const struct view_globs *names)
{
	struct view_where_end *ends;
	int error;

	*where = NULL;
	if (!conditions->list.count)
		return 0;
	ends = calloc((size_t)view->count + 1, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	for (unsigned id = 1; id <= view->count; id++) {
		const struct kernel_event *event = &view->events[id];

		if (event->kind != KERNEL_ENTER && event->kind != KERNEL_LEAVE && event->kind != KERNEL_LATE)
			continue;
		/* The calls of an event whose records have their numbers may be any. */
		if (event->fields[1] >= 0 || view_globs_match(names, view->strings->texts[event->call]))
			ends[id] = (struct view_where_end){ .event = burin_trace_event(view->trace, id),
							    .name = view->strings->texts[event->call],
							    .of = event->call,
							    .last = event->kind == KERNEL_LEAVE };
	}
	error = view_where_make_ends(where, view->trace, conditions, ends, view->count + 1);
	free(ends);
	return error;
}
