/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin stat -- COMMAND: count over runs of a command.
 *
 * The counters are our own, begin with an exec, and are inherited: so what the child that we spawn executes is counted,
 * and all that it starts, but nothing of us.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/count.h"
#include "session/clock.h"

static const char name[] = "stat";

struct options {
	enum count_format format;
	uint64_t repeat;
	const char *output; /* NULL: standard error, since standard output is the command's */
};

/* ---- signals ---- */

static volatile sig_atomic_t told;
static volatile pid_t child;

/* A terminal's Ctrl-C has reached the command already; what a process sent to us has not. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	told = 1;
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
}

/* We go on until the command has ended. What was ignored stays so, for the command too. */
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

/* What the usage of a child that has ended tells. Return: false: nothing. */
static bool usage_value(const struct rusage *usage, const char *event, double *value)
{
	const struct {
		const char *event;
		double value;
	} known[] = {
		{ "user", ns_of(usage->ru_utime) },
		{ "system", ns_of(usage->ru_stime) },
		{ "task-clock", ns_of(usage->ru_utime) + ns_of(usage->ru_stime) },
		{ "context-switches", (double)(usage->ru_nvcsw + usage->ru_nivcsw) },
		{ "page-faults", (double)(usage->ru_minflt + usage->ru_majflt) },
		{ "minor-faults", (double)usage->ru_minflt },
		{ "major-faults", (double)usage->ru_majflt },
	};

	for (unsigned n = 0; n < sizeof(known) / sizeof(*known); n++) {
		if (strcmp(event, known[n].event) == 0) {
			*value = known[n].value;
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

/* "cycles", "sched:sched_switch"; with ":u" only what is done outside the kernel. */
static int add_event(struct counts *counts, const char *text, size_t bytes)
{
	struct count_row *row;
	char event[128], why[256];

	if (counts->count == COUNT_ROWS_MAX - 3) /* three are times */
		return cmd_usage(name, "there are more than %d events", COUNT_ROWS_MAX - 3);
	row = new_row(counts);
	row->user = bytes > 2 && memcmp(text + bytes - 2, ":u", 2) == 0;
	snprintf(event, sizeof(event), "%.*s", (int)(bytes - (row->user ? 2 : 0)), text);
	if (perf_event_find(&row->counter.event, event, why, sizeof(why)) != 0)
		return cmd_usage(name, "--event: %s", why);
	row->is_time = row->counter.event.clock;
	return 0;
}

static int add_events(struct counts *counts, const char *list)
{
	int result = 0;

	while (!result && *list) {
		const size_t bytes = strcspn(list, ",");

		result = add_event(counts, list, bytes);
		list += bytes + (list[bytes] == ',');
	}
	return result;
}

/* Outside the kernel most events of the kernel's own never come: what else tells of them? */
static void choose_source(struct count_row *row, int error)
{
	const bool cut = row->counter.user && !row->user;
	const struct perf_choice *event = &row->counter.event;
	double value;

	if (!error && (!cut || event->clock)) /* clocks go on within the kernel */
		row->source = row->user ? COUNT_USER : COUNT_KERNEL_AND_USER;
	else if (!error && event->type == PERF_TYPE_HARDWARE)
		row->source = COUNT_USER;
	else if (!row->user && usage_value(&(struct rusage){ 0 }, event->name, &value))
		row->source = COUNT_USAGE;
	else
		row->error = error ?: -EACCES;
}

static void open_counters(struct counts *counts)
{
	for (unsigned n = 0; n < counts->count; n++) {
		struct count_row *row = &counts->rows[n];

		if (row->source == COUNT_TIME || row->source == COUNT_USAGE || row->error)
			continue;
		row->counter.user = row->user;
		choose_source(row, counter_open(&row->counter));
	}
}

static void close_counters(struct counts *counts)
{
	for (unsigned n = 0; n < counts->count; n++)
		counter_close(&counts->rows[n].counter);
}

static void take_row(struct count_row *row, double elapsed, const struct rusage *usage)
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

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Return: 0, or the errno of the exec. */
static int run(struct counts *counts)
{
	extern char **environ;
	struct rusage usage;
	uint64_t begun;
	pid_t pid;
	int status, error;

	open_counters(counts);
	begun = clock_ns(CLOCK_MONOTONIC);
	error = posix_spawnp(&pid, counts->command[0], NULL, NULL, counts->command, environ);
	if (!error) {
		child = pid;
		while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
			;
		child = 0;
		for (unsigned n = 0; n < counts->count; n++)
			take_row(&counts->rows[n], (double)(clock_ns(CLOCK_MONOTONIC) - begun), &usage);
		counts->status = counts->status ?: status_of(status);
		counts->runs++;
	}
	close_counters(counts);
	return error;
}

static int print(const struct counts *counts, const struct options *options, int file)
{
	struct view_buffer out = { .used = 0 };
	int result;

	cmd_output_begin(); /* not before: the command would inherit it */
	count_print(counts, options->format, &out);
	result = cmd_written(name, view_buffer_write(&out, file));
	view_buffer_free(&out);
	return result;
}

static int count(struct counts *counts, const struct options *options)
{
	const int file = options->output
				 ? open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
				 : STDERR_FILENO;
	int error = 0, result;

	if (file < 0)
		return cmd_failed(name, "%s: %s", options->output, strerror(errno));
	watch_signals();
	for (uint64_t n = 0; n < options->repeat && !error && !told; n++)
		error = run(counts);
	if (error) {
		cmd_failed(name, "%s: %s", counts->command[0], strerror(error));
		return error == ENOENT ? 127 : 126;
	}
	result = print(counts, options, file);
	return counts->status ?: result;
}

static int parse(int argc, char **argv, struct options *options, struct counts *counts)
{
	static const struct option longs[] = {
		{ "event", required_argument, NULL, 'e' },  { "repeat", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },	    { "csv", no_argument, NULL, 'c' },
		{ "output", required_argument, NULL, 'o' }, { 0 }
	};
	int option, result = 0;

	optind = 0;
	while (!result && (option = getopt_long(argc, argv, "+e:r:jo:", longs, NULL)) != -1) {
		if (option == 'e')
			result = add_events(counts, optarg);
		else if (option == 'j' || option == 'c')
			options->format = option == 'j' ? COUNT_JSON : COUNT_CSV;
		else if (option == 'o')
			options->output = optarg;
		else if (option != 'r')
			result = cmd_usage(name, "wrong option");
		else if (!number_parse_size(optarg, &options->repeat) || options->repeat < 1 ||
			 options->repeat > 1000000)
			result = cmd_usage(name, "--repeat: '%s' will not do; give a number from 1 on",
					   optarg);
	}
	if (!result && (strcmp(argv[optind - 1], "--") != 0 || optind == argc))
		return cmd_usage(name, "no command given; try: burin stat -- PROGRAM ARGUMENTS");
	counts->command = argv + optind;
	return result;
}

int cmd_count(int argc, char **argv)
{
	static struct counts counts;
	struct options options = { .repeat = 1 };
	int result = parse(argc, argv, &options, &counts);

	if (!result && !counts.count)
		result = add_events(&counts, "task-clock,context-switches,cpu-migrations,page-faults,"
					     "minor-faults,major-faults,cycles,instructions,branches,"
					     "branch-misses,cache-misses");
	if (result)
		return result;
	add_time(&counts, "elapsed");
	add_time(&counts, "user");
	add_time(&counts, "system");
	return count(&counts, &options);
}
