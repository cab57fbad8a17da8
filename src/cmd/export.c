/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin export: samples for other tools. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burin/profile.h"
#include "cmd/profile.h"
#include "export/export.h"

const char cmd_export_help[] =
	"Usage: burin export [options] FORMAT DIR\n"
	"\n"
	"Write the samples of the trace in DIR in a format of another tool:\n"
	"\n"
	"  folded       a line for each stack, for flame graph scripts\n"
	"  speedscope   JSON, for speedscope\n"
	"  pprof        profile.proto, for pprof and what reads its files\n"
	"  callgrind    for KCachegrind and callgrind_annotate\n"
	"  perf         what perf script prints, sample by sample\n"
	"\n"
	"  -o, --output FILE    otherwise standard output\n" CMD_PROFILE_HELP
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n";

static const char name[] = "export";

static const struct option options[] = {
	CMD_PROFILE_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

static const struct export_format *find_format(const char *wanted)
{
	const struct export_format *format = export_formats;

	while (format->name && strcmp(format->name, wanted) != 0)
		format++;
	return format->name ? format : NULL;
}

static int write_out(const struct cmd_profile *profile, const struct export_format *format, const char *path)
{
	struct view_buffer out = { .used = 0 };
	int file = cmd_profile_create(name, path), result;

	if (file < 0)
		return CMD_FAULTS;
	result = format->write(&profile->counted, &out, file);
	if (!result)
		return cmd_profile_write(name, &out, file);
	view_buffer_free(&out);
	close(file);
	return cmd_written(name, result);
}

static int take_option(void *output, int option, const char *value)
{
	if (option != 'o')
		return -1;
	*(const char **)output = value;
	return 0;
}

int cmd_export(int argc, char **argv)
{
	struct cmd_profile profile = { .name = name };
	const struct export_format *format = NULL;
	const char *output = NULL;
	int result = cmd_profile_options(&profile, argc, argv, "o:p:", options, take_option, &output);

	if (!result && argc - optind != 2)
		result = cmd_usage(name, "which format, and which trace?");
	if (!result) {
		format = find_format(argv[optind]);
		if (!format)
			result = cmd_usage(name, "there is no format \"%s\"", argv[optind]);
	}
	if (!result && !strcmp(format->name, "pprof") && !output && isatty(STDOUT_FILENO))
		result = cmd_usage(name, "pprof is not for terminals; give -o FILE");
	if (!result)
		result = cmd_profile_open(&profile, argv[optind + 1]);
	if (!result)
		result = write_out(&profile, format, output);
	return cmd_profile_close(&profile, argv[argc - 1], result);
}
