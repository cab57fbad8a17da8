/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin snapshot: write the records in a program's session as a trace, also after the program was killed.
 *
 * The session is only read: neither the program nor a recorder is disturbed.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/record/recorder/target_snapshot.h"
#include "cmd/target_argument.h"
#include "control/remains.h"
#include "drain/drain.h"
#include "session/session.h"

static const char *given_output;
static uint64_t last; /* ns; 0: all */
static bool keep, quiet;

static const struct cmd_option table[] = {
	OPTION_TEXT("-o, --output DIR", &given_output,
		    "the trace; must not exist (default: PROGRAM-1.burin)"),
	OPTION_DURATION(
		"--last TIME", &last, 1,
		"only the last 5s, 250ms, 10m, 1h; for a program that has ended, up to its last event"),
	OPTION_FLAG("-k, --keep", &keep,
		    "keep the session of a killed program, or of a burin record that could not write all "
		    "records; by default it is removed once all its records are written. The session of a "
		    "killed burin record always stays, for burin recover"),
	OPTION_FLAG("-q, --quiet", &quiet, "print no summary"),
	{ 0 },
};

/* Whether the trace has all records of the session, which is then not needed any more. */
static bool cmd_snapshot_is_whole(const struct drain_totals *totals)
{
	return totals->events && !totals->left_out && !totals->lost[WIRE_LOST_CORRUPT];
}

/* Why the session of a dead program or recorder stays; NULL: it is not needed any more. */
static const char *why_it_stays(const struct target *target, const struct drain_totals *totals)
{
	if (target->state == TARGET_LEFT)
		return "since its program still runs; burin recover DIR completes the recorder's trace in "
		       "DIR "
		       "and ends the tracing";
	if (target->unsure)
		return "since another session, which could not be read, may have this name";
	if (!cmd_snapshot_is_whole(totals))
		return "since some records could not be read";
	if (target_is_left(target) && !target->over)
		return "for burin recover DIR, which completes the recorder's trace in DIR; burin gc removes "
		       "it";
	return NULL;
}

/* Remove the session, unless it has records that were not written or another command can still use it. */
static int clean_up(const struct target *target, const struct drain_totals *totals)
{
	const bool left = target_is_left(target);
	const char *why = why_it_stays(target, totals);
	char count[TEXT_SHORT];

	if (keep || (!left && target->state != TARGET_DIED))
		return 0;
	if (!why)
		return recording_kept(target->path,
				      remains_remove_path(target->path, target->user, target->geometry.uuid));
	if (quiet)
		return 0;
	if (totals->left_out)
		cmd_note("burin: %s earlier event%s left out; the session stays: burin snapshot %s\n",
			 text_count(count, totals->left_out), totals->left_out == 1 ? " was" : "s were",
			 target->path);
	else
		cmd_note("burin: the session stays, %s: %s\n", why, target->path);
	return 0;
}

static int cmd_snapshot_run(char **operands)
{
	struct drain_options options = { 0 };
	struct drain_totals totals;
	struct session session;
	struct target target;
	char output[4096];
	int result = cmd_target_look(operands[0], &target, &session), directory;

	if (result)
		return result;
	if (last)
		recording_last(&options, &session, last,
			       target.state == TARGET_ENDED || target.state == TARGET_DIED);
	recording_output(given_output, target.geometry.program, 1, output, sizeof(output));
	directory = recording_create("-o", output, target.user != geteuid());
	if (directory < 0)
		return cmd_target_leave(target.path, &session, CMD_FAULTS);
	result = target_snapshot(&session, &target, directory, output, &options, &totals);
	if (!result && !quiet)
		recording_summary(&totals, output);
	result = cmd_target_leave(target.path, &session, result);
	if (!result)
		result = clean_up(&target, &totals);
	return result;
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.line = "write the last events of a program, which are in memory, as a trace",
	.usage = "Usage: burin snapshot [options] TARGET\n"
		 "\n"
		 "Write the last events of a program, which are in memory, into a trace directory. A\n"
		 "running program is not disturbed; for a killed one, these are the events before its\n"
		 "death. TARGET is a pid, a program's name, a session's path or kernel; see burin ls.\n",
	.notes = "Exit code: 0; 1 if it could not be written; 2 if there is no such TARGET.\n",
	.options = table,
	.operands = CMD_ONE_TARGET,
	.main = cmd_snapshot_run,
};
