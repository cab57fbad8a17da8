/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's events, counted while something runs; see live_counts.h. They are printed as burin hist prints the records of a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/each_process.h"
#include "cmd/live/live_command.h"
#include "cmd/live/live_counts.h"
#include "session/clock.h"
#include "source/kernel/counts/count_rows.h"
#include "source/kernel/counts/kernel_counts.h"

struct live_counts live_counts = { .rows = 16384 };

const struct cmd_option live_options[] = {
	OPTION_LIST("-k, --kernel GLOB", &live_counts.globs,
		    "count the kernel's tracepoints whose names match, such as 'syscalls:*' or "
		    "sched:sched_switch; may be repeated. Also probes; see burin-kernel(7)"),
	OPTION_FLAG("-a, --all", &live_counts.all, "count all tasks of the machine"),
	OPTION_NUMBERS("-p, --pid PID,...", &live_counts.processes, INT32_MAX,
		       "count these processes and all that they start, until they end"),
	OPTION_DURATION("--duration TIME", &live_counts.duration_ns, 1, "end after this time"),
	OPTION_NUMBER("--rows N", &live_counts.rows, 16, KERNEL_COUNTS_ROWS_MAX,
		      "room in the kernel for so many rows, each CPU's counted apart; what finds no room is "
		      "counted as lost (default: 16384)"),
	OPTION_TEXT("-o, --output FILE", &live_counts.output,
		    "write to FILE (default: standard output; of a COMMAND standard error)"),
	OPTION_COMMAND(&live_counts.command),
	{ 0 },
};

/* One live counting. */
struct live {
	const struct live_wanted *wanted;
	struct kernel_counts counts;
	struct live_command run;
	struct hist hist;	     /* what is printed next */
	struct hist_options printed; /* its options */
	struct view_losses losses;
	uint64_t begin_ns;
	uint64_t slot;			 /* of the interval that is read */
	struct hist_interval *intervals; /* by slot; the last one has not ended */
	size_t room;
	int file;
	bool headless; /* CSV has its heading */
};

/* ---- Rows */

static const uint64_t *live_power(const void *data, unsigned power, bool negative)
{
	const struct kernel_counts_row *row = data;
	const uint32_t page = row->counts->pages[power + (negative ? 64 : 0)];

	return page && page <= row->pages ? row->buckets[page - 1] : NULL;
}

/* A bound, as the program keeps it. */
static double live_bound(const struct kernel_counts_row *row, uint64_t bound)
{
	return row->has_sign ? (double)(int64_t)(bound ^ UINT64_C(1) << 63) : (double)bound;
}

/* Of 128 bits: of numbers around 0 both halves are large. */
static double live_sum(const struct kernel_counts_row *row)
{
	const unsigned __int128 sum = (unsigned __int128)row->counts->sum_high << 64 | row->counts->sum;

	return row->has_sign ? (double)(__int128)sum : (double)sum;
}

static int live_add(void *context, const struct kernel_counts_row *row)
{
	struct live *live = context;
	const struct hist_options *options = live->wanted->hist;
	const struct kernel_count_row *counts = row->counts;
	const struct value_integers integers = {
		.count = counts->records,
		.zeros = counts->zeros,
		.sum = live_sum(row),
		.min = live_bound(row, counts->least),
		.max = live_bound(row, counts->greatest),
		.power = live_power,
		.data = row,
	};
	struct hist_addition addition = { .slot = options->every_ns ? live->slot : 0,
					  .event = row->event,
					  .records = counts->records,
					  .integers = row->has_number ? &integers : NULL };

	if (row->slot != (uint16_t)live->slot)
		return 0;
	for (unsigned n = 0; n < options->by_count; n++)
		addition.by[n] = row->words[n];
	if (live->counts.by_value)
		addition.value = row->has_number ? "" : row->words[options->by_count];
	return hist_live_add(&live->hist, &addition);
}

