/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Figures of the machine in a recording; see counters.h. */
#include <limits.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/sources/counters.h"
#include "session/clock.h"

const char *const counters_events[] = { FIGURES_PREFIX "*", NULL };

static int counters_open_counters(void *state, struct recorder *recorder)
{
	struct counters *counters = state;
	char why[FIGURES_WHY];

	if (!counters->options->interval_ns)
		return 0;
	counters->opened = figures_open(&counters->figures, recorder->session, why) == 0;
	if (!counters->opened)
		cmd_note("burin: no counters: %s\n", why);
	return 0;
}

static bool are_open(const void *state)
{
	return ((const struct counters *)state)->opened;
}

static void begin_counters(void *state, struct recorder *recorder)
{
	struct counters *counters = state;

	(void)recorder;
	counters->due = clock_ns(CLOCK_MONOTONIC) + counters->options->interval_ns;
}

static int counters_pause_of(const void *state)
{
	const struct counters *counters = state;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!counters->opened)
		return INT_MAX;
	if (now >= counters->due)
		return 0;
	return (int)((counters->due - now) / 1000000 + 1); /* COUNTERS_INTERVAL_MAX fits */
}

/* A reading that comes a little late does not move those behind it. A mean of a very short time would say nothing. */
static void read_counters(void *state, struct recorder *recorder, unsigned *fullest)
{
	struct counters *counters = state;
	const uint64_t interval = counters->options->interval_ns, now = clock_ns(CLOCK_MONOTONIC);

	(void)recorder;
	(void)fullest;
	if (!counters->opened || now < counters->due)
		return;
	figures_read(&counters->figures);
	counters->due += interval;
	if (counters->due < now + interval / 2)
		counters->due = now + interval;
}

/* The last values are those of the time until the end. */
static void finish_counters(void *state, struct recorder *recorder)
{
	struct counters *counters = state;

	(void)recorder;
	if (counters->opened && counters->due &&
	    clock_ns(CLOCK_MONOTONIC) - counters->figures.last_ns >= counters->options->interval_ns / 4)
		figures_read(&counters->figures);
}

static void counters_close_counters(void *state)
{
	figures_close(&((struct counters *)state)->figures);
}

static void counters_summarize(const void *state, const struct recorder *recorder, const char *output)
{
	const struct counters *counters = state;
	const struct figures *figures = &counters->figures;
	char readings[TEXT_SHORT], longest[TEXT_SHORT];

	(void)recorder;
	(void)output;
	if (!counters->opened)
		return;
	cmd_note("burin: counters of the machine: %s reading%s, at most %s apart\n",
		 text_count(readings, figures->readings), text_plural(figures->readings),
		 text_duration(longest, figures->longest_ns));
	if (figures->left_out)
		cmd_note("burin: counters: %s values were left out: there are more than %d figures, or two "
			 "of a name\n",
			 text_count(readings, figures->left_out), FIGURES_MAX);
	if (figures->refused)
		cmd_note("burin: counters: %s values were left out: their events could not be registered\n",
			 text_count(readings, figures->refused));
}

const struct source_ops counters_source = {
	.open = counters_open_counters,
	.records = are_open,
	.begin = begin_counters,
	.pause_ms = counters_pause_of,
	.round = read_counters,
	.finish = finish_counters,
	.close = counters_close_counters,
	.summary = counters_summarize,
};
