/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options of burin record; see record.h. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/record.h"
#include "wire/context.h"

enum {
	/* Of each CPU: at 120 MB/s, 140 ms in which the recorder may be kept from running. */
	RECORD_BUFFER = 16 << 20,
	RECORD_BUFFER_MAX = 64 << 20, /* what burin resize may make of it */
	RECORD_PACKET = 64 << 10,
};

static const char name[] = "record"; /* of the subcommand */

static const char help[] =
	"Usage: burin record [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       burin record [OPTION]... TARGET\n"
	"\n"
	"Run COMMAND, and write what its tracepoints and those of every process that it\n"
	"starts record into a trace directory. Exits with COMMAND's status.\n"
	"Or record TARGET, a program that runs already (a pid, a name or a session's path;\n"
	"see burin ls), from now on until Ctrl-C or its end. It does not notice.\n"
	"Both are sampled, too.\n"
	"\n"
	"  -o, --output DIR     the trace; must not exist (default: COMMAND.burin)\n"
	"  -e, --event GLOB     record the events whose names match; may be repeated\n"
	"                       (default: all). Those of TARGET that are off are switched on\n"
	"                       for that time (default: all, if none is on)\n"
	"      --mode MODE      stream: all of it goes to disk; when the disk is too slow,\n"
	"                       new records are discarded, and counted (default)\n"
	"                       flight: rings in memory keep the last records of each CPU,\n"
	"                       which are written out at the end\n"
	"      --buffer SIZE    memory of each CPU's ring (default: 16M)\n"
	"      --buffer-max SIZE\n"
	"                       what burin resize may make of it later (default: 64M)\n"
	"      --packet SIZE    size of a ring's packets (default: 64K)\n"
	"      --string-max N   longest string kept, in bytes (default: 4096)\n"
	"      --context FIELDS correlation, depth, or both with a comma: what each record\n"
	"                       carries besides its fields; see burin-context(3)\n"
	"      --split LIMIT    DIR holds chunks 0001, 0002, ..., each a trace by itself and of\n"
	"                       this size (1G) or age (10m)\n"
	"      --keep N         remove the oldest chunks, so that at most N stay\n"
	"      --duration TIME  end the recording after that time; COMMAND goes on untraced\n"
	"                       (--for is the same)\n"
	"  -F, --frequency HZ   samples a second of each CPU (default: 997)\n"
	"      --call-graph HOW how stacks are found: fp (frame pointers), dwarf (the tables of\n"
	"                       programs, from a copy of each stack), both (the default) or none\n"
	"      --stack-size SIZE\n"
	"                       of that copy, at most (default: 32K)\n"
	"      --sample-buffer SIZE\n"
	"                       memory of each CPU's ring of samples (default: 8M with copies\n"
	"                       of stacks, else 512K)\n"
	"      --sample-event E cpu-clock (the default), cycles, page-faults, ..., or a\n"
	"                       tracepoint of the kernel's, such as sched:sched_switch\n"
	"      --timer          samples by a timer in the program, as where the kernel permits\n"
	"                       no others\n"
	"      --off-cpu        also where threads were blocked, and for how long\n"
	"      --no-samples     tracepoints only\n"
	"      --no-symbols     do not name what was sampled; burin symbols does it later\n"
	"  -a, --all            sample everything that runs, while COMMAND does, or until\n"
	"                       Ctrl-C\n"
	"  -p, --pid PID        sample that process, with all its threads\n"
	"  -t, --thread TID     sample that thread\n"
	"  -q, --quiet          no summary, and no line that tells how far it is\n"
	"  -h, --help           this text\n"
	"\n"
	"TARGET has its buffers already: --mode, --buffer, --buffer-max, --packet, --string-max\n"
	"and --context do not go with it (burin resize changes their size). What it writes\n"
	"faster than it can be read is overwritten, and counted.\n"
	"Sizes take K, M or G; times are such as 250ms, 10s, 5m, 1h. SIGINT (Ctrl-C) goes to\n"
	"COMMAND; the trace is complete when it has ended. A second one ends the recording at\n"
	"once.\n";

