/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin dump: the records of a trace as text or JSON. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "burin/read.h"
#include "cmd/cmd.h"
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
	const char **events;
	const char *from, *to;
	const char *path;
};

enum {
	OPTION_FROM = 256,
	OPTION_TO,
	OPTION_NAMES,
	OPTION_CORRELATION,
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
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

/* A number, decimal or with 0x in front, and nothing else up to a comma or the end; *rest is what follows. */
static bool parse_number(const char *text, uint64_t limit, uint64_t *value, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	*rest = end;
	return !errno && *value <= limit;
}

static int add_numbers(struct view_set *set, uint64_t limit, const char *option, const char *text)
{
	const char *at = text;

	for (;;) {
		uint64_t value, *numbers;

		if (!parse_number(at, limit, &value, &at) || (*at && *at != ','))
			return cmd_usage(name, "--%s wants numbers separated by commas, not \"%s\"", option,
					 text);
		numbers = reallocarray(set->numbers, set->count + 1, sizeof(*numbers));
		if (!numbers)
			return cmd_failed(name, "out of memory");
		set->numbers = numbers;
		numbers[set->count++] = value;
		if (!*at++)
			return 0;
	}
}

static int add_event(struct arguments *arguments, const char *glob)
{
	const char **events =
		reallocarray(arguments->events, arguments->dump.event_count + 1, sizeof(*events));

	if (!events)
		return cmd_failed(name, "out of memory");
	arguments->events = events;
	events[arguments->dump.event_count++] = glob;
	return 0;
}

static int take_option(struct arguments *arguments, int option, const char *value)
{
	struct view_dump *dump = &arguments->dump;
	const char *rest;

	switch (option) {
	case 'e':
		return add_event(arguments, value);
	case 'p':
		return add_numbers(&dump->pids, UINT32_MAX - 1, "pid", value);
	case 't':
		return add_numbers(&dump->tids, UINT32_MAX - 1, "tid", value);
	case 'c':
		return add_numbers(&dump->cpus, UINT32_MAX - 1, "cpu", value);
	case OPTION_CORRELATION:
		return add_numbers(&dump->correlations, UINT64_MAX, "correlation", value);
	case OPTION_FROM:
		arguments->from = value;
		return 0;
	case OPTION_TO:
		arguments->to = value;
		return 0;
	case 'n':
		if (!parse_number(value, UINT64_MAX, &dump->limit, &rest) || *rest || !dump->limit)
			return cmd_usage(name, "--limit wants a number of lines, 1 or more, not \"%s\"",
					 value);
		return 0;
	case 'a':
		dump->style.absolute = true;
		return 0;
	case OPTION_NAMES:
		dump->names = true;
		return 0;
	case 'j':
		dump->style.json = true;
		return 0;
	default:
		fprintf(stderr, "See: burin dump --help\n");
		return CMD_USAGE;
	}
}

static int parse_arguments(struct arguments *arguments, int argc, char **argv)
{
	int option, result = 0;

	optind = 0; /* from the start, also when another subcommand has used getopt */
	while (!result && (option = getopt_long(argc, argv, "e:p:t:c:n:aj", options, NULL)) != -1)
		result = take_option(arguments, option, optarg);
	if (result)
		return result;
	if (argc - optind != 1)
		return cmd_usage(name, argc == optind
					       ? "which trace? Give the directory that burin record made"
					       : "one trace at a time");
	arguments->path = argv[optind];
	arguments->dump.events = arguments->events;
	return 0;
}

/* Whole seconds and nanoseconds: "12", "12.5", ".5"; more than nine digits are cut. */
static bool parse_seconds(const char *text, int64_t *ns)
{
	uint64_t seconds = 0, nano = 0, scale = 100000000;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	if (*text != '.' && !parse_number(text, INT64_MAX / 1000000000 - 1, &seconds, &text))
		return false;
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			nano += scale * (uint64_t)(*text - '0');
			scale /= 10;
		}
	}
	*ns = (int64_t)(seconds * 1000000000 + nano);
	return !*text;
}

/* A local time, with its date or on the day of the trace's beginning. */
static bool parse_local(const char *text, int64_t begin_ns, int64_t *ns)
{
	time_t begin = (time_t)(begin_ns / 1000000000);
	struct tm parts;
	const char *rest;
	int64_t fraction = 0;
	time_t seconds;

	if (!localtime_r(&begin, &parts))
		return false;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	rest = strptime(text, "%Y-%m-%d", &parts);
	if (rest && (*rest == ' ' || *rest == 'T'))
		rest = strptime(rest + 1, "%H:%M:%S", &parts);
	else if (!rest)
		rest = strptime(text, "%H:%M:%S", &parts);
	if (!rest || (*rest && (*rest != '.' || !parse_seconds(rest, &fraction))))
		return false;
	parts.tm_isdst = -1;
	seconds = mktime(&parts);
	*ns = (int64_t)seconds * 1000000000 + fraction;
	return seconds > INT64_MIN / 1000000000 && seconds < INT64_MAX / 1000000000;
}

/* A time as a user writes it, in nanoseconds since 1970. */
static bool parse_time(const struct burin_trace *trace, const char *text, int64_t *ns)
{
	uint64_t begin, end;
	int64_t begin_ns;

	burin_trace_range(trace, &begin, &end);
	begin_ns = burin_trace_ns(trace, begin);
	if (*text == '@')
		return parse_seconds(text + 1, ns);
	if (parse_seconds(text + (*text == '-'), ns)) {
		if (*text == '-')
			*ns = -*ns;
		return !__builtin_add_overflow(*ns, begin_ns, ns);
	}
	return parse_local(text, begin_ns, ns);
}

static int set_times(const struct burin_trace *trace, struct arguments *arguments)
{
	static const char wanted[] =
		"wants seconds since the first record, a local time or @ and seconds since 1970";
	int64_t ns;

	if (arguments->from) {
		if (!parse_time(trace, arguments->from, &ns))
			return cmd_usage(name, "--from %s, not \"%s\"", wanted, arguments->from);
		arguments->dump.from = burin_trace_ticks(trace, ns);
	}
	if (arguments->to) {
		if (!parse_time(trace, arguments->to, &ns) || ns == INT64_MAX)
			return cmd_usage(name, "--to %s, not \"%s\"", wanted, arguments->to);
		/* Everything that is printed with this time belongs to it. */
		arguments->dump.to = burin_trace_ticks(trace, ns + 1);
		if (!arguments->dump.to)
			arguments->dump.to = 1;
	}
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
		result = set_times(trace, &arguments);
	if (!result) {
		result = cmd_written(name, view_dump(trace, &arguments.dump));
		print_foot(trace, &faults, arguments.path);
		if (faults.count)
			result = CMD_FAULTS;
	}
	burin_trace_close(trace);
	free(arguments.events);
	free(arguments.dump.pids.numbers);
	free(arguments.dump.tids.numbers);
	free(arguments.dump.cpus.numbers);
	free(arguments.dump.correlations.numbers);
	return result;
}
