/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The processes and the session of burin top; see top_sources.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/top/top_sources.h"
#include "file/foreign_file.h"

enum {
	TOP_DESCRIBED = 100, /* threads whose waits are read, without --pid */
};

/* ---- messages */

/* The user of a process whose files are closed to us. */
static const char *top_sources_user(uint32_t pid, char room[64])
{
	char path[32];
	struct stat status;
	const struct passwd *user;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &status) != 0)
		return "another user";
	user = getpwuid(status.st_uid);
	if (user)
		snprintf(room, 64, "%s", user->pw_name);
	else
		snprintf(room, 64, "user %u", status.st_uid);
	return room;
}

int top_sources_refused(uint32_t pid, int error)
{
	char user[64];

	if (error == -ENOMEM)
		return cmd_failed("out of memory");
	if (error == -ESRCH)
		return cmd_usage("there is no process %u", pid);
	if (error == -EPERM || error == -EACCES)
		return cmd_usage(
			"process %u is of %s: its system calls and stacks may not be read; run as root", pid,
			top_sources_user(pid, user));
	if (error == -ETIMEDOUT)
		return cmd_failed("process %u keeps its readers waiting", pid);
	if (!pid)
		return cmd_failed("the processes cannot be read: %s", cmd_error(error));
	return cmd_failed("process %u: %s", pid, cmd_error(error));
}

/* ---- processes */

static int top_sources_compare(const void *one, const void *other)
{
	const struct top_threads *a = one, *b = other;

	return number_order(a->pid, b->pid);
}

static struct top_threads *top_sources_find(const struct top_sources *sources, uint32_t pid, size_t count)
{
	const struct top_threads key = { .pid = pid };

	return count ? bsearch(&key, sources->processes, count, sizeof(key), top_sources_compare) : NULL;
}

/* @sorted: processes in order; those behind them are new */
static void top_sources_add(struct top_sources *sources, uint32_t pid, size_t sorted)
{
	struct top_threads *found = top_sources_find(sources, pid, sorted);

	if (found) {
		found->wanted = true;
		return;
	}
	for (size_t n = sorted; n < sources->process_count; n++)
		if (sources->processes[n].pid == pid)
			return;
	if (!array_reserve(sources->processes, sources->process_room, sources->process_count + 1))
		return;
	if (top_threads_begin(&sources->processes[sources->process_count], pid, false) != 0)
		return;
	sources->processes[sources->process_count++].wanted = true;
}

/* Return: 0 or -errno. */
static int top_sources_find_all(struct top_sources *sources, size_t sorted)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			top_sources_add(sources, (uint32_t)strtoul(entry->d_name, NULL, 10), sorted);
	closedir(directory);
	return 0;
}

/* Those that use the session. Its user can write any pid there. */
static void top_sources_find_users(struct top_sources *sources, size_t sorted)
{
	const struct attachment *attachment = &sources->attachment;
	const uint32_t owner = attachment->target.geometry.owner;

	if (owner && target_may_have(&attachment->target, owner))
		top_sources_add(sources, owner, sorted);
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		const uint32_t pid = session_process(attachment->session.shared, n);

		if (pid && target_may_have(&attachment->target, pid))
			top_sources_add(sources, pid, sorted);
	}
}

