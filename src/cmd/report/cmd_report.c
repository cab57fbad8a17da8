/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin report: print where the time went. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report/open_calls.h"
#include "cmd/report/report_kernel.h"
#include "cmd/report/report_spans.h"
#include "view/calls/call_stats.h"

enum {
	ROWS = 50,	    /* the default --limit of text */
	MISSING_LINES = 12, /* below the table, even if that is shorter */
};

static struct view_report report = { .min = -1 };
static const char *callers, *callees, *critical;
static const char *by;
static struct report_spans span_options;
static bool calls, syscalls, sched, spans, suggest, tree, json, csv, verbose;
static unsigned order = CALL_BY_MAX + 1; /* none was given */

/* The last given option that trees do not have, the one that makes a tree, and the last one that only spans have. */
static char of_rows[OPTION_NAME], of_tree[OPTION_NAME], of_spans[OPTION_NAME];

/* The parts depend on what is counted: see cmd_report_complete_by() and report_spans.c. */
static bool take_by(const char *text)
{
	by = text;
	return *text;
}

static bool parse_by(const char *text)
{
	report.by_count = 0;
	for (const char *at = text; *at;) {
		size_t bytes = strcspn(at, ",");
		unsigned part = 0;

		while (part < VIEW_PARTS &&
		       (strncmp(view_part_name(part), at, bytes) != 0 || view_part_name(part)[bytes]))
			part++;
		if (strncmp(at, "syscall", bytes) == 0 && bytes == strlen("syscall"))
			part = VIEW_SYMBOL;
		for (unsigned n = 0; n < report.by_count; n++)
			part = report.by[n] == part ? VIEW_PARTS : part;
		if (part == VIEW_PARTS)
			return false;
		report.by[report.by_count++] = part;
		at += bytes + (at[bytes] == ',');
	}
	return report.by_count != 0;
}

static bool parse_min(const char *text)
{
	char *end;

	report.min = strtod(text, &end);
	return end != text && !*end && report.min >= 0 && report.min <= 100;
}

static const char *const part_names[] = {
	"program", "thread", "pid", "tid", "image", "symbol", "line", "syscall", NULL,
};

static const char *const orders[] = {
	[CALL_BY_SELF] = "self",       [CALL_BY_TOTAL] = "total", [CALL_BY_CALLS] = "calls",
	[CALL_BY_AVERAGE] = "average", [CALL_BY_P99] = "p99",	  [CALL_BY_MAX] = "max",
	[CALL_BY_MAX + 1] = NULL,
};

static const struct cmd_option table[] = {
	OPTION_FLAG("--calls", &calls, "count calls, not samples: how many, and how long they took"),
	OPTION_FLAG("--syscalls", &syscalls,
		    "count system calls (burin record -k 'syscalls:*'): how many, their errors, how long "
		    "they took"),
	OPTION_FLAG(
		"--sched", &sched,
		"print of each thread how long it ran, waited for a CPU and was blocked, in which calls, and "
		"who woke it (burin record --sched)"),
	OPTION_FLAG(
		"--spans", &spans,
		"count spans, those of events (BURIN_SCOPE): how many, how many failed, how long they took"),
	OPTION_LIST(
		"--span GLOB", &span_options.names,
		"only spans of this name, such as http.request, syscall:read or call:main; may be repeated; "
		"includes --spans",
		.given = of_spans),
	OPTION_LIST("--pair PAIR", &span_options.pairs,
		    "spans from one event to another: [NAME=]BEGIN,END of one thread, or "
		    "[NAME=]BEGIN,END@FIELD,... "
		    "with equal fields; may be repeated; includes --spans",
		    .given = of_spans),
	OPTION_FLAG("--histogram", &span_options.histogram,
		    "of spans: print how their durations are distributed", .given = of_spans),
	OPTION_TEXT(
		"--slowest N", &span_options.slowest,
		"of spans: print the N slowest ones, each with what its time went to and its records; or, "
		"with a share such as 1%, in what the slowest of each name differ from those around the "
		"median (record with --sched=wakers)",
		.given = of_spans),
	OPTION_TEXT("--critical SPAN", &critical,
		    "print what spans of this name (a glob; of events, or a system call) waited for: the "
		    "states of "
		    "their threads, and of the threads that woke these (burin record --sched)"),
	OPTION_FLAG(
		"--suggest", &suggest,
		"with --calls: print the options --no-calls of burin record that would save most records"),
	OPTION_PARSED(
		"--by PART,...", take_by, "give parts of rows, such as program,thread",
		"rows by program, thread, pid, tid, image, symbol and line, as listed (default: "
		"symbol,image); of system calls by syscall and the first four; of spans by the first four, "
		"parent, and the names of fields",
		.given = of_rows, .names = part_names),
	OPTION_CHOICE(
		"--sort ORDER", &order, orders,
		"self (default) or total (default of spans); of calls and spans also calls, average, p99 or "
		"max",
		.given = of_rows),
	OPTION_PARSED("--min PERCENT", parse_min, "give a number from 0 to 100",
		      "omit rows and branches with a smaller share (default: 0.1; 1 in trees and paths; 0 of "
		      "spans and system calls, and sorted by calls, average, p99 or max)"),
	OPTION_NUMBER("-n, --limit N", &report.limit, 1, UINT64_MAX,
		      "print at most N rows (default: 50; all in JSON and CSV)", .given = of_rows),
	CMD_INLINE,
	OPTION_FLAG("--tree", &tree, "print the tree of calls instead of rows", .given = of_tree,
		    .alone = true),
	OPTION_TEXT("--callers GLOB", &callers, "print the callers of this function, as a tree",
		    .given = of_tree, .alone = true),
	OPTION_TEXT("--callees GLOB", &callees,
		    "print the functions that this function called, as a tree (trees exclude --by, --sort, "
		    "--limit and --csv)",
		    .given = of_tree, .alone = true),
	OPTION_GROUP(cmd_profile_options),
	OPTION_FLAG("-j, --json", &json, "one JSON object"),
	OPTION_FLAG("--csv", &csv, "rows as comma-separated values (RFC 4180)", .given = of_rows),
	OPTION_FLAG("-v, --verbose", &verbose,
		    "print all that is missing, even if that is longer than the table"),
	CMD_MEMORY,
	{ 0 },
};

