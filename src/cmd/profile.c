/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening of traces for the subcommands that read samples. */
#include "cmd/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* One of those that choose samples. Return: 0; an exit code; -1: it is none of them. */
static int choose(struct cmd_profile *profile, int option, const char *value)
{
	struct view_profile_filter *filter = &profile->filter;

	switch (option) {
	case CMD_PROFILE_EVENT:
		return cmd_glob(profile->name, &filter->event, value);
	case 'p':
		return cmd_numbers(profile->name, &filter->pids, UINT32_MAX - 1, "pid", value);
	case CMD_PROFILE_PROGRAM:
		return cmd_glob(profile->name, &filter->programs, value);
	case CMD_PROFILE_THREAD:
		return cmd_glob(profile->name, &filter->threads, value);
	case CMD_PROFILE_SYMBOL:
		return cmd_glob(profile->name, &filter->symbols, value);
	case CMD_PROFILE_FROM:
		profile->from = value;
		return 0;
	case CMD_PROFILE_TO:
		profile->to = value;
		return 0;
	default:
		return -1;
	}
}

int cmd_profile_options(struct cmd_profile *profile, int argc, char **argv, const char *letters,
			const struct option *options, int (*take)(void *data, int option, const char *value),
			void *data)
{
	int option, result = 0;

	cmd_output_begin();
	optind = 0; /* from the start, also when another subcommand has used getopt */
	while (!result && (option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		result = choose(profile, option, optarg);
		if (result < 0)
			result = take(data, option, optarg);
		if (result < 0)
			result = cmd_see_help(profile->name);
	}
	return result;
}

/* A choice that fits no event of samples is a mistake; what there is, is told. */
static int check_events(const struct cmd_profile *profile, const char *path)
{
	const struct burin_trace *trace = profile->trace;
	struct view_buffer names = { .used = 0 };
	bool fits = false;

	for (uint32_t n = 1; n <= burin_trace_events(trace); n++) {
		const struct burin_event *event = burin_trace_event(trace, n);

		if (!event || !burin_profile_is_sample(profile->counted.profile, event))
			continue;
		fits |= view_globs_match(&profile->filter.event, event->name);
		view_buffer_print(&names, "%s", names.used ? ", " : "");
		view_buffer_escape(&names, event->name);
	}
	if (!fits && names.used)
		cmd_failed(profile->name, "%s: no samples of that event; there are %.*s", path,
			   (int)names.used, names.bytes);
	view_buffer_free(&names);
	return fits ? 0 : CMD_USAGE;
}

int cmd_profile_open(struct cmd_profile *profile, const char *path)
{
	int result;

	profile->faults = (struct cmd_faults){ .name = profile->name, .show_max = 10 };
	result = cmd_open(&profile->trace, path, &profile->faults);
	if (!result)
		result = cmd_times(profile->name, profile->trace, profile->from, profile->to,
				   &profile->filter.from, &profile->filter.to);
	if (result)
		return result;
	result = view_profile_make(&profile->counted, profile->trace, &profile->filter);
	if (result == -ENODATA) {
		cmd_failed(profile->name,
			   "%s: the trace has no samples; record some with: burin record -- COMMAND", path);
		return CMD_USAGE;
	}
	return result ? cmd_failed(profile->name, "%s: %s", path, strerror(-result))
		      : check_events(profile, path);
}

int cmd_profile_close(struct cmd_profile *profile, const char *path, int result)
{
	cmd_faults_foot(&profile->faults, path);
	view_profile_free(&profile->counted);
	burin_trace_close(profile->trace);
	free(profile->filter.pids.numbers);
	free(profile->filter.event.globs);
	free(profile->filter.programs.globs);
	free(profile->filter.threads.globs);
	free(profile->filter.symbols.globs);
	return !result && profile->faults.count ? CMD_FAULTS : result;
}

int cmd_profile_create(const char *name, const char *path)
{
	int file;

	if (!path || !strcmp(path, "-"))
		return dup(STDOUT_FILENO);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file < 0)
		cmd_failed(name, "%s: %s", path, strerror(errno));
	return file;
}

int cmd_profile_write(const char *name, struct view_buffer *out, int file)
{
	int result = view_buffer_write(out, file);

	if (close(file) && !result)
		result = -errno;
	view_buffer_free(out);
	return cmd_written(name, result);
}
