/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the subcommands that read samples; see open_profile.h. */
#include "cmd/report/open_profile.h"
#include "view/calls/call_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "burin/calls.h"
#include "cmd/report/span_windows.h"
#include "file/named.h"
#include "view/losses.h"
#include "view/spans/span_join.h"

enum {
	PROGRAMS_MAX = 8, /* listed in a message */
};

static struct view_profile_filter selected = { .where.fault = &cmd_where_fault };

unsigned cmd_inline = CMD_INLINE_FOLD;
const char *const cmd_inline_names[] = { [CMD_INLINE_FOLD] = "fold", [CMD_INLINE_SHOW] = "show", NULL };

char cmd_profile_given[OPTION_NAME];

const struct cmd_option cmd_profile_options[] = {
	OPTION_LIST("--event GLOB", &selected.event,
		    "samples of this event (default: the one with most samples, and off-CPU time if both are "
		    "times)",
		    .given = cmd_profile_given),
	OPTION_NUMBERS("-p, --pid N,...", &selected.pids, UINT32_MAX - 1, "only these processes",
		       .given = cmd_profile_given),
	OPTION_LIST("--program GLOB", &selected.programs, "only programs of this name; may be repeated",
		    .given = cmd_profile_given),
	OPTION_LIST("--thread GLOB", &selected.threads, "only threads of this name; may be repeated",
		    .given = cmd_profile_given),
	OPTION_LIST("--symbol GLOB", &selected.symbols, "only stacks with this function; may be repeated",
		    .given = cmd_profile_given),
	CMD_WHERE(&selected.where.list,
		  "only samples, calls, spans or system calls of which EXPR is true, such as '$cpu == 1' or "
		  "'status >= 500'; 'GLOB: EXPR' is for those of these names; may be repeated. See burin(1) "
		  "and burin-enable(1)",
		  .given = cmd_profile_given),
	OPTION_GROUP(cmd_time_options),
	{ 0 },
};

const struct view_profile_filter *cmd_profile_filter(void)
{
	return &selected;
}

/* Report an --event that matches no event of samples, and list these. */
static int open_profile_check_events(const struct cmd_profile *profile, const char *path)
{
	const struct burin_trace *trace = profile->trace;
	struct view_buffer names = { .used = 0 };
	bool matches = false;

	for (uint32_t n = 1; n <= burin_trace_events(trace); n++) {
		const struct burin_event *event = burin_trace_event(trace, n);

		if (!event || !burin_profile_is_sample(profile->counted.profile, event))
			continue;
		matches |= view_globs_match(&selected.event, event->name);
		view_buffer_put(&names, ", ", names.used ? 2 : 0);
		view_buffer_put(&names, event->name, strlen(event->name));
	}
	if (!matches && names.used)
		cmd_failed("%s: no samples of that event; the trace has %.*s", path, (int)names.used,
			   names.bytes);
	view_buffer_free(&names);
	return matches ? 0 : CMD_USAGE;
}

/* Report options that select no process, and list some programs that were sampled. */
static int no_such_process(const struct cmd_profile *profile, const char *path)
{
	const struct burin_profile *tables = profile->counted.profile;
	const char *programs[PROGRAMS_MAX];
	struct view_buffer text = { .used = 0 };
	unsigned count = 0;

	for (uint32_t task = 1; task <= burin_profile_tasks(tables) && count < PROGRAMS_MAX; task++) {
		const char *program = view_program(tables, task);
		unsigned n = 0;

		while (n < count && strcmp(programs[n], program) != 0)
			n++;
		if (n < count)
			continue;
		view_buffer_print(&text, "%s%s", count ? ", " : "", program);
		programs[count++] = program;
	}
	cmd_failed("%s: no samples of that program, thread or process; the trace has %.*s%s", path,
		   (int)text.used, text.used ? text.bytes : "",
		   count == PROGRAMS_MAX ? ", ...; --by program lists all" : "");
	view_buffer_free(&text);
	return CMD_USAGE;
}

int cmd_no_calls(const struct burin_trace *trace, const char *path)
{
	struct burin_calls *calls;

	if (burin_calls_open(&calls, trace))
		return cmd_usage(
			"%s: the trace has no calls; record some with: burin record --calls -- COMMAND",
			path);
	burin_calls_close(calls);
	return cmd_usage("%s: calls were only counted (--count-calls), none has a time; burin report --calls "
			 "prints the counts",
			 path);
}

/* The calls of a trace as a profile. */
static int open_profile_count_calls(struct cmd_profile *profile, const char *path,
				    const struct view_profile_filter *filter)
{
	int result;

	if (filter->event.count || filter->symbols.count)
		return cmd_usage("--event and --symbol are for samples, not for calls");
	result = call_profile_make(&profile->counted, profile->trace, filter, cmd_threads());
	if (result == -ENODATA)
		return cmd_no_calls(profile->trace, path);
	if (result == -EDOM)
		return cmd_where_failed();
	return result ? cmd_failed("%s: %s", path, cmd_error(result)) : 0;
}

