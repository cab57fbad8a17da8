/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin diff: compare recordings, by samples, spans or calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "cmd/report/span_windows.h"
#include "view/compare/compare.h"
#include "view/losses.h"

enum {
	RECORDINGS_MAX = 1000,
};

static struct view_globs base, new, names;
static bool total, all, json, csv, spans, calls;
static char of_samples[OPTION_NAME];

static const struct cmd_option table[] = {
	OPTION_LIST("--base DIR...", &base, "the recordings before: A", .many = true),
	OPTION_LIST("--new DIR...", &new, "the recordings after: B", .many = true),
	OPTION_FLAG("--spans", &spans, "compare spans: their rate, mean, median and 99th percentile"),
	OPTION_LIST("--span GLOB", &names,
		    "only spans of this name, such as http.request, syscall:read or call:main; may be "
		    "repeated; includes --spans"),
	OPTION_FLAG("--calls", &calls,
		    "compare calls: how many, and the self and total time of one call of each function"),
	OPTION_FLAG("--total", &total, "of samples: include the functions that a function called",
		    .given = of_samples),
	OPTION_FLAG("--all", &all, "also print rows that may differ by chance"),
	CMD_INLINE,
	OPTION_GROUP(cmd_profile_options),
	OPTION_FLAG("-j, --json", &json, "one JSON object"),
	OPTION_FLAG("--csv", &csv, "rows as comma-separated values (RFC 4180)"),
	CMD_MEMORY,
	{ 0 },
};

/* ---- One recording */

static const struct burin_event *cmd_diff_event_of(const struct cmd_profile *profile)
{
	const struct view_counted *of = profile->counted.of;

	return of[VIEW_RUNNING].event ?: of[VIEW_WAITING].event;
}

/* The event of the first recording that has one, by its name. */
static char *event_name;

static int check_event(const struct cmd_profile *profile, const char *path)
{
	const struct burin_event *event = cmd_diff_event_of(profile);

	if (!event)
		return 0;
	if (!event_name)
		event_name = strdup(event->name);
	if (!event_name)
		return cmd_failed("%s", cmd_error(-ENOMEM));
	if (strcmp(event->name, event_name) == 0)
		return 0;
	return cmd_usage("%s has most samples of %s, others of %s; choose one with --event", path,
			 event->name, event_name);
}

/* @read: set if there is something to compare, whatever faults the trace has */
static int add_samples(struct compare *compare, const char *path, bool *read)
{
	struct cmd_profile profile = { .apart = true, .may_be_empty = true, .foot = true };
	int result = cmd_profile_open(&profile, path), error;

	if (!result)
		result = check_event(&profile, path);
	if (!result) {
		error = compare_samples(compare, &profile.counted, &profile.filter, total,
					cmd_inline == CMD_INLINE_FOLD);
		result = error ? cmd_failed("%s: %s", path, cmd_error(error)) : 0;
	}
	*read = !result;
	return cmd_profile_close(&profile, path, result);
}

static int add_spans(struct compare *compare, const struct cmd_calls *opened, const char *path)
{
	const struct span_choice choice = { .names = &names, .where = &opened->filter.where };
	const int error = compare_spans(compare, opened->trace, &choice, &opened->filter, cmd_threads());

	return error ? cmd_spans_failed(path, opened->trace, error, &names, "") : 0;
}

static int add_calls(struct compare *compare, const struct cmd_calls *opened, const char *path)
{
	const int error = compare_calls(compare, opened->trace, &opened->filter, cmd_threads());

	return error ? cmd_calls_failed(opened->trace, path, error) : 0;
}

static int add_recording(struct compare *compare, const char *path, bool *read)
{
	struct cmd_calls opened;
	int result;

	compare_next(compare, path);
	if (!spans && !calls)
		return add_samples(compare, path, read);
	result = cmd_calls_open(&opened, path, cmd_profile_filter());
	if (!result)
		result = spans ? add_spans(compare, &opened, path) : add_calls(compare, &opened, path);
	*read = !result;
	if (!result)
		cmd_losses_line(opened.trace, spans ? "" : view_lost_calls, path);
	return cmd_calls_close(&opened, path, result);
}

/* ---- All */

