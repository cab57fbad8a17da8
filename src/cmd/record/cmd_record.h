/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin record: its options (cmd_record.c), a command (record_command.c), a running program (record_target.c). */
#ifndef BURIN_CMD_RECORD_CMD_RECORD_H
#define BURIN_CMD_RECORD_CMD_RECORD_H

#include "cmd/record/record_where.h"
#include "cmd/record/sources/record_calls.h"
#include "cmd/record/guests/guest.h"
#include "cmd/record/sources/counters.h"
#include "cmd/record/sources/kernel_events.h"
#include "cmd/record/sources/sampling.h"
#include "drain/drain.h"
#include "session/session.h"

/* --format: what `output` becomes. */
enum record_format {
	RECORD_BURIN,	/* a trace */
	RECORD_UFTRACE, /* a data directory for uftrace */
};

/* --follow: whether the recording goes on after the command, as long as a process that it started uses the session. */
enum record_follow {
	RECORD_FOLLOW_NO,
	RECORD_FOLLOW_YES,
	RECORD_FOLLOW_UNSAID, /* yes for calls: a daemon's are those that are asked for */
};

struct record_options {
	struct session_options session; /* of a command */
	const char **globs;		/* of events; ends with NULL */
	bool globs_given;		/* by the user, not by default */
	struct record_where where;	/* of a command */
	const char *output;
	unsigned format; /* enum record_format */
	struct chunk_limits split;
	uint64_t duration; /* ns; 0: until the program ends */
	unsigned follow;   /* enum record_follow: of a command */
	struct sampling_options sampling;
	struct calls_options calls;
	struct guest_options guest;
	struct kernel_choice kernel;
	struct counters_options counters;
	bool quiet;
	char **command;	    /* empty: there is none; only samples are taken */
	const char *target; /* NULL: run the command */
};

/* Whether a source records although no program takes part in the session. */
static inline bool record_has_machine(const struct record_options *options)
{
	return !options->sampling.off || options->kernel.globs.count || options->counters.interval_ns;
}

/* record_command, record_target - record a command, or a running program. Return: the exit code. */
int record_command(const struct record_options *options);
int record_target(const struct record_options *options);

#endif