static void live_read_losses(struct live *live)
{
	const struct kernel_count_state *state = live->counts.state;
	const struct view_loss all[] = {
		{ "full_rows", "for which the kernel had no row; see --rows",
		  state->lost[KERNEL_COUNT_LOST_ROWS], false, true },
		{ "full_buckets", "without a place in the histogram; see --rows",
		  state->lost[KERNEL_COUNT_LOST_PAGES], false, false },
		{ "busy", "that interrupted the program of another one",
		  state->lost[KERNEL_COUNT_LOST_BUSY] + live->counts.missed, false, true },
		{ "unread", "under a text that was not in memory", state->unread, false, false },
		{ "unstarted", "calls whose begin is unknown", state->unstarted, false, false },
	};

	live->losses = (struct view_losses){ .count = 0 };
	for (unsigned n = 0; n < sizeof(all) / sizeof(all[0]); n++)
		view_losses_add(&live->losses, all[n]);
}

/* ---- Output */

static int live_failed(int error)
{
	if (error == -E2BIG)
		return cmd_failed("more than %u rows; give a longer --every, or other words in --by",
				  (unsigned)HIST_ROWS_MAX);
	return cmd_failed("%s", strerror(-error));
}

static int live_print(struct live *live, double seconds)
{
	struct view_buffer out = { .used = 0 };
	int result;

	live_read_losses(live);
	result = hist_live_end(&live->hist, &live->losses, live->intervals, seconds);
	if (!result)
		hist_print(&live->hist, live->wanted->report, &out);
	hist_free(&live->hist);
	hist_live_begin(&live->hist, live->wanted->hist);
	if (result)
		return live_failed(result);
	return cmd_print(&out, live->file);
}

/* The interval that is counted ends, and the next one begins. Return: 0; -ENOMEM. */
static int live_next_interval(struct live *live)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC) - live->begin_ns;

	if (!array_reserve(live->intervals, live->room, live->slot + 2))
		return -ENOMEM;
	live->intervals[live->slot].ns = now - live->intervals[live->slot].begin_ns;
	live->intervals[live->slot + 1] = (struct hist_interval){ .begin_ns = now };
	return 0;
}

/* Read an interval that has ended. Text is printed at once, other forms at the end. */
static int live_interval(struct live *live)
{
	int result;

	kernel_counts_next(&live->counts);
	result = live_next_interval(live);
	if (!result)
		result = kernel_counts_each(&live->counts, live_add, live);
	kernel_counts_clear(&live->counts);
	if (result)
		return live_failed(result);
	if (live->wanted->report->form == TABLE_TEXT)
		result = live_print(live, (double)live->intervals[live->slot].ns / 1e9);
	live->slot++;
	return result;
}

/* ---- The whole */

/* The time of the rows that are printed at the end: in text that of the last interval, otherwise all. */
static double live_last_seconds(const struct live *live)
{
	const struct hist_interval *last = &live->intervals[live->slot];

	return (double)(live->wanted->report->form == TABLE_TEXT ? last->ns : last->begin_ns + last->ns) /
	       1e9;
}

/* Count until the end. Return: the exit code. */
static int live_follow(struct live *live)
{
	const uint64_t every_ns = live->wanted->hist->every_ns, begin = live->begin_ns,
		       end = live_counts.duration_ns ? begin + live_counts.duration_ns : UINT64_MAX;
	uint64_t next = every_ns ? begin + every_ns : UINT64_MAX;
	int result = 0;

	while (!result && !live_command_wait(&live->run, next < end ? next : end)) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= end)
			break;
		if (now < next)
			continue;
		result = live_interval(live);
		next += (now - next) / every_ns * every_ns + every_ns;
	}
	return result;
}

static int count_process(void *context, pid_t process)
{
	return kernel_counts_process(context, process);
}

