/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin recover: complete a trace whose recorder was killed.
 *
 * The trace is sound, but lacks the records that the recorder had not read. They are in the session's memory, until the
 * machine restarts.
 *
 * In a directory of chunks the last one is continued. The one before may be unfinished, too; it ends where the last
 * begins.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/text.h"
#include "base/uuid.h"
#include "burin/read.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/target_argument.h"
#include "control/remains.h"
#include "file/create.h"
#include "session/session.h"
#include "wire/wire_terms.h"
#include "writer/sample_streams.h"

static bool no_summary;

static const struct cmd_option table[] = {
	OPTION_FLAG("-q, --quiet", &no_summary, "print no summary"),
	CMD_MEMORY,
	{ 0 },
};

/* A copy of values of .burin/recording: the trace is closed before it is written to. */
struct unfinished {
	char session_path[1024];
	char command[1024];
	char kernel_tasks[16];
	char uuid[40];
	struct trace_clock clock;
};

static bool copy_value(const struct burin_trace *trace, const char *key, char *out, size_t bytes)
{
	const char *value = burin_trace_recording(trace, key);

	return value && (size_t)snprintf(out, bytes, "%s", value) < bytes;
}

static int refuse_complete(const char *path, const char *state, const char *session_path)
{
	if (strcmp(state, "failed") != 0)
		cmd_failed("%s: nothing to recover: it is complete", path);
	else if (session_path && access(session_path, F_OK) == 0)
		cmd_failed("%s: its recorder could not write all records; those still in memory: burin "
			   "snapshot -o DIR %s",
			   path, session_path);
	else
		cmd_failed("%s: nothing to recover: its recorder could not write all records", path);
	return CMD_USAGE;
}

/* Return: 0 or an exit code. */
static int read_recording(int directory, const char *path, struct unfinished *out)
{
	struct cmd_faults faults = { 0 };
	const char *state, *hz, *offset;
	struct burin_trace *trace;
	int result = cmd_open_at(&trace, directory, path, &faults);

	if (result)
		return result;
	state = burin_trace_recording(trace, "state");
	hz = burin_trace_recording(trace, "clock_hz");
	offset = burin_trace_recording(trace, "clock_offset_ns");
	if (!state)
		result = cmd_usage("%s: cannot read .burin/recording; burin check reports why", path);
	else if (strcmp(state, "recording") != 0)
		result = refuse_complete(path, state, burin_trace_recording(trace, "session"));
	else if (!burin_trace_recording(trace, "session"))
		result =
			cmd_usage("%s: its recorder had no session of its own; if it was attached to a "
				  "running program, "
				  "burin snapshot writes the records that are still in that program's memory",
				  path);
	else if (!hz || !offset ||
		 !copy_value(trace, "session", out->session_path, sizeof(out->session_path)) ||
		 !copy_value(trace, "uuid", out->uuid, sizeof(out->uuid)))
		result = cmd_usage("%s: .burin/recording does not name the session", path);
	if (!result) {
		copy_value(trace, "command", out->command, sizeof(out->command));
		copy_value(trace, "kernel_tasks", out->kernel_tasks, sizeof(out->kernel_tasks));
		out->clock = (struct trace_clock){ strtoull(hz, NULL, 10), strtoll(offset, NULL, 10) };
	}
	burin_trace_close(trace);
	return result;
}

