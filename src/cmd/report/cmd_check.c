/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin check: validate every byte of a trace. */
#include <inttypes.h>
#include <unistd.h>

#include "base/text.h"
#include "burin/read.h"
#include "cmd/cmd.h"
#include "view/chunks_text.h"
#include "view/summary/summary.h"

static bool all, quiet;

static const struct cmd_option table[] = {
	OPTION_FLAG("-a, --all", &all, "print all faults, not only the first 20"),
	OPTION_FLAG("-q, --quiet", &quiet, "print nothing; only return the exit code"),
	CMD_MEMORY,
	{ 0 },
};

/* Events that were switched off are not a fault, but the verdict must not hide them. */
static void cmd_check_print_off(const char *path, struct view_buffer *out)
{
	const struct burin_open_options open = { .size = sizeof(open) };
	struct burin_trace *trace;

	if (burin_trace_open(&trace, path, &open, NULL))
		return;
	view_chunks_text(trace, out);
	view_off_text(trace, false, out);
	burin_trace_close(trace);
}

static int print_verdict(const struct burin_check_result *found, const struct cmd_faults *faults,
			 const char *path)
{
	struct view_buffer out = { .used = 0 };
	char records[TEXT_SHORT], packets[TEXT_SHORT], size[TEXT_SHORT], number[TEXT_SHORT];

	if (faults->count > faults->shown)
		view_buffer_print(&out, "... and %s more; --all prints them\n",
				  text_count(number, faults->count - faults->shown));
	view_buffer_print(&out, "%s: %s records in %s packets of %" PRIu64 " files, %s%s\n",
			  found->faults ? "FAULTY" : "sound", text_count(records, found->records),
			  text_count(packets, found->packets), found->files, text_size(size, found->bytes),
			  found->unfinished ? "; the recording is unfinished" : "");
	if (found->faults)
		view_buffer_print(&out, "%s faults\n", text_count(number, found->faults));
	cmd_check_print_off(path, &out);
	return cmd_print(&out, STDOUT_FILENO);
}

static int cmd_check_run(char **operands)
{
	struct cmd_faults faults = { .show_max = quiet ? 0 : all ? UINT64_MAX : 20 };
	const struct burin_check_options check = { sizeof(check), cmd_on_fault, &faults, cmd_memory };
	struct burin_check_result found;
	struct burin_diagnosis why;
	int result = burin_trace_check(operands[0], &check, &found, &why);

	if (result)
		return cmd_usage("%s: %s", operands[0], *why.reason ? why.reason : burin_fault_name(result));
	result = quiet ? 0 : print_verdict(&found, &faults, operands[0]);
	return found.faults ? CMD_FAULTS : result;
}

const struct cmd cmd_check = {
	.name = "check",
	.line = "validate every byte of a trace",
	.usage = "Usage: burin check [options] [DIR]\n"
		 "\n"
		 "Validate every byte of the trace in DIR: packet headers, records, times, counts,\n"
		 "padding, event table, names, samples and their references. Each fault is printed with\n"
		 "file, byte offset and reason. An interrupted recording has no faults if the part that\n"
		 "was written has none. Of a split recording, each chunk is validated, and that none is\n"
		 "missing between two others.\n",
	.notes = "Exit code: 0 if the trace has no faults, 1 if it has faults, 2 if it cannot be opened.\n",
	.options = table,
	.operands = CMD_ONE_TRACE,
	.views = true,
	.main = cmd_check_run,
};
