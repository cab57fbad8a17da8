/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin check: hold every byte of a trace against the format. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "burin/read.h"
#include "cmd/cmd.h"
#include "view/buffer.h"

const char cmd_check_help[] =
	"Usage: burin check [options] DIR\n"
	"\n"
	"Hold every byte of the trace in DIR against the format: packet headers, records,\n"
	"times, counts, padding, event table, names, samples and what they refer to. Each fault is told with "
	"its file, byte\n"
	"offset and reason. A recording that was interrupted is sound if what it wrote is.\n"
	"\n"
	"  -a, --all    tell all faults, not just the first 20\n"
	"  -q, --quiet  tell nothing; the exit code does\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit code: 0 if the trace is faultless, 1 if it has faults, 2 if it cannot be opened.\n";

static const char name[] = "check";

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "quiet", no_argument, NULL, 'q' },
	{ NULL, 0, NULL, 0 },
};

static int print_verdict(const struct burin_check_result *found, const struct cmd_faults *faults)
{
	struct view_buffer out = { .used = 0 };
	char records[TEXT_SHORT], packets[TEXT_SHORT], size[TEXT_SHORT], number[TEXT_SHORT];
	int result;

	if (faults->count > faults->shown)
		view_buffer_print(&out, "... and %s more; tell all with --all\n",
				  text_count(number, faults->count - faults->shown));
	view_buffer_print(&out, "%s: %s records in %s packets of %" PRIu64 " files, %s%s\n",
			  found->faults ? "FAULTY" : "sound", text_count(records, found->records),
			  text_count(packets, found->packets), found->files, text_size(size, found->bytes),
			  found->unfinished ? "; the recording is unfinished" : "");
	if (found->faults)
		view_buffer_print(&out, "%s faults\n", text_count(number, found->faults));
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return cmd_written(name, result);
}

int cmd_check(int argc, char **argv)
{
	struct cmd_faults faults = { .name = name, .show_max = 20 };
	const struct burin_check_options check = { sizeof(check), cmd_on_fault, &faults };
	struct burin_check_result found;
	struct burin_diagnosis why;
	int option, result;
	bool quiet = false;

	cmd_output_begin();
	optind = 0;
	while ((option = getopt_long(argc, argv, "aq", options, NULL)) != -1) {
		if (option == 'a') {
			faults.show_max = UINT64_MAX;
		} else if (option == 'q') {
			quiet = true;
			faults.show_max = 0;
		} else {
			return cmd_see_help(name);
		}
	}
	result = cmd_one_trace(name, argc);
	if (result)
		return result;
	result = burin_trace_check(argv[optind], &check, &found, &why);
	if (result) {
		cmd_failed(name, "%s: %s", argv[optind], *why.reason ? why.reason : burin_fault_name(result));
		return CMD_USAGE;
	}
	result = quiet ? 0 : print_verdict(&found, &faults);
	return found.faults ? CMD_FAULTS : result;
}