static bool has_spans(const struct burin_trace *trace)
{
	static const struct view_globs all = { .count = 0 };
	const struct span_choice choice = { .names = &all };
	struct view_strings strings = { .count = 0 };
	const char *missing = NULL;
	struct span_join join;
	const bool has = span_join_make(&join, trace, &choice, &strings, &missing) == 0;

	span_join_free(&join);
	view_strings_free(&strings);
	return has;
}

static int no_samples(const struct burin_trace *trace, const char *path)
{
	struct burin_calls *calls;

	if (burin_calls_open(&calls, trace) == 0) {
		burin_calls_close(calls);
		return cmd_usage(
			"%s: the trace has calls, no samples; report, diff, flame and export show them "
			"with --calls",
			path);
	}
	if (has_spans(trace))
		return cmd_usage(
			"%s: the trace has spans, no samples; report and diff show them with --spans; record "
			"samples with: burin record -- COMMAND",
			path);
	return cmd_usage("%s: the trace has no samples; record some with: burin record -- COMMAND", path);
}

bool cmd_profile_is_private(int directory)
{
	struct stat status;

	return fstat(directory, &status) == 0 && !(status.st_mode & 077);
}

int cmd_profile_open(struct cmd_profile *profile, const char *path)
{
	struct view_profile_filter *filter = &profile->filter;
	int directory, result;

	*filter = selected;
	filter->apart = profile->apart;
	profile->faults = (struct cmd_faults){ .show_max = 10 };
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	profile->private = directory >= 0 && cmd_profile_is_private(directory);
	if (directory >= 0)
		close(directory);
	result = cmd_open(&profile->trace, path, &profile->faults);
	if (!result)
		result = cmd_times(profile->trace, &filter->from, &filter->to);
	if (result)
		return result;
	if (profile->calls)
		return open_profile_count_calls(profile, path, filter);
	if (profile->spans) {
		result = cmd_span_windows(&profile->windows, profile->trace, path, profile->spans,
					  profile->slowest, filter);
		if (result)
			return result;
		filter->windows = &profile->windows;
		filter->where.list.count = 0; /* they chose spans */
	}
	result = view_profile_make(&profile->counted, profile->trace, filter);
	if (result == -ENODATA)
		return no_samples(profile->trace, path);
	if (result == -EDOM)
		return cmd_where_failed();
	if (result)
		return cmd_failed("%s: %s", path, cmd_error(result));
	result = open_profile_check_events(profile, path);
	if (!result && !profile->may_be_empty && !profile->counted.pair_count && !filter->from &&
	    !filter->to && filter->programs.count + filter->threads.count + filter->pids.count)
		result = no_such_process(profile, path);
	return result;
}

static void open_profile_print_line(bool any, const char *path, struct view_buffer *line)
{
	if (any) {
		cmd_note("burin: %s: ", path);
		view_buffer_write(line, STDERR_FILENO);
	}
	view_buffer_free(line);
}

void cmd_losses_line(const struct burin_trace *trace, const char *about, const char *path)
{
	struct view_buffer line = { .used = 0 };
	const bool any = view_losses_line(trace, about, &line);

	open_profile_print_line(any, path, &line);
}

/* The losses, if there are any. */
static void open_profile_print_foot(const struct cmd_profile *profile, const char *path)
{
	struct view_buffer line = { .used = 0 };

	if (profile->calls)
		cmd_losses_line(profile->trace, view_lost_calls, path);
	else
		open_profile_print_line(view_ledger_line(profile->counted.profile, &line), path, &line);
}

void cmd_losses_foot(const struct burin_trace *trace, const struct cmd_faults *faults, const char *path)
{
	struct view_buffer foot = { .used = 0 };

	view_losses_text(trace, cmd_color(STDERR_FILENO), &foot);
	view_buffer_write(&foot, STDERR_FILENO);
	view_buffer_free(&foot);
	cmd_faults_foot(faults, path);
}

int cmd_profile_close(struct cmd_profile *profile, const char *path, int result)
{
	if (!result && profile->foot)
		open_profile_print_foot(profile, path);
	cmd_faults_foot(&profile->faults, path);
	view_profile_free(&profile->counted);
	view_windows_free(&profile->windows);
	burin_trace_close(profile->trace);
	return !result && profile->faults.count ? CMD_FAULTS : result;
}

int cmd_profile_create(const struct cmd_profile *profile, const char *path)
{
	int file;

	if (path && strcmp(path, "-") != 0)
		return cmd_create(path, profile->private);
	file = dup(STDOUT_FILENO);
	if (file < 0)
		cmd_failed("standard output: %s", strerror(errno));
	return file;
}

int cmd_profile_write(struct view_buffer *out, int file, const char *path)
{
	int result = view_buffer_write(out, file);
	struct stat made;

	if (path && fstat(file, &made) != 0)
		path = NULL;
	if (file >= 0 && close(file) && !result)
		result = -errno;
	view_buffer_free(out);
	return cmd_profile_ended(result, path, &made);
}

void cmd_profile_remove(const char *path, const struct stat *made)
{
	if (path && strcmp(path, "-") != 0)
		named_remove(path, made);
}

int cmd_profile_ended(int result, const char *path, const struct stat *made)
{
	if (result)
		cmd_profile_remove(path, made);
	return cmd_written(result);
}