/* The parts of rows that are no spans. */
static int cmd_report_complete_by(void)
{
	if (by && !parse_by(by))
		return cmd_usage(
			"--by %s: give some of program, thread, pid, tid, image, symbol, line, syscall, "
			"each once",
			by);
	if (!report.by_count && syscalls) {
		report.by[report.by_count++] = VIEW_SYMBOL;
	} else if (!report.by_count && sched) {
		report.by[0] = VIEW_THREAD;
		report.by[1] = VIEW_TID;
		report.by_count = 2;
	} else if (!report.by_count) {
		report.by[0] = VIEW_SYMBOL;
		report.by[1] = VIEW_IMAGE;
		report.by_count = 2;
	}
	return 0;
}

/* Reject conflicting options, and set defaults that depend on other options. */
static int cmd_report_complete(void)
{
	spans |= span_options.names.count || span_options.pairs.count;
	if (order > CALL_BY_MAX)
		order = spans ? CALL_BY_TOTAL : CALL_BY_SELF;
	if (*of_tree && *of_rows)
		return cmd_usage("%s is for rows, not for trees; use --min to omit branches of a tree",
				 of_rows);
	if (json && csv)
		return cmd_usage("give either --json or --csv");
	if (calls && *of_tree)
		return cmd_usage("%s is for samples; burin graph prints the tree of calls", of_tree);
	if (calls + syscalls + sched + spans + (critical != NULL) > 1)
		return cmd_usage("give one of --calls, --syscalls, --sched, --spans and --critical");
	if (*of_spans && !spans)
		return cmd_usage("%s is for spans; give --spans, too", of_spans);
	if ((syscalls || sched || spans || critical) && *of_tree)
		return cmd_usage("%s is for samples", of_tree);
	if (suggest && (!calls || *of_rows || *cmd_profile_given || json || csv))
		return cmd_usage("--suggest goes with --calls alone");
	if ((sched || critical) && order)
		return cmd_usage("--sort is for samples and calls; remove it");
	if (critical && by)
		return cmd_usage("--by is for rows; remove it");
	if (!calls && !syscalls && !spans && order > CALL_BY_TOTAL)
		return cmd_usage("--sort %s is for calls; give --calls, too (or --syscalls, --spans)",
				 orders[order]);
	if (!spans && cmd_report_complete_by() != 0)
		return CMD_USAGE;
	if (!report.limit)
		report.limit = json || csv ? UINT64_MAX : ROWS;
	/* The rows that lead by calls or by a longest call may have a small share of the time. */
	if (report.min < 0)
		report.min = *of_tree || ((critical || span_options.slowest) && !json && !csv) ? 1
			     : json || csv || syscalls || spans || order > CALL_BY_TOTAL       ? 0
											       : 0.1;
	report.by_total = order != 0;
	report.form = json ? TABLE_JSON : csv ? TABLE_CSV : TABLE_TEXT;
	report.outwards = callers != NULL;
	report.color = cmd_color(STDOUT_FILENO);
	return 0;
}

