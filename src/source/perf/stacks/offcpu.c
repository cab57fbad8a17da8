/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Off-CPU time; see offcpu.h.
 *
 * Each thread is in one of these states (task->wait.state). Only the sampler's thread changes them, by
 * records that are in order of time:
 *
 *	BEFORE		it existed when the recording began; its first switch decides. If ->stack is known, it slept in it at ->since
 *	NONE		it runs, or has not run yet
 *	STOPS		its stack at a stop is known, its switch is not
 *	BLOCKED		it is switched out and waits
 *	PREEMPTED	it is switched out and could run
 *	ENDED		it has exited; records that come later are ignored
 *
 *	NONE ---offcpu_stop()--> STOPS ---out--> BLOCKED or PREEMPTED ---in--> NONE
 *
 * Stacks and switches come from two rings, and either may lose records. A switch without a stop makes a wait
 * without a stack. A stop without a switch, or a second stop, means that a switch was lost: offcpu_give_up()
 * counts the wait as lost. After a gap (LOST), waits that began before it may have ended in it, so they are
 * lost too (->gap, ->last_gap).
 *
 * A wake-up is a sample of the waker. It usually comes while the thread is BLOCKED. If the thread was about
 * to sleep it comes just before the switch: then it is kept as ->early, and counts if the switch follows
 * within OFFCPU_EARLY_NS.
 */
#include "source/perf/tasks/proc_scan.h"
#include "source/perf/stacks/offcpu.h"

enum {
	OFFCPU_EARLY_NS = 100000, /* between a wake-up and the switch of a thread that was about to sleep */
};

static void mark_as_before(void *data, struct sample_task *task)
{
	(void)data;
	task->wait.state = SAMPLE_WAIT_BEFORE;
}

void offcpu_begin(struct offcpu *waits, struct tasks *tasks, offcpu_take *take, void *data, uint64_t time)
{
	*waits = (struct offcpu){ .tasks = tasks,
				  .take = take,
				  .data = data,
				  .begin = time,
				  .end = UINT64_MAX,
				  .last_gap = UINT64_MAX };
	tasks_each(tasks, mark_as_before, waits);
}

static bool is_relevant(const struct offcpu *waits, const struct record *record)
{
	/* The idle task never waits, nor does a dead thread that has no id any more. */
	return record->tid && record->tid != UINT32_MAX && record->time >= waits->begin &&
	       record->time <= waits->end;
}

/* A thread's wait has ended. */
static void offcpu_report(struct offcpu *waits, struct sample_task *task, uint64_t end, unsigned cpu)
{
	const struct sample_wait *wait = &task->wait;
	struct offcpu_wait ended = {
		.loss = (enum wire_sample)wait->loss,
		.thread = task,
		.context = { .task = wait->task, .stack = wait->stack, .ends = wait->ends },
		.end = end,
		.ns = end > wait->since ? end - wait->since : 0,
		.cpu = cpu
	};

	if (ended.loss == WIRE_SAMPLE_KEPT && (wait->since < waits->gap || end > waits->last_gap))
		ended.loss = WIRE_SAMPLE_RING;
	waits->take(waits->data, &ended);
}

/* The kernel had no room for the switch that ends the wait, or for the one that begins it: the wait is lost. */
static void offcpu_give_up(struct offcpu *waits, struct sample_task *task, uint64_t time)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state != SAMPLE_WAIT_BLOCKED && wait->state != SAMPLE_WAIT_STOPS)
		return;
	wait->loss = WIRE_SAMPLE_RING;
	offcpu_report(waits, task, time, wait->cpu);
	wait->state = SAMPLE_WAIT_NONE;
}

void offcpu_asleep(struct offcpu *waits, struct sample_task *task, uint64_t time,
		   const struct attributed *context)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state != SAMPLE_WAIT_BEFORE || time < waits->begin)
		return;
	*wait = (struct sample_wait){ .state = SAMPLE_WAIT_BEFORE,
				      .since = time,
				      .task = context->task,
				      .stack = context->stack,
				      .ends = context->ends };
}

/* A thread that was there before resumes, or the recording ends. If it slept at ->since, and did not run before, it had slept from the begin on. */
static void offcpu_report_before(struct offcpu *waits, struct sample_task *task, uint64_t end, unsigned cpu)
{
	if (!task->wait.stack || end < task->wait.since) {
		waits->before++;
		return;
	}
	task->wait.since = waits->begin;
	offcpu_report(waits, task, end, cpu);
}

void offcpu_stop(struct offcpu *waits, const struct record *record, enum wire_sample loss,
		 const struct attributed *context)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!is_relevant(waits, record) || !task || task->wait.state == SAMPLE_WAIT_ENDED)
		return;
	offcpu_give_up(waits, task, record->time);
	task->wait = (struct sample_wait){
		.state = SAMPLE_WAIT_STOPS, .loss = loss, .since = record->time, .cpu = task->wait.cpu
	};
	if (!loss) {
		task->wait.task = context->task;
		task->wait.stack = context->stack;
		task->wait.ends = context->ends;
	}
}

