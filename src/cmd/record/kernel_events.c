/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's events of burin record; see kernel_events.h. */
#include "cmd/record/kernel_events.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "source/perf/rings/process_list.h"

/* Record the processes and all that they have started. A second look finds what was started during the first one. */
static int follow(struct kernel_source *kernel, const struct view_set *processes)
{
	struct process_list list = { .count = 0 };
	const int looks = kernel->mechanism == KERNEL_BY_PERF
				  ? 1
				  : 2; /* what a followed process starts would be recorded twice */
	int error = 0;

	for (int look = 0; look < looks && !error && processes->count; look++) {
		if (!look)
			for (size_t n = 0; n < processes->count && !error; n++)
				error = process_list_add(&list, (pid_t)processes->numbers[n]);
		if (!error)
			error = process_list_extend(&list);
		for (size_t n = 0; n < list.count && !error; n++) {
			error = kernel_source_process(kernel, list.pids[n]);
			error = error == -ESRCH ? 0 : error; /* it has ended */
		}
	}
	process_list_free(&list);
	return error;
}

int kernel_events_open(struct kernel_events *kernel, const struct kernel_choice *choice,
		       struct session *session, bool all, bool overwrite, pid_t command,
		       const struct view_set *processes)
{
	char why[KERNEL_WHY];
	int error;

	*kernel = (struct kernel_events){ .opened = false };
	if (!choice->globs.count)
		return 0;
	error = kernel_source_open(&kernel->source, session,
				   &(struct kernel_options){ .globs = choice->globs.globs,
							     .where = choice->where,
							     .all = all,
							     .overwrite = overwrite,
							     .buffer_bytes = choice->buffer_bytes },
				   why);
	if (error == -ENOENT)
		return cmd_usage("%s", why);
	if (error) {
		cmd_note("burin: no kernel events: %s\n", why);
		return 0;
	}
	if (!all && command)
		error = kernel_source_command(&kernel->source, command);
	if (!all && !error)
		error = follow(&kernel->source, processes);
	if (error)
		cmd_note("burin: some tasks have no kernel events: %s\n", strerror(-error));
	if (kernel->source.refused)
		cmd_note("burin: %u tracepoints of the kernel are not recorded, such as %s: %s\n",
			 kernel->source.refused, kernel->source.refused_name,
			 strerror(-kernel->source.refused_error));
	kernel->opened = true;
	kernel->events = kernel->source.events;
	return 0;
}

const struct drain_more *kernel_events_more(const struct kernel_events *kernel)
{
	return kernel->opened ? &kernel->source.more : NULL;
}

const struct drain_more *kernel_events_snapshot(struct kernel_events *kernel)
{
	return kernel && kernel->opened ? kernel_source_snapshot(&kernel->source) : NULL;
}

void kernel_events_finish(struct kernel_events *kernel)
{
	if (!kernel->opened)
		return;
	kernel_source_finish(&kernel->source);
	kernel->error_ns = kernel->source.clock.error + kernel->source.clock.thinned;
	kernel->mechanism = kernel->source.mechanism;
}

void kernel_events_close(struct kernel_events *kernel)
{
	if (kernel->opened)
		kernel_source_close(&kernel->source);
}

void kernel_events_summary(const struct kernel_events *kernel)
{
	static const char *const mechanisms[] = {
		[KERNEL_BY_BPF] = "BPF", [KERNEL_BY_TRACEFS] = "tracefs", [KERNEL_BY_PERF] = "perf events"
	};
	char events[TEXT_SHORT], error[TEXT_SHORT];

	if (!kernel->opened)
		return;
	cmd_note("burin: %s tracepoints of the kernel by %s, times within %s\n",
		 text_count(events, kernel->events), mechanisms[kernel->mechanism],
		 text_duration(error, kernel->error_ns));
}