static const struct option longs[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "event", required_argument, NULL, 'e' },
	{ "mode", required_argument, NULL, 'm' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "packet", required_argument, NULL, 'P' },
	{ "string-max", required_argument, NULL, 's' },
	{ "buffer-max", required_argument, NULL, 'B' },
	{ "context", required_argument, NULL, 'C' },
	{ "split", required_argument, NULL, 'S' },
	{ "keep", required_argument, NULL, 'k' },
	{ "duration", required_argument, NULL, 'f' },
	{ "for", required_argument, NULL, 'f' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "frequency", required_argument, NULL, 'F' },
	{ "call-graph", required_argument, NULL, 'g' },
	{ "stack-size", required_argument, NULL, 'z' },
	{ "sample-buffer", required_argument, NULL, 'M' },
	{ "timer", no_argument, NULL, 'T' },
	{ "no-samples", no_argument, NULL, 'N' },
	{ "no-symbols", no_argument, NULL, 'Y' },
	{ "sample-event", required_argument, NULL, 'E' },
	{ "off-cpu", no_argument, NULL, 'O' },
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "thread", required_argument, NULL, 't' },
	{ 0 },
};

static int parse_sizes(struct record_options *options, int option, const char *value)
{
	uint64_t size = 0;

	options->own = option == 'b'   ? "--buffer"
		       : option == 'B' ? "--buffer-max"
		       : option == 'P' ? "--packet"
				       : "--string-max";

	number_parse_size(value, &size); /* 0 is too small for all of them */

	switch (option) {
	case 'b':
		if (size < 4 * WIRE_PACKET_MIN || size > UINT64_C(16) << 30)
			return cmd_bad_value(name, "--buffer", value,
					     "give a size from 16K to 16G, such as 16M");
		options->session.buffer_bytes = size;
		return 0;
	case 'B':
		if (size < 4 * WIRE_PACKET_MIN || size > UINT64_C(16) << 30)
			return cmd_bad_value(name, "--buffer-max", value,
					     "give a size from 16K to 16G, such as 64M");
		options->session.buffer_max = size;
		return 0;
	case 'P':
		if (size < WIRE_PACKET_MIN || size > WIRE_PACKET_MAX)
			return cmd_bad_value(name, "--packet", value,
					     "give a size from 4K to 16M, such as 64K");
		options->session.packet_bytes = size;
		return 0;
	default:
		if (size < 16 || size > 60000)
			return cmd_bad_value(name, "--string-max", value,
					     "give a number of bytes from 16 to 60000");
		options->session.string_max = (uint32_t)size;
		return 0;
	}
}

static int parse_limits(struct record_options *options, int option, const char *value)
{
	uint64_t number = 0;

	switch (option) {
	case 'S': /* "10m" are ten minutes */
		options->split.bytes = options->split.ns = 0;
		if (!number_parse_duration(value, &options->split.ns))
			number_parse_size(value, &options->split.bytes);
		if (options->split.ns == 0 && options->split.bytes == 0)
			return cmd_bad_value(name, "--split", value,
					     "give a size, such as 1G, or a time, such as 10m");
		return 0;
	case 'k':
		if (!number_parse_size(value, &number) || number < 1 || number > 1000000)
			return cmd_bad_value(name, "--keep", value, "give a number of chunks from 1 on");
		options->split.keep = (unsigned)number;
		return 0;
	case 'f':
		if (!number_parse_duration(value, &options->duration) || options->duration == 0)
			return cmd_bad_value(name, "--duration", value, "give a time, such as 10s");
		return 0;
	default:
		return parse_sizes(options, option, value);
	}
}

