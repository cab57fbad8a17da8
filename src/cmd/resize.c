/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin resize: larger or smaller buffers for a program that runs. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "control/resize.h"

const char cmd_resize_help[] =
	"Usage: burin resize [options] TARGET SIZE\n"
	"\n"
	"Make the buffer of each CPU as large as SIZE (such as 512K or 32M), for a program that\n"
	"runs, with or without a recorder. It holds from the next packet on; the program does\n"
	"not notice. What a smaller buffer has no room for is given back to the system: of\n"
	"what was kept for a snapshot (flight) only what comes from now on stays for certain;\n"
	"what is on its way to disk (stream) is read first.\n"
	"\n"
	"  -q, --quiet   do not tell what was done\n"
	"  -h, --help    this text\n"
	"\n"
	"The largest SIZE is decided when a session is made: 64M, or burin record --buffer-max,\n"
	"or BURIN_BUFFER_MAX for the session that a program makes for itself.\n"
	"\n"
	"Exit code: 0; 1 if it failed; 2 if nothing was changed: no such TARGET, a SIZE that is\n"
	"none or too large.\n";

static const char name[] = "resize";

static int too_large(const struct session *session, const char *size, const struct resized *resized)
{
	const bool recorded = session->geometry.owner_kind == WIRE_OWNER_RECORDER;
	char most[TEXT_SHORT];

	cmd_failed(name,
		   "%s is too large: this session has room for %s per CPU; for more, start it with %s%s",
		   size, text_size(most, resized->most),
		   recorded ? "burin record --buffer-max " : "BURIN_BUFFER_MAX=", size);
	return CMD_USAGE;
}

static void tell(const struct resized *resized)
{
	char after[TEXT_SHORT], before[TEXT_SHORT], memory[TEXT_SHORT];

	fprintf(stderr, "burin: %s per CPU, were %s", text_size(after, resized->after),
		text_size(before, resized->before));
	if (resized->freed)
		fprintf(stderr, "; %s of memory given back", text_size(memory, resized->freed));
	if (resized->kept)
		fprintf(stderr, "; %s %s: give the same command again", text_size(memory, resized->kept),
			resized->unread ? "have not been read yet" : "are still in use");
	fputc('\n', stderr);
}

int cmd_resize(int argc, char **argv)
{
	static const struct option options[] = { { "quiet", no_argument, NULL, 'q' }, { 0 } };
	struct resized resized;
	struct session session;
	struct target target;
	bool quiet = false;
	int option, result, error;
	uint64_t bytes;

	optind = 0;
	while ((option = getopt_long(argc, argv, "q", options, NULL)) != -1) {
		if (option != 'q')
			return cmd_usage(name, "wrong option");
		quiet = true;
	}
	if (argc - optind != 2)
		return cmd_usage(name, "give TARGET and SIZE, such as: burin resize 4711 32M");
	if (!size_parse(argv[optind + 1], &bytes) || bytes == 0)
		return cmd_usage(name, "'%s' will not do; give a size such as 512K or 32M", argv[optind + 1]);
	result = cmd_target_change(name, argv[optind], &target, &session);
	if (result)
		return result;
	error = resize_rings(&session, bytes, &resized);
	if (error == -E2BIG)
		result = too_large(&session, argv[optind + 1], &resized);
	else if (error)
		result = cmd_failed(name, "%s: somebody else has been at it for a second; try again",
				    argv[optind]);
	else if (!quiet)
		tell(&resized);
	session_leave(&session);
	return result;
}
