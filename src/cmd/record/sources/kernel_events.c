/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's events of burin record; see kernel_events.h. */
#include "cmd/record/sources/kernel_events.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/each_process.h"
#include "cmd/record/recorder/recorder.h"
#include "session/kernel_device.h"

static int kernel_events_add(void *kernel, pid_t process)
{
	return kernel_source_process(kernel, process);
}

/* Record the processes and all that they have started. By perf, what a process starts between two looks would be recorded twice. */
static int kernel_events_follow(struct kernel_source *kernel, const struct view_set *processes)
{
	return each_process(processes, kernel->mechanism == KERNEL_BY_PERF ? 1 : 2, kernel_events_add,
			    kernel);
}

/* ---- By the module */

/* Return: the reason why the module cannot record this; NULL: it can. */
static const char *refuse_module(const struct kernel_choice *choice, bool all, bool overwrite)
{
	if (!all)
		return "it records all tasks; add --all";
	if (choice->where.count)
		return "its events are shared, and --k-where is of one recording; remove it";
	return overwrite ? "--mode flight is of a recorder; for the module's own, see burin snapshot kernel"
			 : NULL;
}

/* Switch its events on, until the end of the recording. */
static int begin_lease(struct kernel_events *kernel, char why[KERNEL_MODULE_WHY])
{
	const char *reason = "";
	unsigned matched;
	int error;

	kernel->lease_file = kernel_device_file(false, &reason);
	if (kernel->lease_file < 0) {
		snprintf(why, KERNEL_MODULE_WHY, "%s", reason);
		return kernel->lease_file;
	}
	kernel_module_begin(&kernel->module);
	error = enable_lease_begin(&kernel->lease, &kernel->module.device, kernel->lease_file,
				   kernel->module.globs, NULL, &matched);
	if (error) {
		snprintf(why, KERNEL_MODULE_WHY, "%s", kernel_device_explain(error));
		close(kernel->lease_file);
	}
	return error;
}

/* Return: whether the module records. */
static bool open_module(struct kernel_events *kernel, const struct kernel_choice *choice,
			struct session *session, char why[KERNEL_MODULE_WHY])
{
	if (kernel_module_open(&kernel->module, session, choice->globs.globs, why) != 0)
		return false;
	if (begin_lease(kernel, why) != 0) {
		kernel_module_close(&kernel->module);
		return false;
	}
	if (kernel->module.device.shared->paused)
		cmd_note("burin: the kernel's session is paused and records nothing; to resume: burin resume "
			 "kernel\n");
	kernel->opened = kernel->by_module = true;
	kernel->events = kernel->module.events;
	kernel->lacks = kernel->module.lacks;
	return true;
}

/*
 * The module is used by itself where it is loaded and suits; a mechanism that was asked for is used alone.
 * Return: whether there is an answer: it records, or has to and cannot.
 */
static bool try_module(struct kernel_events *kernel, const struct kernel_choice *choice,
		       struct session *session, bool all, bool overwrite)
{
	const char *mechanism = getenv(KERNEL_MECHANISM), *lacks = refuse_module(choice, all, overwrite);
	const bool forced = mechanism && strcmp(mechanism, "module") == 0;
	char *why = kernel->not_by_module;

	if (!forced && (mechanism || !kernel_device_is_there()))
		return false;
	if (lacks)
		snprintf(why, KERNEL_MODULE_WHY, "burin.ko: %s", lacks);
	else if (open_module(kernel, choice, session, why))
		return true;
	if (forced)
		cmd_note("burin: no kernel events: %s\n", why);
	return forced;
}

static void finish_module(struct kernel_events *kernel)
{
	const int error = enable_lease_end(&kernel->lease);

	if (error)
		cmd_note("burin: the kernel's events cannot be switched off again: %s; use burin disable "
			 "kernel\n",
			 kernel_device_explain(error));
	close(kernel->lease_file);
}

/* ---- */