static bool has_samples(int directory)
{
	return faccessat(directory, ".burin/stacks", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A recorder symbolizes at its end, so this trace has no names yet. */
static void symbolize_all(int directory, const char *path)
{
	if (has_samples(directory))
		cmd_symbols_find(directory, path, &(struct cmd_symbols_options){ .quiet = true });
	cmd_symbols_calls(directory, path, &(struct cmd_symbols_options){ 0 });
}

/* Why a trace cannot be continued. */
static const char *cmd_recover_describe(int error)
{
	if (error == -ELOOP || error == -EMLINK || error == -EPERM)
		return "a file in it is a link, not a regular file, or another user's";
	return strerror(-error);
}

/* A trace to complete. */
struct recovery {
	int directory, next; /* of the trace; of the next chunk, -1: there is none */
	const char *path;
	struct unfinished unfinished;
	int session_directory;
	const char *base;
	bool quiet;
};

/*
 * @added: events that were in memory only
 * @sampled: whether the trace has samples, so that it need not have events
 */
static void print_recovered(const struct drain_totals *totals, uint64_t added, bool sampled, const char *path)
{
	char text[TEXT_SHORT];

	if (sampled)
		cmd_note("burin: %s has its samples up to the last moments before the kill\n", path);
	if (sampled && !totals->events)
		return;
	cmd_note("burin: added %s event%s that only memory held\n", text_count(text, added),
		 text_plural(added));
	recording_summary(totals, path);
	if (totals->lost_by[WIRE_LOST_UNREAD] >> DRAIN_KERNEL & 1)
		cmd_note(
			"burin: the kernel's events that were still in its rings at the kill are lost; their "
			"number is unknown, so each ring counts as one lost record\n");
}

static int cmd_recover_trace(struct recovery *recovery, struct session *session)
{
	const struct unfinished *unfinished = &recovery->unfinished;
	const struct recording recording = { .state = "recording",
					     .clock = unfinished->clock,
					     .session_path = unfinished->session_path,
					     .kernel_tasks = unfinished->kernel_tasks,
					     .command = unfinished->command };
	const bool is_last = recovery->next < 0;
	const char *path = recovery->path;
	struct drain_totals totals;
	uint64_t before, lost;
	struct drain drain;
	/* There are as many locked rings as CPUs, at least; per-CPU rings need restartable sequences. */
	int error = samples_recover(recovery->directory, session->geometry.locked);

	if (error)
		return cmd_failed("%s: its samples: %s; the session stays", path,
				  error == -EBADMSG ? "damaged; burin check reports where"
						    : cmd_recover_describe(error));
	error = drain_resume(&drain, session, recovery->directory, &recording, recovery->next);
	if (error == -EBADMSG)
		return cmd_failed("%s: the trace is damaged; burin check reports where", path);
	if (error)
		return cmd_failed(
			"%s: %s; the session stays: run burin recover again after you have corrected this",
			path, cmd_recover_describe(error));
	drain_so_far(&drain, &before, &lost);
	if (is_last)
		session_end(session);
	error = drain_finish(&drain, is_last ? "unknown" : "running", &totals);
	if (error)
		return cmd_failed(
			"%s: %s; the session stays: run burin recover again after you have corrected this",
			path, drain.output.trouble);
	if (is_last)
		error = recording_kept(
			recovery->base,
			remains_remove(recovery->session_directory, recovery->base, session->geometry.uuid));
	if (!recovery->quiet)
		print_recovered(&totals, totals.events - before, has_samples(recovery->directory), path);
	symbolize_all(recovery->directory, path);
	return error;
}

/* Map the session of the trace; it must have its uuid and be this user's. Return: 0 or the exit code. */
static int open_session(struct recovery *recovery, struct session *session)
{
	static const char rest[] = "the trace lacks only the records that were in memory";
	const char *path = recovery->unfinished.session_path, *why = "";
	char uuid[UUID_TEXT];
	int file, error;

	recovery->session_directory = remains_directory(path, geteuid(), &recovery->base);
	if (recovery->session_directory == -EPERM)
		return cmd_failed("%s: other users can write to its directory; %s", path, rest);
	if (recovery->session_directory < 0)
		return cmd_failed("%s: %s; %s", path, strerror(-recovery->session_directory), rest);
	file = session_file(recovery->session_directory, recovery->base, true, &why);
	error = file < 0 ? file : session_open(session, file, &why);
	if (file >= 0)
		close(file);
	if (error == -EREMOTE)
		return cmd_target_refused(path, why, error);
	if (error)
		return cmd_failed("%s: %s (%s); %s", path, why, strerror(-error), rest);
	uuid_text(session->geometry.uuid, uuid);
	if (strcmp(uuid, recovery->unfinished.uuid) != 0)
		return cmd_failed("%s: this session belongs to another trace", path);
	if (pid_lives(session->geometry.owner))
		return cmd_failed("%s: process %u is still recording it", recovery->path,
				  session->geometry.owner);
	return 0;
}

/* @next: the next chunk; -1: there is none */
static int recover_trace(int directory, const char *path, int next, bool quiet)
{
	struct recovery recovery = {
		.directory = directory, .next = next, .path = path, .session_directory = -1, .quiet = quiet
	};
	struct session session = { 0 };
	int result = read_recording(directory, path, &recovery.unfinished);

	if (!result)
		result = open_session(&recovery, &session);
	if (!result)
		result = cmd_recover_trace(&recovery, &session);
	if (session.base)
		session_leave(&session);
	if (recovery.session_directory >= 0)
		close(recovery.session_directory);
	return result;
}

/* @last: set to the number of the last chunk in a directory; 0: there is none. Return: 0 or -errno. */
static int last_chunk(int parent, unsigned *last)
{
	int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int error = directory ? 0 : -errno;

	*last = 0;
	while (directory && (errno = 0, entry = readdir(directory))) {
		char *end;
		unsigned long number = strtoul(entry->d_name, &end, 10);

		if (strlen(entry->d_name) >= 4 && *end == 0 && number <= UINT_MAX && number > *last)
			*last = (unsigned)number;
	}
	if (directory) {
		error = -errno;
		closedir(directory);
	} else if (copy >= 0) {
		close(copy);
	}
	return error;
}

/* @unfinished: set to whether the recorder had not completed a chunk. Return: 0 or an exit code. */
static int cmd_recover_read_state(int directory, const char *path, bool *unfinished)
{
	struct cmd_faults faults = { 0 };
	struct burin_trace *trace;
	const char *state;
	int result = cmd_open_at(&trace, directory, path, &faults);

	if (result)
		return result;
	state = burin_trace_recording(trace, "state");
	*unfinished = state && strcmp(state, "recording") == 0;
	burin_trace_close(trace);
	return 0;
}

/* @before: the last chunk but one; -1: there is none */
static int recover_last(const char *path, unsigned number, int before, int last, bool quiet)
{
	char path_before[CHUNKS_PATH], path_last[CHUNKS_PATH];
	bool unfinished = false;
	int result = 0;

	chunks_path(path, number - 1, path_before);
	chunks_path(path, number, path_last);
	if (before >= 0)
		result = cmd_recover_read_state(before, path_before, &unfinished);
	if (!result && unfinished)
		result = recover_trace(before, path_before, last, true);
	return result ? result : recover_trace(last, path_last, -1, quiet);
}

static int recover_chunks(int directory, const char *path, unsigned number, bool quiet)
{
	char name_before[CHUNKS_NAME], name_last[CHUNKS_NAME];
	int before, last, result;

	chunks_name(number - 1, name_before);
	chunks_name(number, name_last);
	before = number > 1 ? create_enter(directory, name_before) : -ENOENT;
	last = create_enter(directory, name_last);
	if (before < 0 && before != -ENOENT)
		result = cmd_failed("%s/%s: %s; the session stays", path, name_before,
				    cmd_recover_describe(before));
	else if (last < 0)
		result = cmd_failed("%s/%s: %s", path, name_last, cmd_recover_describe(last));
	else
		result = recover_last(path, number, before, last, quiet);
	if (!result)
		chunks_sweep(directory);
	if (before >= 0)
		close(before);
	if (last >= 0)
		close(last);
	return result;
}

static int cmd_recover_run(char **operands)
{
	const char *path = operands[0];
	int directory = cmd_open_own(path), error, result;
	unsigned last;

	if (directory < 0)
		return CMD_USAGE;
	error = last_chunk(directory, &last);
	if (error) /* otherwise the wrong chunk could be continued */
		result = cmd_failed("%s: %s; the session stays", path, cmd_recover_describe(error));
	else
		result = last ? recover_chunks(directory, path, last, no_summary)
			      : recover_trace(directory, path, -1, no_summary);
	close(directory);
	return result;
}

const struct cmd cmd_recover = {
	.name = "recover",
	.line = "complete a trace whose recorder was killed",
	.usage = "Usage: burin recover [options] DIR\n"
		 "\n"
		 "Complete the trace in DIR, whose recorder was killed: add the records that are still in\n"
		 "memory, and remove the session. A program that still runs goes on untraced. Samples are\n"
		 "symbolized from the programs as they are now. DIR may hold the chunks of a split\n"
		 "recording. DIR must be your own; for another user's, root runs this command as that user\n"
		 "by sudo.\n",
	.notes = "Exit code: 0; 1 if the trace could not be completed; 2 if there is nothing to recover.\n",
	.options = table,
	.operands = { 1, 1, "give one trace, the directory of the recording", { CMD_IS_TRACE } },
	.main = cmd_recover_run,
};
