/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin import: make a trace from the recording of another tool. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "import/uftrace_import.h"
#include "writer/discard.h"

static const char *given_output;
static bool quiet;

static const struct cmd_option table[] = {
	OPTION_TEXT("-o, --output DIR", &given_output, "the trace; must not exist (default: NAME.burin)"),
	OPTION_FLAG("-q, --quiet", &quiet, "print no summary"),
	CMD_MEMORY,
	{ 0 },
};

static void cmd_import_note_count(uint64_t count, const char *what)
{
	char number[TEXT_SHORT];

	if (count)
		cmd_note("burin import: %s %s\n", text_count(number, count), what);
}

static void note_left(const struct uftrace_import *done)
{
	cmd_import_note_count(done->left.lost, "records were lost by uftrace");
	cmd_import_note_count(done->left.damaged, "files end in bytes that are not records");
	cmd_import_note_count(done->left.ends,
			      "ends of calls are left out: their begins are not in the task");
	cmd_import_note_count(done->left.arguments,
			      "begins and ends had arguments or return values, which are left out");
	cmd_import_note_count(done->left.events, "events are left out");
	if (done->kernel)
		cmd_note("burin import: functions of the kernel are left out\n");
}

static int cmd_import_refuse(const char *path, const struct uftrace_import *done, int error)
{
	if (error == -EINVAL && done->why)
		return cmd_usage("%s: %s: %s", path, done->file, done->why);
	if (error == -ENODATA)
		return cmd_usage("%s: the recording has no calls", path);
	if (done->file)
		return cmd_failed("%s: %s: %s", path, done->file,
				  error == -ENOTSUP ? "it is not a regular file in this directory"
						    : cmd_error(error));
	return cmd_failed("%s: %s", path, cmd_error(error));
}

static int cmd_import_convert(const char *path, int from)
{
	struct uftrace_import done;
	char output[4096], calls[TEXT_SHORT], tasks[TEXT_SHORT];
	int directory, error;

	recording_output(given_output, path, 0, output, sizeof(output));
	directory = recording_create("-o", output, false);
	if (directory < 0)
		return CMD_FAULTS;
	error = uftrace_import(from, directory, &done);
	if (error)
		discard_trace(directory, output);
	close(directory);
	if (error)
		return cmd_import_refuse(path, &done, error);
	note_left(&done);
	if (!quiet)
		cmd_note("burin import: %s calls of %s tasks in %s\n",
			 text_count(calls, done.calls + done.open), text_count(tasks, done.tasks), output);
	return done.left.damaged ? CMD_FAULTS : 0;
}

static int cmd_import_run(char **operands)
{
	const int from = open(operands[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	if (from < 0)
		return cmd_usage("%s: %s", operands[0], strerror(errno));
	cmd_memory_limit();
	result = cmd_import_convert(operands[0], from);
	close(from);
	return result;
}

const struct cmd cmd_import = {
	.name = "import",
	.line = "make a trace from the directory that uftrace record wrote",
	.usage = "Usage: burin import [options] DIR\n"
		 "\n"
		 "Make a trace from DIR, which uftrace record wrote: its calls, tasks and functions.\n"
		 "Arguments, events and functions of the kernel are left out, and counted.\n",
	.notes = "Exit code: 0; 1 if a file is damaged or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 1, 1, "give the directory that uftrace record wrote", { CMD_IS_TRACE } },
	.main = cmd_import_run,
};
