/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin stat -- COMMAND: count over runs of a command.
 *
 * This process opens the counters on itself, disabled until an exec and inherited by children. So they count the spawned
 * command and its children, but not this process.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/control/stat_command.h"
#include "session/clock.h"

/* ---- signals ---- */

static volatile sig_atomic_t interrupted;
static volatile pid_t child;

/* The terminal sends Ctrl-C to the command, too. A signal from another process has to be forwarded. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = 1;
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
}

/* A signal must not end this process before the command. Ignored signals stay ignored, which the command inherits. */
static void watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;

	for (unsigned n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
		if (sigaction(numbers[n], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[n], &action, NULL);
}

/* ---- numbers that need no counter ---- */

static double ns_of(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* An event's count from the resource usage of an ended child. Return: false: the usage does not have it. */
static bool usage_value(const struct rusage *usage, const char *event, double *value)
{
	const struct {
		const char *event;
		double value;
	} values[] = {
		{ "user", ns_of(usage->ru_utime) },
		{ "system", ns_of(usage->ru_stime) },
		{ "task-clock", ns_of(usage->ru_utime) + ns_of(usage->ru_stime) },
		{ "context-switches", (double)(usage->ru_nvcsw + usage->ru_nivcsw) },
		{ "page-faults", (double)(usage->ru_minflt + usage->ru_majflt) },
		{ "minor-faults", (double)usage->ru_minflt },
		{ "major-faults", (double)usage->ru_majflt },
	};

	for (unsigned n = 0; n < sizeof(values) / sizeof(*values); n++) {
		if (strcmp(event, values[n].event) == 0) {
			*value = values[n].value;
			return true;
		}
	}
	return false;
}

/* ---- rows ---- */

static struct count_row *new_row(struct counts *counts)
{
	struct count_row *row = &counts->rows[counts->count++];

	row->counter.fd = -1;
	row->share = 1;
	return row;
}

static void add_time(struct counts *counts, const char *event)
{
	struct count_row *row = new_row(counts);

	snprintf(row->counter.event.name, sizeof(row->counter.event.name), "%s", event);
	row->source = COUNT_TIME;
	row->is_time = true;
}

/* "cycles", "sched:sched_switch"; ":u" excludes the kernel. */
static int stat_command_add_event(struct counts *counts, const char *text, size_t bytes)
{
	struct count_row *row;
	char event[128], why[256];

	if (counts->count == COUNT_ROWS_MAX - 3) /* three are times */
		return cmd_usage("more than %d events given", COUNT_ROWS_MAX - 3);
	row = new_row(counts);
	row->user = bytes > 2 && memcmp(text + bytes - 2, ":u", 2) == 0;
	snprintf(event, sizeof(event), "%.*s", (int)(bytes - (row->user ? 2 : 0)), text);
	if (perf_event_find(&row->counter.event, event, why, sizeof(why)) != 0)
		return cmd_usage("--event: %s", why);
	row->is_time = row->counter.event.clock;
	return 0;
}

static int stat_command_add_events(struct counts *counts, const char *list)
{
	int result = 0;

	while (!result && *list) {
		const size_t bytes = strcspn(list, ",");

		result = stat_command_add_event(counts, list, bytes);
		list += bytes + (list[bytes] == ',');
	}
	return result;
}

/* Most software events never occur outside the kernel; the resource usage of the child has some of them. */
static void choose_source(struct count_row *row, int error)
{
	const bool restricted =
		row->counter.user && !row->user; /* the kernel was to be counted, but may not be */
	const struct perf_choice *event = &row->counter.event;
	double value;

	if (!error && (!restricted || event->clock)) /* clocks also run within the kernel */
		row->source = row->user ? COUNT_USER : COUNT_KERNEL_AND_USER;
	else if (!error && event->type == PERF_TYPE_HARDWARE)
		row->source = COUNT_USER;
	else if (!row->user && usage_value(&(struct rusage){ 0 }, event->name, &value))
		row->source = COUNT_USAGE;
	else
		row->error = error ?: -EACCES;
}

static void stat_command_open_counters(struct counts *counts)
{
	for (unsigned n = 0; n < counts->count; n++) {
		struct count_row *row = &counts->rows[n];

		if (row->source == COUNT_TIME || row->source == COUNT_USAGE || row->error)
			continue;
		row->counter.user = row->user;
		choose_source(row, counter_open(&row->counter));
	}
}

static void stat_command_close_counters(struct counts *counts)
{
	for (unsigned n = 0; n < counts->count; n++)
		counter_close(&counts->rows[n].counter);
}

static void stat_command_read_row(struct count_row *row, double elapsed, const struct rusage *usage)
{
	struct counter_value value;
	double number = elapsed;
	int error;

	if (row->error)
		return;
	if (row->source == COUNT_TIME || row->source == COUNT_USAGE) {
		usage_value(usage, row->counter.event.name, &number);
		count_add(row, number, 1);
		return;
	}
	error = counter_read(&row->counter, &value);
	if (!error && value.enabled && !value.running)
		error = -EAGAIN;
	if (error)
		row->error = error;
	else
		count_add(row, counter_scaled(&value), counter_share(&value));
}

/* ---- runs ---- */

static int stat_command_status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Return: 0, or the errno of the exec. */
static int stat_command_run(struct counts *counts)
{
	extern char **environ;
	struct rusage usage;
	uint64_t begun;
	pid_t pid;
	int status, error;

	stat_command_open_counters(counts);
	begun = clock_ns(CLOCK_MONOTONIC);
	error = posix_spawnp(&pid, counts->command[0], NULL, NULL, counts->command, environ);
	if (!error) {
		child = pid;
		while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
			;
		child = 0;
		for (unsigned n = 0; n < counts->count; n++)
			stat_command_read_row(&counts->rows[n], (double)(clock_ns(CLOCK_MONOTONIC) - begun),
					      &usage);
		counts->status = counts->status ?: stat_command_status_of(status);
		counts->runs++;
	}
	stat_command_close_counters(counts);
	return error;
}

static int stat_command_print(const struct counts *counts, const struct stat_options *options, int file)
{
	struct view_buffer out = { .used = 0 };

	cmd_output_begin(); /* not before: the command would inherit it */
	count_print(counts, options, &out);
	return cmd_print(&out, file);
}

static int stat_command_count(struct counts *counts, const struct stat_options *options)
{
	const int file = options->output ? cmd_create(options->output, false) : STDERR_FILENO;
	int error = 0, result;

	if (file < 0)
		return CMD_FAULTS;
	watch_signals();
	for (uint64_t n = 0; n < options->repeat && !error && !interrupted; n++)
		error = stat_command_run(counts);
	if (error) {
		cmd_failed("%s: %s", counts->command[0], strerror(error));
		return error == ENOENT ? 127 : 126;
	}
	result = stat_command_print(counts, options, file);
	return counts->status ?: result;
}

int stat_command(const struct stat_options *options, char **command)
{
	static struct counts counts;
	int result = 0;

	if (!*command)
		return cmd_usage("no command given; try: burin stat -- PROGRAM ARGUMENTS");
	if (options->json && options->csv)
		return cmd_usage("give either --json or --csv");
	counts.command = command;
	for (unsigned n = 0; n < options->events.count && !result; n++)
		result = stat_command_add_events(&counts, options->events.globs[n]);
	if (!result && !counts.count)
		result = stat_command_add_events(&counts,
						 "task-clock,context-switches,cpu-migrations,page-faults,"
						 "minor-faults,major-faults,cycles,instructions,branches,"
						 "branch-misses,cache-misses");
	if (result)
		return result;
	add_time(&counts, "elapsed");
	add_time(&counts, "user");
	add_time(&counts, "system");
	return stat_command_count(&counts, options);
}
