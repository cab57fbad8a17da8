/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the subcommands share: messages, opening of traces, colour. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "burin/read.h"
#include "cmd/cmd.h"

enum {
	THREADS_MAX = 16,
};

static void message(const char *name, const char *format, va_list arguments)
{
	char text[1024], safe[2048];

	vsnprintf(text, sizeof(text), format, arguments);
	fprintf(stderr, "burin %s: %s\n", name, text_escape_line(safe, sizeof(safe), text));
}

int cmd_see_help(const char *name)
{
	fprintf(stderr, "See: burin %s --help\n", name);
	return CMD_USAGE;
}

int cmd_usage(const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message(name, format, arguments);
	va_end(arguments);
	return cmd_see_help(name);
}

int cmd_failed(const char *name, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message(name, format, arguments);
	va_end(arguments);
	return CMD_FAULTS;
}

int cmd_bad_value(const char *name, const char *option, const char *value, const char *remedy)
{
	cmd_failed(name, "%s: '%s' will not do; %s", option, value, remedy);
	return CMD_USAGE;
}

int cmd_one_trace(const char *name, int argc)
{
	if (argc - optind == 1)
		return 0;
	return cmd_usage(name, argc == optind ? "which trace? Give the directory that burin record made"
					      : "one trace at a time");
}

static const char *hint(int code)
{
	if (code == -ENOENT)
		return "; record one with: burin record -o DIR PROGRAM";
	if (code == BURIN_FAULT_NOT_A_TRACE)
		return "; give the directory that burin record made";
	if (code == -EACCES)
		return "; ask its owner, or change its permissions";
	return "";
}

int cmd_open(struct burin_trace **trace, const char *path, struct cmd_faults *faults)
{
	const struct burin_open_options options = { sizeof(options), cmd_on_fault, faults };
	struct burin_diagnosis why;
	int result = burin_trace_open(trace, path, &options, &why);

	if (!result)
		return 0;
	cmd_failed(faults->name, "%s: %s%s", path, *why.reason ? why.reason : burin_fault_name(result),
		   hint(result));
	return CMD_USAGE;
}

void cmd_on_fault(void *data, const struct burin_diagnosis *fault)
{
	struct cmd_faults *faults = data;

	faults->count++;
	if (faults->shown >= faults->show_max)
		return;
	faults->shown++;
	fprintf(stderr, "burin %s: %s: byte %" PRIu64 ": %s: %s\n", faults->name,
		*fault->file ? fault->file : ".", fault->offset, burin_fault_name(fault->code),
		fault->reason);
}

void cmd_faults_foot(const struct cmd_faults *faults, const char *path)
{
	char number[TEXT_SHORT], safe[1024];

	if (faults->count > faults->shown)
		fprintf(stderr, "burin %s: and %s more faults; see all with: burin check --all %s\n",
			faults->name, text_count(number, faults->count - faults->shown),
			text_escape_line(safe, sizeof(safe), path));
}

void cmd_output_begin(void)
{
	signal(SIGPIPE, SIG_IGN);
}

bool cmd_color(int file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 && isatty(file);
}

unsigned cmd_threads(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

int cmd_written(const char *name, int result)
{
	if (!result || result == -EPIPE)
		return 0;
	return cmd_failed(name, "cannot write the output: %s", strerror(-result));
}