static int live_count(struct live *live)
{
	int error = 0, result;

	if (!array_reserve_zeroed(live->intervals, live->room, 1))
		return live_failed(-ENOMEM);
	if (live->run.child && !live_counts.all)
		kernel_counts_command(&live->counts, live->run.child);
	if (!live_counts.all)
		error = each_process(&live_counts.processes, 2, count_process, &live->counts);
	if (error)
		cmd_note("burin: some tasks are not counted: %s\n", strerror(-error));
	kernel_counts_start(&live->counts);
	live->begin_ns = clock_ns(CLOCK_MONOTONIC);
	error = live_command_start(&live->run, true);
	if (error) {
		cmd_failed("%s: %s", live_counts.command[0], strerror(-error));
		return error == -ENOENT ? 127 : 126;
	}
	hist_live_begin(&live->hist, live->wanted->hist);
	result = live_follow(live);
	kernel_counts_stop(&live->counts);
	if (!result)
		error = live_next_interval(live);
	if (!result && !error)
		error = kernel_counts_each(&live->counts, live_add, live);
	if (error)
		result = live_failed(error);
	if (!result)
		result = live_print(live, live_last_seconds(live));
	hist_free(&live->hist);
	free(live->intervals);
	return live_command_status(&live->run) ?: result;
}

static int live_check(void)
{
	const unsigned chosen = live_counts.all + (live_counts.command != NULL);

	if (!live_counts.globs.count)
		return cmd_usage("give events: --kernel GLOB, such as -k 'syscalls:*'; burin events kernel "
				 "lists them");
	if (live_counts.command && !*live_counts.command)
		return cmd_usage("the command after -- is empty; give a program");
	if (!chosen && !live_counts.processes.count)
		return cmd_usage("say whose events: -- COMMAND, --pid PID, or --all");
	if (live_counts.processes.count && chosen)
		return cmd_usage("--pid: remove %s", live_counts.all ? "--all" : "the command");
	return 0;
}

static int live_open(struct live *live)
{
	const struct live_wanted *wanted = live->wanted;
	static const char *const none[] = { NULL };
	char why[KERNEL_WHY] = "";
	const int error = kernel_counts_open(
		&live->counts,
		&(struct kernel_counts_options){
			.globs = live_counts.globs.globs,
			.where = wanted->hist->where->list.count ? wanted->hist->where->list.globs : none,
			.field = wanted->times ? NULL : wanted->hist->field,
			.by = wanted->hist->by,
			.by_count = wanted->hist->by_count,
			.times = wanted->times,
			.all = live_counts.all,
			.slots = wanted->hist->every_ns,
			.rows = live_counts.rows },
		why);

	if (error)
		return cmd_usage("%s%s", error == -ENOENT ? "" : "no kernel events: ", why);
	if (live->counts.refused)
		cmd_note("burin: %u %s not counted, such as %s\n", live->counts.refused,
			 live->counts.refused == 1 ? "tracepoint of the kernel is"
						   : "tracepoints of the kernel are",
			 live->counts.refused_why);
	return 0;
}

int live_run(const struct live_wanted *wanted)
{
	static struct live live;
	int result = live_check(), error;

	if (result)
		return result;
	live = (struct live){ .wanted = wanted, .file = live_counts.command ? STDERR_FILENO : STDOUT_FILENO };
	if (live_counts.output) {
		live.file = cmd_create(live_counts.output, true);
		if (live.file < 0)
			return CMD_FAULTS;
	}
	wanted->report->color = wanted->report->form == TABLE_TEXT && cmd_color(live.file);
	error = live_command_begin(&live.run, live_counts.command, &live_counts.processes);
	if (error == -ESRCH)
		return cmd_usage("--pid: there is no such process");
	if (error)
		return cmd_failed("%s", strerror(-error));
	result = live_open(&live);
	if (result) {
		live_command_start(&live.run, false);
		return result;
	}
	result = live_count(&live);
	kernel_counts_close(&live.counts);
	return result;
}
