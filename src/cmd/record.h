/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin record: its options, and its two parts: of a command (record.c), of a program that runs already (record_target.c). */
#ifndef BURIN_CMD_RECORD_H
#define BURIN_CMD_RECORD_H

#include "cmd/sampling.h"
#include "drain/drain.h"
#include "session/session.h"

enum {
	RECORD_HELP = -1, /* of record_options_parse(): the help was wanted, and has been printed */
	RECORD_GLOBS_MAX = 64,
};

struct record_options {
	struct session_options session; /* of a command */
	const char *own;		/* an option that is for a command only; NULL: none was given */
	const char *globs[RECORD_GLOBS_MAX + 1];
	unsigned glob_count;
	const char *output;
	struct chunk_limits split;
	uint64_t duration; /* ns; 0: until the program ends */
	struct sampling_options sampling;
	bool quiet;
	char **command;	    /* empty: there is none, samples of others are taken */
	const char *target; /* NULL: the command is run */
};

/* record_options_parse - Return: 0; RECORD_HELP; CMD_USAGE and a line on stderr. */
int record_options_parse(struct record_options *options, int argc, char **argv);

/* record_target - record a program that runs. Return: the exit code. */
int record_target(const struct record_options *options);

#endif