struct sample_task *offcpu_sleeper(struct offcpu *waits, uint32_t tid, uint64_t time)
{
	struct sample_task *task = tasks_find(waits->tasks, tid);

	if (!waits->take_waker || !tid || !task || time < waits->begin || time > waits->end)
		return NULL;
	switch (task->wait.state) {
	case SAMPLE_WAIT_NONE:
	case SAMPLE_WAIT_STOPS:
		return task;
	case SAMPLE_WAIT_BLOCKED:
		return task->wait.woken ? NULL : task;
	default:
		return NULL;
	}
}

void offcpu_wake(struct offcpu *waits, struct sample_task *sleeper, const struct offcpu_waker *waker)
{
	struct offcpu_waker known = *waker;

	if (sleeper->wait.state != SAMPLE_WAIT_BLOCKED) {
		sleeper->early = (struct sample_wake){ .time = waker->time,
						       .loss = waker->loss,
						       .tid = waker->context.tid,
						       .task = waker->context.task,
						       .stack = waker->context.stack,
						       .ends = waker->context.ends,
						       .cpu = waker->cpu };
		return;
	}
	sleeper->wait.woken = true;
	known.woken = sleeper->tid;
	known.ns = waker->time > sleeper->wait.since ? waker->time - sleeper->wait.since : 0;
	waits->take_waker(waits->data, &known);
}

/* A thread has fallen asleep, and was woken already. */
static void take_early(struct offcpu *waits, struct sample_task *task, uint64_t time)
{
	const struct sample_wake *early = &task->early;
	const struct offcpu_waker waker = { .loss = (enum wire_sample)early->loss,
					    .context = { .task = early->task,
							 .stack = early->stack,
							 .tid = early->tid,
							 .ends = early->ends },
					    .time = time,
					    .cpu = early->cpu };

	if (early->time && time - early->time < OFFCPU_EARLY_NS && task->wait.state == SAMPLE_WAIT_BLOCKED)
		offcpu_wake(waits, task, &waker);
	task->early.time = 0;
}

static void offcpu_leave_cpu(struct offcpu *waits, struct sample_task *task, const struct record *record,
			     unsigned cpu)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state != SAMPLE_WAIT_STOPS) {
		offcpu_give_up(waits, task, record->time);
		*wait = (struct sample_wait){ .stack = 0 };
	}
	wait->state = record->preempted ? SAMPLE_WAIT_PREEMPTED : SAMPLE_WAIT_BLOCKED;
	wait->since = record->time;
	wait->cpu = cpu;
	wait->woken = false;
	take_early(waits, task, record->time);
}

static void offcpu_resume(struct offcpu *waits, struct sample_task *task, const struct record *record,
			  unsigned cpu)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state == SAMPLE_WAIT_BLOCKED) {
		offcpu_report(waits, task, record->time, cpu);
	} else if (wait->state == SAMPLE_WAIT_PREEMPTED && wait->since >= waits->gap) {
		waits->preempted++;
		waits->preempted_ns += record->time - wait->since;
	} else if (wait->state == SAMPLE_WAIT_BEFORE) {
		offcpu_report_before(waits, task, record->time, cpu);
	} else {
		offcpu_give_up(waits, task, record->time);
	}
	wait->state = SAMPLE_WAIT_NONE;
}

/* The thread is unknown: its wait is counted as lost when it stops. */
static void stop_of_unknown(struct offcpu *waits, const struct record *record, unsigned cpu)
{
	if (record->out && !record->preempted)
		waits->take(waits->data, &(struct offcpu_wait){
						 .loss = WIRE_SAMPLE_TASK, .end = record->time, .cpu = cpu });
}

void offcpu_switch(struct offcpu *waits, const struct record *record, unsigned cpu)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!is_relevant(waits, record))
		return;
	if (!task)
		stop_of_unknown(waits, record, cpu);
	else if (task->wait.state == SAMPLE_WAIT_ENDED)
		return;
	else if (record->out)
		offcpu_leave_cpu(waits, task, record, cpu);
	else
		offcpu_resume(waits, task, record, cpu);
}

void offcpu_exit(struct offcpu *waits, const struct record *record)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!task)
		return;
	offcpu_give_up(waits, task, record->time);
	task->wait.state = SAMPLE_WAIT_ENDED;
}

void offcpu_gap(struct offcpu *waits, uint64_t until)
{
	if (until > waits->gap)
		waits->gap = until;
}

void offcpu_gap_at_end(struct offcpu *waits, uint64_t from)
{
	if (from < waits->last_gap)
		waits->last_gap = from;
}

static void end_wait(void *data, struct sample_task *task)
{
	struct offcpu *waits = data;

	if (task->wait.state == SAMPLE_WAIT_BLOCKED)
		offcpu_report(waits, task, waits->end, task->wait.cpu);
	else if (task->wait.state == SAMPLE_WAIT_BEFORE &&
		 (task->wait.stack || scan_is_blocked(task->process->pid, task->tid)))
		offcpu_report_before(waits, task, waits->end, task->wait.cpu);
	task->wait.state = SAMPLE_WAIT_NONE;
}

void offcpu_end(struct offcpu *waits)
{
	tasks_each(waits->tasks, end_wait, waits);
}