/* Reject options that do not fit. Return: 0 or CMD_USAGE. */
static int cmd_diff_complete(char **operands)
{
	const bool given = base.count || new.count;

	spans |= names.count != 0;
	if (given && *operands)
		return cmd_usage("%s: give either two traces, or --base and --new", *operands);
	if (given ? !base.count || !new.count : !*operands || !operands[1])
		return cmd_usage("give two traces, or any number behind --base and --new each");
	if (base.count + new.count > RECORDINGS_MAX)
		return cmd_usage("give at most %u recordings", (unsigned)RECORDINGS_MAX);
	if (spans && calls)
		return cmd_usage("give one of --spans and --calls");
	if ((spans || calls) && *of_samples)
		return cmd_usage("%s is for samples", of_samples);
	if ((spans || calls) && cmd_inline != CMD_INLINE_FOLD)
		return cmd_usage("--inline is for samples");
	if (spans && cmd_profile_filter()->symbols.count)
		return cmd_usage("--symbol is for samples and calls; --span selects spans");
	if (json && csv)
		return cmd_usage("give either --json or --csv");
	return 0;
}

/* Read all recordings, also damaged ones as far as they are readable. @complete: set if there is something of each */
static int compare_all(struct compare *compare, const char *const *paths, unsigned count, bool *complete)
{
	int worst = 0;

	for (unsigned n = 0; n < count; n++) {
		bool read = false;
		const int result = add_recording(compare, paths[n], &read);

		if (!read)
			return result;
		worst = result ? result : worst;
	}
	*complete = true;
	return worst;
}

static int cmd_diff_print(struct compare *compare)
{
	struct view_buffer out = { .used = 0 };
	const int error = compare_finish(compare);

	if (error)
		return cmd_failed("%s", cmd_error(error));
	compare_print(compare,
		      json  ? TABLE_JSON
		      : csv ? TABLE_CSV
			    : TABLE_TEXT,
		      all, cmd_color(STDOUT_FILENO), &out);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

/* The recordings of both sides, A first. */
struct sides {
	const char **paths;
	uint8_t *of;
	unsigned count;
};

static void add_side(struct sides *sides, const char *const *paths, size_t count, uint8_t side)
{
	for (size_t n = 0; n < count; n++) {
		sides->of[sides->count] = side;
		sides->paths[sides->count++] = paths[n];
	}
}

static int compare_sides(const struct sides *sides)
{
	const enum compare_kind kind = spans   ? COMPARE_OF_SPANS
				       : calls ? COMPARE_OF_CALLS
					       : COMPARE_OF_SAMPLES;
	struct compare compare;
	bool complete = false;
	int result = compare_begin(&compare, kind, sides->of, sides->count), printed;

	if (result) {
		result = cmd_failed("%s", cmd_error(result));
	} else {
		result = compare_all(&compare, sides->paths, sides->count, &complete);
		printed = complete ? cmd_diff_print(&compare) : 0;
		result = printed ? printed : result;
	}
	compare_free(&compare);
	return result;
}

static int cmd_diff_run(char **operands)
{
	struct sides sides = { .count = 0 };
	int result = cmd_diff_complete(operands);

	if (result)
		return result;
	sides.paths = calloc(base.count + new.count + 2, sizeof(*sides.paths));
	sides.of = calloc(base.count + new.count + 2, sizeof(*sides.of));
	if (sides.paths && sides.of) {
		add_side(&sides, base.count ? base.globs : (const char *const *)operands,
			 base.count ? base.count : 1, 0);
		add_side(&sides, base.count ? new.globs : (const char *const *)operands + 1,
			 base.count ? new.count : 1, 1);
		result = compare_sides(&sides);
	} else {
		result = cmd_failed("%s", cmd_error(-ENOMEM));
	}
	free(event_name);
	free(sides.paths);
	free(sides.of);
	return result;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.line = "compare recordings: which functions, spans or calls have changed",
	.usage = "Usage: burin diff [options] A B\n"
		 "       burin diff [options] --base A1 A2 A3 --new B1 B2 B3\n"
		 "\n"
		 "Compare recordings of a program before and after a change, one or more of each.\n"
		 "By samples: which functions have a larger or smaller share in B than in A; with --spans,\n"
		 "how often spans are, and how long they take; with --calls, the same of calls. Rows\n"
		 "that chance may make are omitted: of the printed ones, at most 5 % are expected to be\n"
		 "equal. Three recordings of each are much surer than one.\n",
	.notes = "Exit code: 0; 1 if a trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 0,
		      2,
		      "give two traces, or any number behind --base and --new each",
		      { CMD_IS_TRACE, CMD_IS_TRACE } },
	.views = true,
	.main = cmd_diff_run,
};