static int print_rows(const struct view_profile *counted, struct view_buffer *out)
{
	struct view_rows rows;
	int result =
		view_rows_make(&rows, counted, view_report_parts(&report), cmd_inline == CMD_INLINE_FOLD);

	if (result)
		return result;
	view_rows_print(counted, &rows, &report, out);
	view_rows_free(&rows);
	return 0;
}

static int print_tree(const struct view_profile *counted, struct view_buffer *out)
{
	const struct view_tree_options options = { .direction = callers	  ? VIEW_CALLERS
								: callees ? VIEW_CALLEES
									  : VIEW_WHOLE,
						   .symbol = callers ? callers : callees };
	struct view_keys keys;
	struct view_tree made;
	int result = view_keys_make(&keys, counted->profile, 1 << VIEW_SYMBOL | 1 << VIEW_IMAGE, false);

	if (!result)
		result = view_tree_make(&made, &keys, counted, &options);
	if (!result) {
		if (json)
			view_tree_json(counted, &made, &report, out);
		else
			view_tree_text(counted, &made, &report, out);
		view_tree_free(&made);
	}
	view_keys_free(&keys);
	return result;
}

static size_t cmd_report_count_lines(const struct view_buffer *text)
{
	size_t lines = 0;

	for (size_t n = 0; n < text->used; n++)
		lines += text->bytes[n] == '\n';
	return lines;
}

static int cmd_report_print(const struct view_profile *counted)
{
	struct view_buffer out = { .used = 0 };
	int result = *of_tree ? print_tree(counted, &out) : print_rows(counted, &out);

	if (result) {
		view_buffer_free(&out);
		return cmd_failed("%s", cmd_error(result));
	}
	if (!json && !csv) {
		const size_t lines = cmd_report_count_lines(&out);

		view_buffer_print(&out, "\n");
		view_ledger_text(counted->trace, counted->profile, counted, report.color,
				 verbose		 ? SIZE_MAX
				 : lines > MISSING_LINES ? lines
							 : MISSING_LINES,
				 &out);
	}
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

/* ---- Calls */

static int run_calls(const char *path)
{
	struct view_buffer out = { .used = 0 };
	struct cmd_calls opened;
	struct call_stats stats;
	int result = cmd_calls_open(&opened, path, cmd_profile_filter()), error;

	if (!result) {
		error = call_stats_make(&stats, opened.trace, &opened.filter, view_report_parts(&report),
					cmd_threads(), NULL);
		if (!error) {
			call_rows_sort(&stats.rows, (enum call_order)order);
			call_stats_print(&stats, &report, &out);
			call_stats_free(&stats);
		}
		result = error ? cmd_calls_failed(opened.trace, path, error)
			       : cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
	}
	return cmd_calls_close(&opened, path, result);
}

static int run_kernel(const char *path)
{
	if (critical)
		return report_critical(path, critical, &report);
	return syscalls ? report_syscalls(path, &report, (enum call_order)order)
			: report_sched(path, &report);
}

static int cmd_report_run(char **operands)
{
	struct cmd_profile profile = { 0 };
	int result = cmd_report_complete();

	if (!result && (syscalls || sched || critical))
		return run_kernel(operands[0]);
	if (!result && spans) {
		span_options.by = by;
		return report_spans(operands[0], &span_options, &report, (enum call_order)order);
	}
	if (!result && calls)
		return suggest ? cmd_calls_suggest(operands[0]) : run_calls(operands[0]);
	if (!result)
		result = cmd_profile_open(&profile, operands[0]);
	if (!result)
		result = cmd_report_print(&profile.counted);
	return cmd_profile_close(&profile, operands[0], result);
}

const struct cmd cmd_report = {
	.name = "report",
	.line = "print where the time went, by function, program or line",
	.usage =
		"Usage: burin report [options] [DIR]\n"
		"\n"
		"Print where the programs spent their time, by the samples of the trace in DIR. Self is\n"
		"a function's own share; total includes the functions that it called. Below the table:\n"
		"lost samples and missing names, and what to do about them. With --calls, print the same of\n"
		"recorded calls (burin record --calls); with --syscalls, of system\n"
		"calls; with --spans, of spans; with --sched, the states of threads.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read.\n",
	.options = table,
	.operands = { 1,
		      1,
		      "give one trace, the directory that burin record wrote; burin diff compares two",
		      { CMD_IS_TRACE } },
	.views = true,
	.main = cmd_report_run,
};
