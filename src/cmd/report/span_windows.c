/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Chosen spans; see span_windows.h. */
#include "cmd/report/span_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/selection_options.h"

enum {
	SLOWEST_MAX = 1000,
	SHARE_MAX = 50, /* percent */
};

int cmd_slowest_parse(const char *text, struct span_pick_options *pick)
{
	char *end;
	const double number = strtod(text, &end);

	if (end != text && strcmp(end, "%") == 0 && number > 0 && number <= SHARE_MAX) {
		pick->share = number / 100;
		return 0;
	}
	if (end != text && !*end && number >= 1 && number <= SLOWEST_MAX) {
		pick->count = (uint64_t)number;
		if ((double)pick->count == number)
			return 0;
	}
	return cmd_usage("--slowest %s: give a number of spans up to %u, or a share such as 1%%, up to %u%%",
			 text, (unsigned)SLOWEST_MAX, (unsigned)SHARE_MAX);
}

int cmd_spans_failed(const char *path, int error, const struct view_globs *names, const char *missing)
{
	if (error == -EDOM)
		return cmd_where_failed();
	if (error == -EINVAL)
		return cmd_usage(
			"--pair: the trace has no event %s with the fields of the pair; burin info %s "
			"lists its events",
			missing, path);
	if (error == -ENODATA && names->count)
		return cmd_usage(
			"%s: the trace has no span %s%s; burin report --spans lists those of events, and "
			"system calls and calls have names such as syscall:read and call:main",
			path, names->globs[0], names->count > 1 ? " or as the others" : "");
	if (error == -ENODATA)
		return cmd_usage(
			"%s: the trace has no spans; programs have them by BURIN_SCOPE, see burin(3), and "
			"--pair makes them of two events",
			path);
	return cmd_failed("%s: %s", path, cmd_error(error));
}

static int add_windows(struct view_windows *windows, const struct span_picks *picks)
{
	for (size_t n = 0; n < picks->count; n++) {
		const struct span_picked *span = &picks->spans[n];

		if (!view_windows_add(windows, &(struct view_window){ span->tid, span->begin, span->end }) ||
		    (span->end_tid != span->tid &&
		     !view_windows_add(windows,
				       &(struct view_window){ span->end_tid, span->begin, span->end })))
			return -ENOMEM;
	}
	return 0;
}

int cmd_span_windows(struct view_windows *windows, const struct burin_trace *trace, const char *path,
		     const struct view_globs *names, const char *slowest,
		     const struct view_profile_filter *filter)
{
	const struct span_options spans = { .choice = { .names = names, .where = &filter->where },
					    .filter = filter,
					    .threads = cmd_threads() };
	struct span_pick_options chosen = { .spans = &spans, .max = SIZE_MAX, .count = UINT64_MAX };
	const char *missing = NULL;
	struct span_pick pick;
	int error = slowest ? cmd_slowest_parse(slowest, &chosen) : 0;

	if (error)
		return error;
	chosen.count = chosen.share > 0 ? 0 : chosen.count;
	error = span_pick_make(&pick, trace, &chosen, &missing);
	if (error)
		return cmd_spans_failed(path, error, names, missing);
	for (size_t n = 0; n < pick.group_count && !error; n++)
		error = add_windows(windows, &pick.groups[n].slowest);
	if (!error && !windows->count)
		error = cmd_usage("%s: no recorded span matches the options", path);
	view_windows_sort(windows);
	span_pick_free(&pick);
	return error < 0 ? cmd_failed("%s: %s", path, cmd_error(error)) : error;
}
