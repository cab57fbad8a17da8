/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin snapshot: what is in a program's session now, as a trace; of a program that was killed, post mortem.
 *
 * The session is looked at and not touched: who traces and who records in it does not notice.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "cmd/target.h"
#include "drain/drain.h"
#include "session/session.h"

const char cmd_snapshot_help[] =
	"Usage: burin snapshot [options] TARGET\n"
	"\n"
	"Write the last events of a program, which are in its memory, into a trace directory.\n"
	"The program goes on undisturbed; of one that was killed, these are the events that led\n"
	"to its death. TARGET is a pid, a program's name, or a session's path; see burin ls.\n"
	"\n"
	"  -o, --output DIR   the trace; must not exist (default: PROGRAM-1.burin)\n"
	"      --last TIME    only the last 5s, 250ms, 10m, 1h\n"
	"  -k, --keep         keep the session of a program that was killed, which is removed\n"
	"                     otherwise once it has been read\n"
	"  -q, --quiet        no summary\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit code: 0; 1 if it could not be written; 2 if there is no such TARGET.\n";

static const char name[] = "snapshot";

struct arguments {
	const char *session;
	const char *output;
	uint64_t last; /* ns; 0: all */
	bool keep, quiet;
};

/* Return: 0 or an exit code. */
static int parse(struct arguments *arguments, int argc, char **argv)
{
	static const struct option options[] = { { "output", required_argument, NULL, 'o' },
						 { "last", required_argument, NULL, 'l' },
						 { "keep", no_argument, NULL, 'k' },
						 { "quiet", no_argument, NULL, 'q' },
						 { 0 } };
	int option;

	while ((option = getopt_long(argc, argv, "o:kq", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			arguments->output = optarg;
			break;
		case 'l':
			if (!number_parse_duration(optarg, &arguments->last) || arguments->last == 0)
				return cmd_usage(name, "--last: '%s' will not do; give a time, such as 5s",
						 optarg);
			break;
		case 'k':
			arguments->keep = true;
			break;
		case 'q':
			arguments->quiet = true;
			break;
		default:
			return CMD_USAGE;
		}
	}
	if (optind != argc - 1)
		return cmd_usage(name, "of which program? Give one pid, name or session's path");
	arguments->session = argv[optind];
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	struct drain_options options = { 0 };
	struct drain_totals totals;
	struct session session;
	struct target target;
	char output[4096];
	int result = parse(&arguments, argc, argv), error;

	if (!result)
		result = cmd_target_look(name, arguments.session, &target, &session);
	if (result)
		return result;
	if (arguments.last)
		options.since = recording_moment(&session, arguments.last);
	recording_output(arguments.output, target.header.geometry.program, 1, output, sizeof(output));
	error = drain_snapshot(&session, output, &options, &totals);
	if (error)
		result = recording_refused(name, output, error);
	else if (!arguments.quiet)
		recording_summary(&totals, output, true);
	if (!error && !arguments.keep && target.state == TARGET_DIED &&
	    target.header.geometry.owner_kind == WIRE_OWNER_PROGRAM)
		unlink(target.path); /* it has been read; nothing comes any more */
	session_leave(&session);
	return result;
}
