/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin top: show what programs do now, again and again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/top/top_screen.h"
#include "session/clock.h"

enum {
	TOP_LIMIT = 50, /* rows of a table */
};

static struct top_options top_options = { .delay = 1000000000 };

static const struct cmd_option top_table[] = {
	OPTION_NUMBER("-p, --pid PID", &top_options.pid, 1, INT32_MAX,
		      "the threads of a process: state, system call and stack of each. The program needs no "
		      "library, and is not stopped"),
	OPTION_FLAG("-a, --all", &top_options.all, "the threads of all processes"),
	OPTION_LIST("-e, --event GLOB", &top_options.events,
		    "with TARGET: switch matching events on meanwhile; may be repeated"),
	OPTION_FLAG("-b, --batch", &top_options.batch, "print one text after another, for pipes and files"),
	OPTION_NUMBER("-n, --count N", &top_options.count, 1, UINT64_MAX,
		      "end after N screens (default: with the program)"),
	OPTION_DURATION("-d, --delay TIME", &top_options.delay, 1,
			"time between two screens: 5s, 250ms (default: 1s)"),
	OPTION_NUMBER("--limit N", &top_options.limit, 1, UINT64_MAX,
		      "with --batch: rows of a table (default: 50)"),
	OPTION_FLAG("-j, --json", &top_options.json, "with --batch: one JSON object per line, with all rows"),
	{ 0 },
};

static void top_json(const struct top_sources *sources, const struct top_rows *rows, struct view_buffer *out)
{
	struct json json;

	json_begin_object(&json, out, 0);
	json_u64(&json, "time_ns", clock_ns(CLOCK_REALTIME));
	json_text(&json, "program", *sources->title ? sources->title : NULL);
	if (sources->options->pid)
		json_u64(&json, "pid", sources->options->pid);
	if (rows->live)
		top_live_json(rows, &json);
	top_functions_json(rows, &json);
	top_threads_json(rows, &json);
	json_end(&json);
}

/* Return: 0 or a negative errno of the output. */
static int top_print(const struct top_sources *sources, const struct top_rows *rows)
{
	const bool color = cmd_color(STDOUT_FILENO);
	struct view_buffer out = { .used = 0 };
	int result;

	if (top_options.json) {
		top_json(sources, rows, &out);
	} else {
		top_sources_head(sources, rows, &out);
		top_spans_text(rows, top_options.limit, color, &out);
		top_events_text(rows, top_options.limit, color, &out);
		top_functions_text(rows, top_options.limit, color, &out);
		top_threads_text(rows, top_options.limit, color, &out);
		view_buffer_print(&out, "\n");
	}
	result = view_buffer_write(&out, STDOUT_FILENO);
	view_buffer_free(&out);
	return result;
}

/* Wait until the next screen is due. Return: as top_sources_wait(). */
static int top_pause(struct top_sources *sources, uint64_t until)
{
	int result = 0;

	for (uint64_t now; !result && (now = clock_ns(CLOCK_MONOTONIC)) < until;) {
		const uint64_t left = (until - now + 999999) / 1000000;

		result = top_sources_wait(sources, left < TOP_ROUND_MS ? (int)left : TOP_ROUND_MS);
	}
	return result;
}

static int top_batch(struct top_sources *sources)
{
	uint64_t due = clock_ns(CLOCK_MONOTONIC);
	struct top_rows rows;

	for (uint64_t n = 0; !top_options.count || n < top_options.count; n++) {
		int result = 0;

		if (n || !top_options.pid) { /* the process that hangs is shown at once */
			due += top_options.delay;
			result = top_pause(sources, due);
		}
		if (result < 0)
			return cmd_failed("out of memory");
		if (result)
			return top_sources_over(sources), 0;
		result = top_sources_rows(sources, &rows);
		if (result == -ESRCH && n)
			return top_sources_over(sources), 0;
		if (result)
			return top_sources_refused((uint32_t)top_options.pid, result);
		result = top_print(sources, &rows);
		if (result)
			return cmd_written(result);
	}
	return 0;
}

static int cmd_top_run(char **operands)
{
	static struct top_sources sources;
	const bool is_screen =
		!top_options.batch && !top_options.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int result;

	top_options.target = operands[0];
	if ((top_options.pid != 0) + top_options.all + (top_options.target != NULL) != 1)
		return cmd_usage("give one of TARGET, --pid PID and --all");
	if (top_options.events.count && !top_options.target)
		return cmd_usage("--event needs a TARGET");
	if (is_screen && top_options.limit)
		return cmd_usage("--limit needs --batch: the screen shows all rows");
	top_options.limit = top_options.limit ? top_options.limit : TOP_LIMIT;
	top_options.batch = !is_screen;
	if (!is_screen)
		cmd_output_begin();
	result = top_sources_begin(&sources, &top_options);
	if (!result)
		result = is_screen ? top_screen_run(&sources) : top_batch(&sources);
	return top_sources_end(&sources, result);
}

const struct cmd cmd_top = {
	.name = "top",
	.line = "show what programs do now: events, spans, threads and why they wait",
	.usage = "Usage: burin top [OPTION]... TARGET\n"
		 "       burin top [OPTION]... --pid PID\n"
		 "       burin top [OPTION]... --all\n"
		 "\n"
		 "Show what a program does now, again and again: its spans with rates and percentiles, its\n"
		 "events, the functions that run, its threads and why they wait, and what was lost.\n"
		 "TARGET is a pid, a program's name or a session's path; see burin ls. Any process has\n"
		 "--pid.\n",
	.notes = "Exit code: 0, also when the program has ended; 2 if there is no such program, or it may "
		 "not\n"
		 "be read.\n",
	.options = top_table,
	.operands = { 0, 1, NULL, { CMD_IS_TARGET } },
	.main = cmd_top_run,
};
