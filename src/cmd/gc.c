/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin gc: remove what killed programs left behind. */
#include <getopt.h>
#include <stdio.h>

#include "base/size.h"
#include "cmd/cmd.h"
#include "session/directory.h"

const char cmd_gc_help[] =
	"Usage: burin gc [options]\n"
	"\n"
	"Remove your sessions that nobody uses any more: those without records, those of\n"
	"programs that left by exit, and of those whose programs were killed all but the newest.\n"
	"\n"
	"  -k, --keep N       keep at most N of killed programs (default: 0)\n"
	"  -b, --bytes SIZE   and at most so much memory (default: no limit)\n"
	"  -q, --quiet        do not tell how many\n"
	"  -h, --help         this text\n"
	"\n"
	"Programs with tracepoints do the same when they start, with the limits of their\n"
	"configuration (burin(3)): 16, and 256M.\n"
	"\n"
	"Exit code: 0; 2 for a wrong option.\n";

static const char name[] = "gc";

int cmd_gc(int argc, char **argv)
{
	static const struct option options[] = { { "keep", required_argument, NULL, 'k' },
						 { "bytes", required_argument, NULL, 'b' },
						 { "quiet", no_argument, NULL, 'q' },
						 { 0 } };
	struct session_limits limits = { .count = 0, .bytes = UINT64_MAX };
	uint64_t value;
	bool quiet = false;
	unsigned removed;
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "k:b:q", options, NULL)) != -1) {
		if (option == '?')
			return cmd_usage(name, "wrong option");
		if (option != 'q' && (!size_parse(optarg, &value) || (option == 'k' && value > 1000000)))
			return cmd_usage(name, "'%s' will not do; give a number such as 16 or 256M", optarg);
		if (option == 'k')
			limits.count = (unsigned)value;
		else if (option == 'b')
			limits.bytes = value;
		else
			quiet = true;
	}
	if (optind != argc)
		return cmd_usage(name, "it takes no target");
	removed = directory_collect(&limits, true);
	if (!quiet)
		fprintf(stderr, "burin: %u session%s removed\n", removed, removed == 1 ? "" : "s");
	return 0;
}