/* Attach to the tracepoints, if some were asked for. CMD_USAGE: none matches, or the filter does not fit. */
static int open_kernel(void *state, struct recorder *recorder)
{
	struct kernel_events *kernel = state;
	const struct kernel_choice *choice = kernel->choice;
	const bool all = recorder->all, overwrite = recorder->overwrite;
	char why[KERNEL_WHY];
	int error;

	if (!choice->globs.count || try_module(kernel, choice, recorder->session, all, overwrite))
		return 0;
	error = kernel_source_open(&kernel->source, recorder->session,
				   &(struct kernel_options){ .globs = choice->globs.globs,
							     .where = choice->where.globs,
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
	if (!all && recorder->command)
		error = kernel_source_command(&kernel->source, recorder->command);
	if (!all && !error)
		error = kernel_events_follow(&kernel->source, recorder->processes);
	if (error)
		cmd_note("burin: some tasks have no kernel events: %s\n", strerror(-error));
	if (kernel->source.refused)
		cmd_note("burin: %u %s not recorded, such as %s\n", kernel->source.refused,
			 kernel->source.refused == 1 ? "tracepoint of the kernel is"
						     : "tracepoints of the kernel are",
			 kernel->source.refused_why);
	kernel->opened = true;
	kernel->filtered = choice->where.count;
	kernel->has_all_calls =
		!error && !choice->where.count && kernel_source_has_all_calls(&kernel->source);
	kernel->events = kernel->source.events;
	return 0;
}

static bool kernel_events_is_open(const void *state)
{
	return ((const struct kernel_events *)state)->opened;
}

/*
 * Whether the trace has each system call of its tasks, from their begin on. The rings of a flight recorder, and those of a chunk,
 * do not begin at one moment.
 */
static bool has_all_calls(const struct kernel_events *kernel, const struct recorder *recorder)
{
	return kernel->has_all_calls && !recorder->overwrite && !recorder->options.split.bytes &&
	       !recorder->options.split.ns;
}

static void kernel_events_describe(void *state, const struct recorder *recorder,
				   struct drain_options *options)
{
	const struct kernel_events *kernel = state;

	options->kernel_threads = kernel->threads;
	if (!kernel->opened)
		return;
	options->more = kernel->by_module ? &kernel->module.more : &kernel->source.more;
	if (recorder->attachment)
		return;
	options->kernel_tasks = recorder->all ? "all" : "some";
	if (has_all_calls(kernel, recorder))
		options->kernel_calls = kernel->calls;
}

static const struct drain_more *snapshot_rings(void *state)
{
	struct kernel_events *kernel = state;

	return kernel->opened && !kernel->by_module ? kernel_source_snapshot(&kernel->source) : NULL;
}

static int kernel_events_pause_of(const void *state)
{
	return kernel_events_is_open(state) ? RECORDER_IDLE_MS : INT_MAX;
}

static void finish_kernel(void *state, struct recorder *recorder)
{
	struct kernel_events *kernel = state;

	(void)recorder;
	if (!kernel->opened)
		return;
	if (kernel->by_module) {
		finish_module(kernel);
		return;
	}
	if (!kernel_follow_list(&kernel->source.follow, kernel->threads, sizeof(kernel->threads)))
		kernel->threads[0] = 0;
	kernel_source_finish(&kernel->source);
	if (kernel->has_all_calls)
		snprintf(kernel->calls, sizeof(kernel->calls), "%" PRIu64 " %" PRIu64, kernel->source.from,
			 kernel->source.to);
	kernel->error_ns = kernel->source.clock.error + kernel->source.clock.thinned;
	kernel->mechanism = kernel->source.mechanism;
	kernel->unread = kernel->source.unread;
	kernel->without_texts = kernel->source.without_texts;
	kernel->without_unnamed = kernel->source.without_unnamed;
}

static void close_kernel(void *state)
{
	struct kernel_events *kernel = state;

	if (kernel->by_module)
		kernel_module_close(&kernel->module);
	else if (kernel->opened)
		kernel_source_close(&kernel->source);
}

static void kernel_events_summarize(const void *state, const struct recorder *recorder, const char *output)
{
	const struct kernel_events *kernel = state;
	static const char *const mechanisms[] = {
		[KERNEL_BY_BPF] = "BPF", [KERNEL_BY_TRACEFS] = "tracefs", [KERNEL_BY_PERF] = "perf events"
	};
	char events[TEXT_SHORT], error[TEXT_SHORT];

	(void)recorder;
	(void)output;
	if (!kernel->opened)
		return;
	if (kernel->by_module) {
		cmd_note("burin: %s event%s of the kernel by burin.ko\n", text_count(events, kernel->events),
			 text_plural(kernel->events));
		if (kernel->lacks)
			cmd_note("burin: %s; " KERNEL_MECHANISM "=bpf records them\n", kernel->lacks);
		return;
	}
	cmd_note("burin: %s tracepoints of the kernel by %s, times within %s\n",
		 text_count(events, kernel->events), mechanisms[kernel->mechanism],
		 text_duration(error, kernel->error_ns));
	if (kernel->not_by_module[0])
		cmd_note("burin: not by the module, although it is loaded: %s\n", kernel->not_by_module);
	if (kernel->without_texts)
		cmd_note("burin: without programs in the kernel (BPF), paths of system calls are addresses, "
			 "and sockets "
			 "have none\n");
	if (kernel->without_unnamed)
		cmd_note("burin: without programs in the kernel (BPF), system calls that have no tracepoint "
			 "are not "
			 "recorded\n");
	if (kernel->unread)
		cmd_note("burin: %s system call%s a text or a socket's address that was not in memory%s\n",
			 text_count(events, kernel->unread), kernel->unread == 1 ? " lacks" : "s lack",
			 kernel->filtered ? "; --k-where may have left out some" : "");
}

const struct source_ops kernel_events_source = {
	.open = open_kernel,
	.records = kernel_events_is_open,
	.describe = kernel_events_describe,
	.pause_ms = kernel_events_pause_of,
	.snapshot = snapshot_rings,
	.finish = finish_kernel,
	.close = close_kernel,
	.summary = kernel_events_summarize,
};
