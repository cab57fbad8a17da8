/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export uftrace; see export_uftrace.h. */
#include "cmd/export/export_uftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/report/open_profile.h"
#include "cmd/selection_options.h"
#include "export/uftrace/uftrace_export.h"
#include "file/create.h"
#include "file/named.h"
#include "view/losses.h"
#include "wire/wire_uftrace.h"

static void export_uftrace_note_count(uint64_t count, const char *what)
{
	char number[TEXT_SHORT];

	if (count)
		cmd_note("burin %s: %s %s\n", cmd_name, text_count(number, count), what);
}

/* Report calls and records that uftrace will show otherwise than Burin, or not at all. */
static void note_limits(const struct burin_trace *trace, const struct uftrace_export *done)
{
	const char *unfinished = view_unfinished(trace);

	if (unfinished)
		cmd_note("burin %s: the recording is %s\n", cmd_name, unfinished);
	export_uftrace_note_count(done->lost,
				  "records were lost; they are a LOST record before the first call");
	export_uftrace_note_count(done->open, "calls had not ended; they are written without an end");
	export_uftrace_note_count(done->other_stacks,
				  "calls overlap others of their thread, as in coroutines; they are "
				  "written as tasks of their own");
	export_uftrace_note_count(done->left_out,
				  "calls are not written: their thread has more than 64 stacks");
	export_uftrace_note_count(done->events, "events are written without their fields");
	export_uftrace_note_count(done->samples, "samples are not written: uftrace has no samples");
}

static void note_done(const struct uftrace_export *done, const char *output)
{
	char calls[TEXT_SHORT], tasks[TEXT_SHORT], bytes[TEXT_SHORT];

	cmd_note("burin %s: %s calls of %s tasks, %s in %s; show them with: uftrace replay -d %s", cmd_name,
		 text_count(calls, done->calls + done->open), text_count(tasks, done->tasks),
		 text_size(bytes, done->bytes), output, output);
	/* The default of uftrace; a file default.opts would make its graph command fail. */
	if (done->deepest > WIRE_UFTRACE_DEPTH_MAX)
		cmd_note(" -D %u", (unsigned)done->deepest + 1);
	cmd_note("\n");
}

static int export_uftrace_refuse(const struct burin_trace *opened, const char *trace, const char *output,
				 int error)
{
	if (error == -ENODATA)
		return cmd_no_calls(opened, trace);
	if (error == -EIO)
		return cmd_failed("%s: the trace changes while it is read", trace);
	return cmd_failed("%s: %s", output, cmd_error(error));
}

int export_uftrace_into(const char *trace, int trace_fd, const char *output, int output_fd, bool quiet)
{
	struct cmd_faults faults = { .show_max = 10 };
	struct uftrace_export done;
	struct burin_trace *opened;
	int result = cmd_open_at(&opened, trace_fd, trace, &faults), error;

	if (result)
		return result;
	if (cmd_times_given())
		result = cmd_usage("--from, --to: they select samples; uftrace -r TIME~TIME selects calls");
	if (!result) {
		error = uftrace_export(opened, output_fd, &done);
		result = error ? export_uftrace_refuse(opened, trace, output, error) : 0;
		if (!error) {
			note_limits(opened, &done);
			if (!quiet)
				note_done(&done, output);
		}
	}
	cmd_faults_foot(&faults, trace);
	burin_trace_close(opened);
	return !result && faults.count ? CMD_FAULTS : result;
}

static int with_trace(const char *trace, int trace_fd, const char *output)
{
	char why[NAMED_WHY];
	int directory = named_directory(output, cmd_profile_is_private(trace_fd), why), result;

	if (directory < 0)
		return cmd_usage("%s: %s; choose another directory with -o", output,
				 *why ? why : strerror(-directory));
	result = export_uftrace_into(trace, trace_fd, output, directory, false);
	if (result)
		create_remove_directory(directory, output); /* which fails if it is not empty */
	close(directory);
	return result;
}

int export_uftrace(const char *trace, const char *output)
{
	int trace_fd, result;

	if (!output)
		return cmd_usage("uftrace: the format is a directory; give -o DIR");
	trace_fd = open(trace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (trace_fd < 0)
		return cmd_usage("%s: %s", trace, strerror(errno));
	result = with_trace(trace, trace_fd, output);
	close(trace_fd);
	return result;
}
