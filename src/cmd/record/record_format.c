/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin record --format; see record_format.h. */
#include "cmd/record/record_format.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/export/export_uftrace.h"
#include "file/create.h"
#include "writer/chunks.h"

static const char uftrace_default[] = "uftrace.data"; /* which uftrace reads without -d */

bool record_format_begin(struct record_format_output *output, const struct record_options *options,
			 char *trace, size_t bytes)
{
	size_t length;

	*output = (struct record_format_output){ .format = options->format, .directory = -1 };
	if (options->format == RECORD_BURIN) {
		recording_output(options->output, *options->command ? options->command[0] : "samples", 0,
				 trace, bytes);
		return true;
	}
	recording_output(options->output ? options->output : uftrace_default, "", 0, output->output,
			 sizeof(output->output));
	for (length = strlen(output->output); length > 1 && output->output[length - 1] == '/';)
		output->output[--length] = '\0';
	snprintf(trace, bytes, "%s.burin", output->output);
	output->directory = recording_create("-o", output->output, false);
	return output->directory >= 0;
}

void record_format_discard(struct record_format_output *output)
{
	if (output->directory < 0)
		return;
	create_remove_directory(output->directory, output->output);
	close(output->directory);
	output->directory = -1;
}

int record_format_finish(struct record_format_output *output, const char *trace, int directory, bool quiet)
{
	int result;

	if (output->format == RECORD_BURIN)
		return 0;
	result = export_uftrace_into(trace, directory, output->output, output->directory, quiet);
	if (result) {
		record_format_discard(output);
		cmd_failed("the recording stays in %s", trace);
		return result;
	}
	chunks_discard(directory, trace);
	close(output->directory);
	return 0;
}
