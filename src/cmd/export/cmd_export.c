/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export: convert samples and calls for other tools. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/export/export_arrow.h"
#include "cmd/export/export_uftrace.h"
#include "cmd/report/open_profile.h"
#include "export/export.h"

static const char *output;
static bool calls;

static const struct cmd_option table[] = {
	OPTION_TEXT(
		"-o, --output FILE", &output,
		"write to FILE (default: standard output); for uftrace a directory, which must not exist"),
	OPTION_FLAG("--calls", &calls,
		    "recorded calls, not samples: as folded, speedscope, pprof or callgrind"),
	OPTION_GROUP(cmd_profile_options),
	CMD_MEMORY,
	{ 0 },
};

static const struct export_format *find_format(const char *name_given)
{
	const struct export_format *format = export_formats;

	while (format->name && strcmp(format->name, name_given) != 0)
		format++;
	return format->name ? format : NULL;
}

static int cmd_export_write_out(const struct cmd_profile *profile, const struct export_format *format)
{
	struct export_output out = { .file = cmd_profile_create(profile, output),
				     .bytes_max = cmd_output_max() };
	char max[TEXT_SHORT], fit[TEXT_SHORT], all[TEXT_SHORT];
	struct stat made = { .st_ino = 0 };
	int result, written;

	if (out.file < 0)
		return CMD_FAULTS;
	fstat(out.file, &made);
	result = format->write(&profile->counted, &out);
	if (result && result != -EMSGSIZE) {
		view_buffer_free(&out.buffer);
		close(out.file);
		return cmd_profile_ended(result, output, &made);
	}
	written = cmd_profile_write(&out.buffer, out.file, output);
	if (!result || written)
		return written;
	cmd_profile_remove(output, &made);
	return cmd_failed("the text exceeds %s after %s of %s samples; raise the limit with --memory",
			  text_size(max, out.bytes_max), text_count(fit, out.samples),
			  text_count(all, profile->counted.samples));
}

/* A file, or a stream. */
static bool is_arrow(const char *name)
{
	return !strcmp(name, "arrow") || !strcmp(name, "arrow-stream");
}

static int cmd_export_run(char **operands)
{
	const struct export_format *format = find_format(operands[0]);
	struct cmd_profile profile = { 0 };
	int result;

	if (!strcmp(operands[0], "uftrace") && !operands[2])
		return *cmd_profile_given ? cmd_usage("%s: it selects samples; uftrace gets all calls",
						      cmd_profile_given)
					  : export_uftrace(operands[1], output);
	if (is_arrow(operands[0]))
		return *cmd_profile_given || calls
			       ? cmd_usage("%s: it selects samples; arrow gets the rows of a table",
					   calls ? "--calls" : cmd_profile_given)
			       : export_arrow(operands[1], operands[2], !strcmp(operands[0], "arrow"),
					      output);
	if (operands[2])
		return cmd_usage("a table is for the format arrow; remove \"%s\"", operands[2]);
	if (!format)
		return cmd_usage("no such format: \"%s\"", operands[0]);
	if (!strcmp(format->name, "pprof") && !output && isatty(STDOUT_FILENO))
		return cmd_usage("pprof is a binary format; give -o FILE");
	if (calls && !strcmp(format->name, "perf"))
		return cmd_usage("perf is a format for samples; give another one for calls, or uftrace");
	profile.calls = calls;
	profile.foot = true;
	result = cmd_profile_open(&profile, operands[1]);
	if (!result)
		result = cmd_export_write_out(&profile, format);
	return cmd_profile_close(&profile, operands[1], result);
}

const struct cmd cmd_export = {
	.name = "export",
	.line = "convert samples for speedscope, pprof and other tools, calls for uftrace, tables for Arrow",
	.usage = "Usage: burin export [options] FORMAT DIR [TABLE]\n"
		 "\n"
		 "Convert the samples of the trace in DIR, its calls, or a table of burin sql, into the\n"
		 "format of another tool:\n"
		 "\n"
		 "  folded       one line per stack, for flame graph scripts\n"
		 "  speedscope   JSON, for speedscope\n"
		 "  pprof        profile.proto, for pprof and tools that read its files\n"
		 "  callgrind    for KCachegrind and callgrind_annotate\n"
		 "  perf         the output of perf script, sample by sample\n"
		 "  uftrace      all calls, as a directory for uftrace 0.13 or later\n"
		 "  arrow        the rows of a table as a file of Arrow, for pandas, Polars, DuckDB\n"
		 "  arrow-stream the same as a stream, for pipes\n"
		 "\n"
		 "TABLE is for arrow; by default it is events.\n",
	.notes = "The limit of the text in memory is 4 times --memory and 256M.\n"
		 "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 2, 3, "give a format and a trace", { CMD_IS_FORMAT, CMD_IS_TRACE } },
	.views = true,
	.main = cmd_export_run,
};