/* Whether a failure is ours: then the process may well live. */
static bool top_sources_is_ours(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* Return: 0; -EMFILE, -ENFILE, -ENOMEM: not all could be read. */
static int top_sources_update(struct top_sources *sources)
{
	const size_t sorted = sources->process_count;
	size_t kept = 0;
	int result = 0;

	for (size_t n = 0; n < sorted; n++)
		sources->processes[n].wanted = false;
	if (sources->options->all)
		result = top_sources_find_all(sources, sorted);
	else if (sources->attached)
		top_sources_find_users(sources, sorted);
	for (size_t n = 0; n < sources->process_count; n++) {
		struct top_threads *process = &sources->processes[n];
		const int error = process->wanted ? top_threads_read(process) : -ESRCH;

		if (top_sources_is_ours(error))
			result = error;
		if (error)
			top_threads_end(process);
		else
			sources->processes[kept++] = *process;
	}
	sources->process_count = kept;
	if (kept)
		qsort(sources->processes, kept, sizeof(*sources->processes), top_sources_compare);
	return result;
}

static int top_sources_compare_threads(const void *one, const void *other)
{
	const struct top_thread *a = one, *b = other;

	return number_order(b->shares.run, a->shares.run)     ?: number_order(b->shares.queued, a->shares.queued)
		       ?: number_order(b->cpu_ns, a->cpu_ns) ?: number_order(a->tid, b->tid);
}

/* The threads of all processes are rows of one table. Of the first ones also the waits are read. */
static int top_sources_threads(struct top_sources *sources)
{
	sources->thread_count = 0;
	for (size_t n = 0; n < sources->process_count; n++) {
		const struct top_threads *process = &sources->processes[n];

		if (!array_reserve(sources->threads, sources->thread_room,
				   sources->thread_count + process->count))
			return -ENOMEM;
		if (process->count)
			memcpy(sources->threads + sources->thread_count, process->rows,
			       process->count * sizeof(*process->rows));
		sources->thread_count += process->count;
	}
	if (sources->thread_count)
		qsort(sources->threads, sources->thread_count, sizeof(*sources->threads),
		      top_sources_compare_threads);
	for (size_t n = 0; n < sources->thread_count && n < TOP_DESCRIBED; n++) {
		struct top_threads *process =
			top_sources_find(sources, sources->threads[n].pid, sources->process_count);

		if (process)
			top_threads_describe(process, &sources->threads[n]);
	}
	return 0;
}

/* ---- all */

static int top_sources_attach(struct top_sources *sources)
{
	const struct top_options *options = sources->options;
	static const char *none[] = { NULL };
	const char **globs = options->events.count ? options->events.globs : none;
	int result = attach_begin(&sources->attachment, options->target);

	if (result)
		return result;
	sources->attached = true;
	result = cmd_target_globs(&sources->attachment.target, globs);
	if (!result && options->events.count)
		result = attach_switch(&sources->attachment, globs, NULL, true);
	if (!result && top_live_begin(&sources->live, &sources->attachment.session) != 0)
		result = cmd_failed("out of memory");
	snprintf(sources->title, sizeof(sources->title), "%s", sources->attachment.target.program);
	return result;
}

static int top_sources_process(struct top_sources *sources)
{
	const uint32_t pid = (uint32_t)sources->options->pid;
	char name[FOREIGN_NAME_MAX];
	int error;

	sources->processes = calloc(1, sizeof(*sources->processes));
	if (!sources->processes)
		return cmd_failed("out of memory");
	sources->process_count = sources->process_room = 1;
	error = top_threads_begin(sources->processes, pid, true);
	if (error)
		return top_sources_refused(pid, error);
	sources->processes->joined = !sources->options->json;
	sources->processes->brief = !sources->options->batch;
	foreign_name(pid, pid, name);
	snprintf(sources->title, sizeof(sources->title), "%s", name);
	return 0;
}

/* Sample the processes that are shown. */
static void top_sources_sample(struct top_sources *sources)
{
	uint64_t *pids = NULL;
	size_t room = 0;

	if (sources->options->all) {
		top_functions_begin(&sources->functions, NULL, 0);
		return;
	}
	if (!sources->process_count || !array_reserve(pids, room, sources->process_count))
		return;
	for (size_t n = 0; n < sources->process_count; n++)
		pids[n] = sources->processes[n].pid;
	top_functions_begin(&sources->functions, pids, sources->process_count);
	free(pids);
}

/* Return: 0, or the exit code after a message. */
static int top_sources_begin_threads(struct top_sources *sources)
{
	int result = 0, error;

	if (sources->options->pid)
		return top_sources_process(sources);
	if (sources->options->target)
		result = top_sources_attach(sources);
	if (result)
		return result;
	error = top_sources_update(sources); /* for the shares of the first screen */
	return error ? top_sources_refused(0, error) : 0;
}

int top_sources_begin(struct top_sources *sources, const struct top_options *options)
{
	int result;

	*sources = (struct top_sources){ .options = options, .attachment = { .file = -1, .signals = -1 } };
	if (!options->target) {
		sources->attachment.signals = recording_signals(NULL, NULL);
		if (sources->attachment.signals < 0)
			return cmd_failed("signals: %s", strerror(errno));
	}
	result = top_sources_begin_threads(sources);
	if (!result)
		top_sources_sample(sources);
	return result;
}

int top_sources_wait(struct top_sources *sources, int ms)
{
	struct pollfd signals = { .fd = sources->attachment.signals, .events = POLLIN };
	int error;

	top_functions_round(&sources->functions);
	if (!sources->attached) {
		sources->attachment.interrupted = poll(&signals, 1, ms) > 0;
		return sources->attachment.interrupted;
	}
	if (!attach_wait(&sources->attachment, ms)) {
		top_live_round(&sources->live);
		return 1;
	}
	error = top_live_round(&sources->live);
	return error ? -ENOMEM : 0;
}

int top_sources_rows(struct top_sources *sources, struct top_rows *rows)
{
	int error;

	*rows = (struct top_rows){ .stacks = sources->options->pid != 0 };
	top_functions_rows(&sources->functions, rows);
	if (sources->options->pid) {
		error = top_threads_read(sources->processes);
		rows->threads = sources->processes->rows;
		rows->thread_count = sources->processes->count;
		rows->thread_sum = sources->processes->sum;
		return error;
	}
	error = top_sources_update(sources) ?: top_sources_threads(sources);
	rows->threads = sources->threads;
	rows->thread_count = rows->thread_sum = sources->thread_count;
	if (!error && sources->attached)
		top_live_rows(&sources->live, rows);
	return error;
}

static uint64_t top_sources_running(const struct top_rows *rows)
{
	uint64_t count = 0;

	for (size_t n = 0; n < rows->thread_count; n++)
		count += rows->threads[n].state == 'R' ? rows->threads[n].count : 0;
	return count;
}

void top_sources_head(const struct top_sources *sources, const struct top_rows *rows, struct view_buffer *out)
{
	const uint64_t running = top_sources_running(rows);
	char text[3][TEXT_SHORT], now[32];
	const time_t time_now = time(NULL);
	struct tm local;

	strftime(now, sizeof(now), "%F %T", localtime_r(&time_now, &local));
	view_buffer_print(out, "%s ", now);
	if (sources->options->pid)
		view_buffer_print(out, "process %u %s: ", (unsigned)sources->options->pid, sources->title);
	else if (*sources->title)
		view_buffer_print(out, "%s: ", sources->title);
	view_buffer_print(out, "%s thread%s, %s running, %s waiting\n", text_count(text[0], rows->thread_sum),
			  text_plural(rows->thread_sum), text_count(text[1], running),
			  text_count(text[2], rows->thread_sum - running));
	top_losses_text(rows, out);
}

void top_sources_over(const struct top_sources *sources)
{
	const struct attachment *attachment = &sources->attachment;

	if (attachment->interrupted)
		return;
	if (sources->attached)
		cmd_note("burin: %s: %s\n", sources->options->target, attach_result(attachment));
	else if (sources->options->pid)
		cmd_note("burin: process %u has ended\n", (unsigned)sources->options->pid);
}

int top_sources_end(struct top_sources *sources, int result)
{
	for (size_t n = 0; n < sources->process_count; n++)
		top_threads_end(&sources->processes[n]);
	free(sources->processes);
	free(sources->threads);
	if (sources->attached && attach_restore(&sources->attachment))
		result = CMD_FAULTS;
	top_live_end(&sources->live);
	top_functions_end(&sources->functions);
	if (sources->attached)
		return attach_end(&sources->attachment, result);
	if (sources->attachment.signals >= 0)
		close(sources->attachment.signals);
	return result;
}
