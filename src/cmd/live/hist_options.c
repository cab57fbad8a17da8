/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Options of burin hist and burin count; see hist_options.h. */
#include "cmd/live/hist_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

int hist_options_by(struct hist_options *options, const char *by)
{
	while (by && *by) {
		const size_t bytes = strcspn(by, ",");
		char *word = strndup(by, bytes);

		if (!word)
			abort();
		by += bytes + (by[bytes] == ',');
		for (unsigned n = 0; n < options->by_count; n++)
			if (strcmp(options->by[n], word) == 0)
				*word = 0;
		if (!*word)
			return cmd_usage(
				"--by: give names of fields, or of program, thread, pid, tid and cpu, each "
				"once");
		if (options->by_count == HIST_BY_MAX)
			return cmd_usage("--by: at most %u words", (unsigned)HIST_BY_MAX);
		options->by[options->by_count++] = word;
	}
	return 0;
}

int hist_options_form(struct view_report *report, bool json, bool csv)
{
	if (json && csv)
		return cmd_usage("--json and --csv: give one of them");
	report->form = json ? TABLE_JSON : csv ? TABLE_CSV : TABLE_TEXT;
	return 0;
}