static int parse_one(struct record_options *options, int option, const char *value)
{
	int result;

	switch (option) {
	case 'o':
		options->output = value;
		return 0;
	case 'e':
		if (options->glob_count == RECORD_GLOBS_MAX)
			return cmd_bad_value(name, "--event", value,
					     "there are more than 64 globs; use wider ones");
		options->globs[options->glob_count++] = value;
		return 0;
	case 'm':
		if (strcmp(value, "stream") != 0 && strcmp(value, "flight") != 0)
			return cmd_bad_value(name, "--mode", value, "it is stream or flight");
		options->session.mode = value[0] == 's' ? WIRE_MODE_STREAM : WIRE_MODE_FLIGHT;
		options->own = "--mode";
		return 0;
	case 'C':
		if (!context_parse(value, &options->session.context))
			return cmd_bad_value(name, "--context", value, "there are correlation and depth");
		options->own = "--context";
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		fputs(help, stdout);
		return RECORD_HELP;
	default:
		result = sampling_parse(&options->sampling, option, value);
		return result < 0 ? parse_limits(options, option, value) : result;
	}
}

/* Options that do not go together, and what one asks of another. */
static int settle(struct record_options *options)
{
	const bool split = options->split.bytes || options->split.ns;

	if (options->split.keep && !split)
		return cmd_bad_value(name, "--keep", "without --split", "add --split, which makes chunks");
	if (options->target && options->own)
		return cmd_bad_value(name, options->own, options->target,
				     "that program has its buffers already");
	if (split && options->session.mode == WIRE_MODE_FLIGHT)
		return cmd_bad_value(name, "--split", "with --mode flight",
				     "its rings are written out at the end only");
	if (options->sampling.timer &&
	    (options->target || options->sampling.system || options->sampling.process ||
	     options->sampling.off_cpu || strcmp(options->sampling.event, sampling_defaults().event) != 0))
		return cmd_bad_value(name, "--timer",
				     options->target ? options->target : options->sampling.asked,
				     "a timer samples the CPU time of a command only");
	if (options->session.mode == WIRE_MODE_FLIGHT && !options->sampling.asked)
		options->sampling.off = true; /* they would fill the disk while the rings do not */
	if (options->glob_count == 0 && !options->target)
		options->globs[0] = "*";
	options->session.globs = options->globs;
	/* A packet must leave room for at least four in a ring. */
	if (options->session.packet_bytes * 4 > options->session.buffer_bytes)
		options->session.buffer_bytes = options->session.packet_bytes * 4;
	return 0;
}

/* Several words are no TARGET. */
static int meant_command(const char *word)
{
	fprintf(stderr, "burin record: more than one TARGET; to run a command: burin record -- %s ...\n",
		word);
	return CMD_USAGE;
}

/* Whether there is something to record without a command. */
static bool others_sampled(const struct record_options *options)
{
	return !options->sampling.off && (options->sampling.system || options->sampling.process);
}

int record_options_parse(struct record_options *options, int argc, char **argv)
{
	int option, result;

	*options = (struct record_options){ .session = { .mode = WIRE_MODE_STREAM,
							 .buffer_bytes = RECORD_BUFFER,
							 .buffer_max = RECORD_BUFFER_MAX,
							 .packet_bytes = RECORD_PACKET,
							 .string_max = WIRE_STRING_MAX },
					    .sampling = sampling_defaults() };
	opterr = 0;
	for (;;) {
		option = getopt_long(argc, argv, "+:o:e:qhF:ap:t:", longs, NULL);
		if (option == -1 && optind < argc && strcmp(argv[optind - 1], "--") != 0 &&
		    !options->target) {
			options->target = argv[optind++]; /* options may come behind it */
			continue;
		}
		if (option == -1)
			break;
		if (option == '?' || option == ':') {
			if (options->target && option == '?')
				return meant_command(options->target);
			fprintf(stderr, "burin record: %s: %s; see: burin record --help\n", argv[optind - 1],
				option == '?' ? "no such option" : "its value is missing");
			return CMD_USAGE;
		}
		result = parse_one(options, option, optarg);
		if (result)
			return result;
	}
	options->command = argv + optind;
	if (options->target && *options->command)
		return meant_command(options->target);
	if (!options->target && !*options->command && !others_sampled(options)) {
		fprintf(stderr, "burin record: no command given; try: burin record -- PROGRAM ARGUMENTS\n");
		return CMD_USAGE;
	}
	return settle(options);
}
