/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tracepoints of a recording; see kernel_points.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/kernel/kernel_filter.h"
#include "source/kernel/kernel_points.h"
#include "source/kernel/syscall_numbers.h"
#include "source/kernel/tracefs.h"

static const char made_name[] = "task:task_newtask", renamed_name[] = "task:task_rename";

static int add_point(void *context, const struct tracepoint *point)
{
	struct kernel_points *points = context;

	for (size_t n = 0; n < points->count; n++)
		if (points->points[n].id == point->id)
			return 0;
	if (!array_reserve(points->points, points->room, points->count + 1))
		return -ENOMEM;
	points->points[points->count++] = *point;
	return 0;
}

int kernel_points_call(const struct tracepoint *point, bool *enters)
{
#ifdef __x86_64__
	const char *name = tracepoint_syscall(point, enters);

	for (unsigned n = 0; name && n < syscall_count; n++)
		if (strcmp(syscall_numbers[n].name, name) == 0 && syscall_numbers[n].number < KERNEL_CALLS)
			return (int)syscall_numbers[n].number;
#else
	(void)point;
	(void)enters;
#endif
	return -1;
}

/* Leave out system calls whose numbers are unknown. */
static void leave_out(struct kernel_points *points)
{
	size_t kept = 0;
	bool enters;

	for (size_t n = 0; n < points->count; n++) {
		if (tracepoint_syscall(&points->points[n], &enters) &&
		    kernel_points_call(&points->points[n], &enters) < 0)
			continue;
		if (kept != n)
			points->points[kept] = points->points[n];
		kept++;
	}
	points->count = kept;
}

int kernel_points_choose(struct kernel_points *points, int events, const char *const *globs,
			 char why[KERNEL_WHY])
{
	static const char *const names[] = { made_name, renamed_name, NULL };
	int error = tracefs_each(events, globs, add_point, points);

	leave_out(points);
	if (!error && !points->count) {
		snprintf(why, KERNEL_WHY,
			 "--kernel: no tracepoint of the kernel matches %.60s; see burin events kernel",
			 globs[0]);
		return -ENOENT;
	}
	return error ? error : tracefs_each(events, names, add_point, points);
}

static bool gives_names(const struct tracepoint *point)
{
	const char *name = point->event + sizeof(TRACEPOINT_PREFIX) - 1;

	return strcmp(name, made_name) == 0 || strcmp(name, renamed_name) == 0;
}

void kernel_points_without_texts(struct kernel_points *points)
{
	for (size_t n = 0; n < points->count; n++)
		tracepoint_without_texts(&points->points[n]);
}

int kernel_points_compile(struct kernel_points *points, const char *where, bool in_kernel,
			  char why[KERNEL_WHY])
{
	struct filter_error fault;

	points->filters = calloc(points->count, sizeof(*points->filters));
	if (!points->filters)
		return -ENOMEM;
	for (size_t n = 0; n < points->count; n++) {
		const struct tracepoint *point = &points->points[n];
		const char *wrong = NULL;

		if (gives_names(point))
			continue;
		if (filter_entry_make(&points->filters[n], where, point->format, "", point->types, &fault) !=
		    0)
			wrong = fault.message;
		else
			wrong = kernel_filter_fits(kernel_points_filter(points, n), in_kernel);
		if (wrong) {
			snprintf(why, KERNEL_WHY, "--k-where '%.60s': %s: %.160s", where,
				 point->event + sizeof(TRACEPOINT_PREFIX) - 1, wrong);
			return -ENOENT;
		}
	}
	return 0;
}

const struct wire_filter *kernel_points_filter(const struct kernel_points *points, size_t n)
{
	return points->filters && points->filters[n].size
		       ? (const struct wire_filter *)points->filters[n].bytes
		       : NULL;
}

int kernel_points_register(struct kernel_points *points, struct session *session)
{
	int error;

	points->events = calloc(points->count, sizeof(*points->events));
	points->ids = calloc(points->count, sizeof(*points->ids));
	if (!points->events || !points->ids)
		return -ENOMEM;
	for (size_t n = 0; n < points->count; n++)
		points->events[n] = (struct session_event){ .name = points->points[n].event,
							    .format = points->points[n].format,
							    .file = "",
							    .types = points->points[n].types };
	error = session_event_register(session, points->events, (unsigned)points->count, points->ids);
	for (size_t n = 0; n < points->count && !error; n++)
		error = points->ids[n] ? 0 : -ENOSPC;
	return error;
}

void kernel_points_names(const struct kernel_points *points, struct task_names *names)
{
	for (size_t n = 0; n < points->count; n++) {
		const char *name = points->points[n].event + sizeof(TRACEPOINT_PREFIX) - 1;

		if (strcmp(name, made_name) == 0) {
			names->made = points->points[n];
			names->made_id = points->ids[n];
		}
		if (strcmp(name, renamed_name) == 0) {
			names->renamed = points->points[n];
			names->renamed_id = points->ids[n];
		}
	}
}

void kernel_points_free(struct kernel_points *points)
{
	free(points->points);
	free(points->events);
	free(points->ids);
	free(points->filters);
	*points = (struct kernel_points){ .count = 0 };
}
