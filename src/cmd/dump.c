/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin dump: the records of a trace as text or JSON. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burin/read.h"
#include "cmd/cmd.h"
#include "cmd/choose.h"
#include "view/dump.h"
#include "view/summary.h"

const char cmd_dump_help[] =
	"Usage: burin dump [options] DIR\n"
	"\n"
	"Print the records of the trace in DIR, all CPUs merged by time, one line each:\n"
	"time, CPU, process/thread, name of the thread, event, fields; in front of the fields,\n"
	"what each record carries besides (burin record --context).\n"
	"\n"
	"  -e, --event GLOB   only events whose name fits; may be given several times\n"
	"  -p, --pid N,...    only these processes\n"
	"  -t, --tid N,...    only these threads\n"
	"  -c, --cpu N,...    only these CPUs\n"
	"      --correlation N,...\n"
	"                     only records with these ids (burin record --context correlation)\n"
	"      --from TIME    from this time on\n"
	"      --to TIME      up to this time\n"
	"  -n, --limit N      no more than N lines\n"
	"  -a, --absolute     times of day instead of seconds since the first record\n"
	"      --stacks       below a sample, its stack\n"
	"      --names        show where processes and threads announce themselves, too\n"
	"  -j, --json         one JSON object per line\n"
	"  -h, --help         this text\n"
	"\n"
	"TIME is as printed: seconds since the first record (1.25), a local time\n"
	"(2026-11-21 07:45:35.5, or 07:45:35 on the day of the first record), or @ and\n"
	"seconds since 1970.\n"
	"\n"
	"Lost records, by cause, and faults of the trace are told on stderr.\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n";

static const char name[] = "dump";

struct arguments {
	struct view_dump dump;
	const char *from, *to;
	const char *path;
};

enum {
	OPTION_FROM = 256,
	OPTION_TO,
	OPTION_NAMES,
	OPTION_CORRELATION,
	OPTION_STACKS,
};

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "correlation", required_argument, NULL, OPTION_CORRELATION },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "to", required_argument, NULL, OPTION_TO },
	{ "limit", required_argument, NULL, 'n' },
	{ "absolute", no_argument, NULL, 'a' },
	{ "names", no_argument, NULL, OPTION_NAMES },
	{ "stacks", no_argument, NULL, OPTION_STACKS },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

static int take_option(struct arguments *arguments, int option, const char *value)
{
	struct view_dump *dump = &arguments->dump;
	const char *rest;

	switch (option) {
	case 'e':
		return cmd_glob(name, &dump->events, value);
	case 'p':
		return cmd_numbers(name, &dump->pids, UINT32_MAX - 1, "pid", value);
	case 't':
		return cmd_numbers(name, &dump->tids, UINT32_MAX - 1, "tid", value);
	case 'c':
		return cmd_numbers(name, &dump->cpus, UINT32_MAX - 1, "cpu", value);
	case OPTION_CORRELATION:
		return cmd_numbers(name, &dump->correlations, UINT64_MAX, "correlation", value);
	case OPTION_FROM:
		arguments->from = value;
		return 0;
	case OPTION_TO:
		arguments->to = value;
		return 0;
	case 'n':
		if (!cmd_number(value, UINT64_MAX, &dump->limit, &rest) || *rest || !dump->limit)
			return cmd_usage(name, "--limit wants a number of lines, 1 or more, not \"%s\"",
					 value);
		return 0;
	case 'a':
		dump->style.absolute = true;
		return 0;
	case OPTION_STACKS:
		dump->style.stacks = true;
		return 0;
	case OPTION_NAMES:
		dump->names = true;
		return 0;
	case 'j':
		dump->style.json = true;
		return 0;
	default:
		return cmd_see_help(name);
	}
}

static int parse_arguments(struct arguments *arguments, int argc, char **argv)
{
	int option, result = 0;

	optind = 0; /* from the start, also when another subcommand has used getopt */
	while (!result && (option = getopt_long(argc, argv, "e:p:t:c:n:aj", options, NULL)) != -1)
		result = take_option(arguments, option, optarg);
	if (!result)
		result = cmd_one_trace(name, argc);
	if (result)
		return result;
	arguments->path = argv[optind];
	return 0;
}

/* What the lines above do not show. */
static void print_foot(const struct burin_trace *trace, const struct cmd_faults *faults, const char *path)
{
	struct view_buffer foot = { .used = 0 };
	bool unfinished;
	const char *state = view_state(trace, &unfinished);

	view_losses_text(trace, cmd_color(STDERR_FILENO), &foot);
	if (unfinished && !strcmp(state, "recording"))
		view_buffer_print(&foot,
				  "the recording is unfinished: this is what there was when it was opened\n");
	view_buffer_write(&foot, STDERR_FILENO);
	view_buffer_free(&foot);
	cmd_faults_foot(faults, path);
}

int cmd_dump(int argc, char **argv)
{
	struct arguments arguments = { .dump = { .threads = cmd_threads(), .file = STDOUT_FILENO } };
	struct cmd_faults faults = { .name = name, .show_max = 10 };
	struct burin_trace *trace = NULL;
	int result = parse_arguments(&arguments, argc, argv);

	cmd_output_begin();
	arguments.dump.style.color = !arguments.dump.style.json && cmd_color(STDOUT_FILENO);
	if (!result)
		result = cmd_open(&trace, arguments.path, &faults);
	if (!result && arguments.dump.correlations.count &&
	    !(burin_trace_context(trace) & BURIN_CONTEXT_CORRELATION))
		result =
			cmd_usage(name, "the records of this trace carry no correlation id; see burin record "
					"--context");
	if (!result)
		result = cmd_times(name, trace, arguments.from, arguments.to, &arguments.dump.from,
				   &arguments.dump.to);
	if (!result) {
		result = cmd_written(name, view_dump(trace, &arguments.dump));
		print_foot(trace, &faults, arguments.path);
		if (faults.count)
			result = CMD_FAULTS;
	}
	burin_trace_close(trace);
	free(arguments.dump.events.globs);
	free(arguments.dump.pids.numbers);
	free(arguments.dump.tids.numbers);
	free(arguments.dump.cpus.numbers);
	free(arguments.dump.correlations.numbers);
	return result;
}
