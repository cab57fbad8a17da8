/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin recover: bring a trace to its end whose recorder was killed.
 *
 * The trace is sound as it lies. What the recorder had not taken yet is still in the session's memory, for as
 * long as the session file exists (until the machine restarts).
 *
 * Of a directory of chunks the last goes on; the one before it may be unfinished too, and ends where the last
 * begins.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/uuid.h"
#include "burin/read.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "cmd/symbols.h"
#include "session/session.h"

const char cmd_recover_help[] =
	"Usage: burin recover [options] DIR\n"
	"\n"
	"Finish the trace in DIR, whose recorder was killed: add what is still in the\n"
	"session's memory, and remove the session. If the traced program still runs, it is\n"
	"traced no longer. What was sampled is named, from the programs as they are now. DIR\n"
	"may be one that holds the chunks of a recording.\n"
	"\n"
	"  -q, --quiet   no summary\n"
	"  -h, --help    this text\n"
	"\n"
	"Exit code: 0; 1 if it could not be finished; 2 if there is nothing to recover.\n";

static const char name[] = "recover";

/* What the recording file says, copied: the trace is closed before it is written to. */
struct unfinished {
	char session_path[1024];
	char command[1024];
	char uuid[40];
	struct trace_clock clock;
};

static bool copy_value(const struct burin_trace *trace, const char *key, char *out, size_t bytes)
{
	const char *value = burin_trace_recording(trace, key);

	return value && (size_t)snprintf(out, bytes, "%s", value) < bytes;
}

/* Return: 0 or an exit code. */
static int read_recording(const char *path, struct unfinished *out)
{
	struct cmd_faults faults = { .name = name };
	const char *state, *hz, *offset;
	struct burin_trace *trace;
	int result = cmd_open(&trace, path, &faults);

	if (result)
		return result;
	state = burin_trace_recording(trace, "state");
	hz = burin_trace_recording(trace, "clock_hz");
	offset = burin_trace_recording(trace, "clock_offset_ns");
	if (!state || strcmp(state, "recording") != 0)
		result = cmd_usage(
			name, "%s: the recording was brought to its end; there is nothing to recover", path);
	else if (!burin_trace_recording(trace, "session"))
		result = cmd_usage(name,
				   "%s: its recorder followed a program that ran already; burin snapshot has "
				   "what is still in that program's memory",
				   path);
	else if (!hz || !offset ||
		 !copy_value(trace, "session", out->session_path, sizeof(out->session_path)) ||
		 !copy_value(trace, "uuid", out->uuid, sizeof(out->uuid)))
		result = cmd_usage(name, "%s: .burin/recording does not name the session", path);
	if (!result) {
		copy_value(trace, "command", out->command, sizeof(out->command));
		out->clock = (struct trace_clock){ strtoull(hz, NULL, 10), strtoll(offset, NULL, 10) };
	}
	burin_trace_close(trace);
	return result;
}

/* What was sampled has no names yet: the recorder finds them at its end. */
static void name_code(const char *path)
{
	char stacks[CHUNKS_PATH];

	if ((size_t)snprintf(stacks, sizeof(stacks), "%s/.burin/stacks", path) < sizeof(stacks) &&
	    access(stacks, F_OK) == 0)
		cmd_symbols_find(name, path, &(struct cmd_symbols_options){ .quiet = true });
}

static int recover(struct session *session, const char *path, const char *next,
		   const struct unfinished *unfinished, bool quiet)
{
	struct drain_totals totals;
	struct drain drain;
	int error;

	error = drain_resume(&drain, session, path, unfinished->clock, unfinished->command, next);
	if (error)
		return cmd_failed(name, "%s: %s; burin check tells more", path,
				  error == -EBADMSG ? "the trace is damaged" : strerror(-error));
	if (!next)
		session_end(session);
	error = drain_finish(&drain, next ? "running" : "unknown", &totals);
	if (!next)
		unlink(unfinished->session_path);
	if (error)
		return cmd_failed(name, "%s: %s", path, drain.output.trouble);
	if (!quiet)
		recording_summary(&totals, path, true);
	name_code(path);
	return 0;
}

/* One trace, and the one after it, if it is a chunk that has one. */
static int recover_trace(const char *path, const char *next, bool quiet)
{
	struct unfinished unfinished = { 0 };
	struct session session = { 0 };
	char uuid[UUID_TEXT];
	const char *why = "";
	int result = read_recording(path, &unfinished);

	if (result)
		return result;
	result = session_open(&session, unfinished.session_path, &why);
	if (result)
		return cmd_failed(name, "%s: %s (%s); the trace is complete but for what was in memory",
				  unfinished.session_path, why, strerror(-result));
	uuid_text(session.geometry.uuid, uuid);
	if (strcmp(uuid, unfinished.uuid) != 0)
		result = cmd_failed(name, "%s: it is the session of another trace", unfinished.session_path);
	else if (pid_lives(session.geometry.owner))
		result = cmd_failed(name, "%s: process %u is still recording it", path,
				    session.geometry.owner);
	else
		result = recover(&session, path, next, &unfinished, quiet);
	session_leave(&session);
	return result;
}

/* The number of the last chunk in a directory; 0: it holds none. */
static unsigned last_chunk(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	unsigned last = 0;

	while (directory && (entry = readdir(directory))) {
		char *end;
		unsigned long number = strtoul(entry->d_name, &end, 10);

		if (strlen(entry->d_name) >= 4 && *end == 0 && number <= UINT_MAX && number > last)
			last = (unsigned)number;
	}
	if (directory)
		closedir(directory);
	return last;
}

static bool is_unfinished(const char *path)
{
	struct cmd_faults faults = { .name = name };
	struct burin_trace *trace;
	const char *state;
	bool unfinished;

	if (access(path, F_OK) != 0 || cmd_open(&trace, path, &faults) != 0)
		return false;
	state = burin_trace_recording(trace, "state");
	unfinished = state && strcmp(state, "recording") == 0;
	burin_trace_close(trace);
	return unfinished;
}

static int recover_chunks(const char *path, unsigned last, bool quiet)
{
	char before[CHUNKS_PATH], chunk[CHUNKS_PATH];
	int result = 0;

	chunks_path(path, last, chunk);
	chunks_path(path, last > 1 ? last - 1 : 0, before);
	if (is_unfinished(before))
		result = recover_trace(before, chunk, true);
	if (!result)
		result = recover_trace(chunk, NULL, quiet);
	if (!result)
		chunks_sweep(path);
	return result;
}

int cmd_recover(int argc, char **argv)
{
	static const struct option options[] = { { "quiet", no_argument, NULL, 'q' }, { 0 } };
	bool quiet = false;
	unsigned last;
	int option;

	while ((option = getopt_long(argc, argv, "q", options, NULL)) != -1) {
		if (option != 'q')
			return CMD_USAGE;
		quiet = true;
	}
	if (optind != argc - 1)
		return cmd_usage(name, "give the directory of one trace");
	last = last_chunk(argv[optind]);
	return last ? recover_chunks(argv[optind], last, quiet) : recover_trace(argv[optind], NULL, quiet);
}
