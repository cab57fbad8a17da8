/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where threads spent their time: running, waiting for a CPU, blocked, and in what; how long they waited for a CPU after a wake-up;
 * and who woke them. Times are nanoseconds, and the three add up to the time from the first record of a thread to its end.
 */
#ifndef BURIN_VIEW_SCHED_SCHED_REPORT_H
#define BURIN_VIEW_SCHED_SCHED_REPORT_H

#include "view/calls/call_rows.h"
#include "view/kernel/kernel_view.h"
#include "view/sched/sched_states.h"

/* A part of a row: what its threads were blocked in, or by whom they were woken. */
struct sched_part {
	uint32_t text;	/* string */
	uint32_t stack; /* string, of a part of that part; 0: it is the whole */
	uint64_t count, time;
};

struct sched_parts {
	struct sched_part *parts; /* the largest first */
	size_t count, room;
};

struct sched_row {
	struct call_row row; /* ns; ->self: running, ->total: all of it, ->durations: latencies of wake-ups */
	uint64_t threads;
	uint64_t time[SCHED_STATES];
	uint64_t runs, preempted; /* times on a CPU; and how often it left one without sleeping */
	struct sched_parts blocked, wakers;
	struct sched_parts blocked_stacks, waker_stacks; /* the same by stack, if the trace has it */
};

struct sched_report {
	const struct burin_trace *trace;
	struct view_strings strings;
	struct call_rows rows; /* struct sched_row */
	uint64_t threads, wall, time[SCHED_STATES];
	bool has_wakes;	 /* wake-ups are in the trace */
	bool has_stacks; /* stacks are */
	struct sched_missing missing;
};

/*
 * sched_report_make - @parts: 1 << enum view_part, of VIEW_TASK_PARTS
 * Context: allocates. Return: 0; -ENODATA: the trace has no switches; -ENOMEM.
 */
int sched_report_make(struct sched_report *report, const struct burin_trace *trace,
		      const struct view_profile_filter *filter, unsigned parts);
void sched_report_free(struct sched_report *report);

/* sched_report_print - rows in the form of the options; JSON is as docs/schema/report-sched.json. */
void sched_report_print(struct sched_report *report, const struct view_report *options,
			struct view_buffer *out);

#endif
