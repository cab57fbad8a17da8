/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Chosen spans; see span_windows.h. */
#include "cmd/report/span_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"
#include "base/glob.h"
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

/* The name of an event as --pair and --kernel have it. */
static const char *short_name(const struct burin_event *event)
{
	static const char prefix[] = "kernel.";

	return event->name + (strncmp(event->name, prefix, sizeof(prefix) - 1) ? 0 : sizeof(prefix) - 1);
}

/* @missing: the event that a pair names. It is not in the trace, or without the fields of the pair. */
static int pair_failed(const char *path, const struct burin_trace *trace, const char *missing)
{
	const char *meant = NULL;
	unsigned best = 0;

	for (unsigned id = 1; id <= burin_trace_events(trace); id++) {
		const struct burin_event *event = burin_trace_event(trace, id);

		if (!event)
			continue;
		if (glob_match(missing, short_name(event)) || glob_match(missing, event->name))
			return cmd_usage(
				"--pair: the trace has no event %s with the fields of the pair; burin dump "
				"-n 1 --event '%s' %s prints those that it has",
				missing, event->name, path);
		if (edit_distance_nearer(missing, short_name(event), &best))
			meant = short_name(event);
	}
	return cmd_usage("--pair: the trace has no event %s; %s%s%sburin info %s lists its events", missing,
			 meant ? "did you mean " : "", meant ? meant : "", meant ? "? " : "", path);
}

int cmd_spans_failed(const char *path, const struct burin_trace *trace, int error,
		     const struct view_globs *names, const char *missing)
{
	if (error == -EDOM)
		return cmd_where_failed();
	if (error == -EINVAL)
		return pair_failed(path, trace, missing ? missing : "");
	if (error == -ENODATA && names->count)
		return cmd_usage(
			"%s: the trace has no span %s%s; burin report --spans lists those of events, and "
			"system calls and calls have names such as syscall:read and call:main",
			path, names->globs[0], names->count > 1 ? " or as the others" : "");
	if (error == -ENODATA)
		return cmd_usage(
			"%s: the trace has no spans; programs have them by BURIN_SCOPE, see burin(3), "
			"functions by -k u:FILE:NAME -k uret:FILE:NAME of burin record, and --pair makes "
			"them of two events",
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
		return cmd_spans_failed(path, trace, error, names, missing);
	for (size_t n = 0; n < pick.group_count && !error; n++)
		error = add_windows(windows, &pick.groups[n].slowest);
	if (!error && !windows->count)
		error = cmd_usage("%s: no recorded span matches the options", path);
	view_windows_sort(windows);
	span_pick_free(&pick);
	return error < 0 ? cmd_failed("%s: %s", path, cmd_error(error)) : error;
}
