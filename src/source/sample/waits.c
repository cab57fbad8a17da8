/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Off-CPU time; see waits.h. */
#include "source/sample/scan.h"
#include "source/sample/waits.h"

static void mark_as_before(void *data, struct sample_task *task)
{
	(void)data;
	task->wait.state = SAMPLE_WAIT_BEFORE;
}

void waits_begin(struct waits *waits, struct tasks *tasks, waits_take *take, void *data, uint64_t time)
{
	*waits = (struct waits){ .tasks = tasks,
				 .take = take,
				 .data = data,
				 .begin = time,
				 .end = UINT64_MAX,
				 .last_gap = UINT64_MAX };
	tasks_each(tasks, mark_as_before, waits);
}

static bool is_looked_at(const struct waits *waits, const struct record *record)
{
	/* The idle task, and a thread that is too dead to have an id, wait for nothing. */
	return record->tid && record->tid != UINT32_MAX && record->time >= waits->begin &&
	       record->time <= waits->end;
}

/* A thread's wait is over. */
static void tell(struct waits *waits, struct sample_task *task, uint64_t end, unsigned cpu)
{
	const struct sample_wait *wait = &task->wait;
	struct waits_wait over = { .loss = (enum sample_loss)wait->loss,
				   .thread = task,
				   .place = { .task = wait->task, .stack = wait->stack, .ends = wait->ends },
				   .end = end,
				   .ns = end > wait->since ? end - wait->since : 0,
				   .cpu = cpu };

	if (over.loss == SAMPLE_KEPT && (wait->since < waits->gap || end > waits->last_gap))
		over.loss = SAMPLE_LOST_RING;
	waits->take(waits->data, &over);
}

/* Its end was not told, or not whether it was a wait: the kernel had no room for that. */
static void give_up(struct waits *waits, struct sample_task *task, uint64_t time)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state != SAMPLE_WAIT_BLOCKED && wait->state != SAMPLE_WAIT_STOPS)
		return;
	wait->loss = SAMPLE_LOST_RING;
	tell(waits, task, time, wait->cpu);
	wait->state = SAMPLE_WAIT_NONE;
}

void waits_stop(struct waits *waits, const struct record *record, enum sample_loss loss,
		const struct attributed *place)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!is_looked_at(waits, record) || !task || task->wait.state == SAMPLE_WAIT_ENDED)
		return;
	give_up(waits, task, record->time);
	task->wait = (struct sample_wait){
		.state = SAMPLE_WAIT_STOPS, .loss = loss, .since = record->time, .cpu = task->wait.cpu
	};
	if (!loss) {
		task->wait.task = place->task;
		task->wait.stack = place->stack;
		task->wait.ends = place->ends;
	}
}

static void stop(struct waits *waits, struct sample_task *task, const struct record *record, unsigned cpu)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state != SAMPLE_WAIT_STOPS) {
		give_up(waits, task, record->time);
		*wait = (struct sample_wait){ .stack = 0 };
	}
	wait->state = record->preempted ? SAMPLE_WAIT_PREEMPTED : SAMPLE_WAIT_BLOCKED;
	wait->since = record->time;
	wait->cpu = cpu;
}

static void go_on(struct waits *waits, struct sample_task *task, const struct record *record, unsigned cpu)
{
	struct sample_wait *wait = &task->wait;

	if (wait->state == SAMPLE_WAIT_BLOCKED) {
		tell(waits, task, record->time, cpu);
	} else if (wait->state == SAMPLE_WAIT_PREEMPTED && wait->since >= waits->gap) {
		waits->preempted++;
		waits->preempted_ns += record->time - wait->since;
	} else if (wait->state == SAMPLE_WAIT_BEFORE) {
		waits->before++;
	} else {
		give_up(waits, task, record->time);
	}
	wait->state = SAMPLE_WAIT_NONE;
}

/* Nobody knows the thread. It is counted when it stops. */
static void stop_of_unknown(struct waits *waits, const struct record *record, unsigned cpu)
{
	if (record->out && !record->preempted)
		waits->take(waits->data, &(struct waits_wait){
						 .loss = SAMPLE_LOST_TASK, .end = record->time, .cpu = cpu });
}

void waits_switch(struct waits *waits, const struct record *record, unsigned cpu)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!is_looked_at(waits, record))
		return;
	if (!task)
		stop_of_unknown(waits, record, cpu);
	else if (task->wait.state == SAMPLE_WAIT_ENDED)
		return;
	else if (record->out)
		stop(waits, task, record, cpu);
	else
		go_on(waits, task, record, cpu);
}

void waits_exit(struct waits *waits, const struct record *record)
{
	struct sample_task *task = tasks_find(waits->tasks, record->tid);

	if (!task)
		return;
	give_up(waits, task, record->time);
	task->wait.state = SAMPLE_WAIT_ENDED;
}

void waits_gap(struct waits *waits, uint64_t until)
{
	if (until > waits->gap)
		waits->gap = until;
}

void waits_gap_at_end(struct waits *waits, uint64_t from)
{
	if (from < waits->last_gap)
		waits->last_gap = from;
}

static void end_of(void *data, struct sample_task *task)
{
	struct waits *waits = data;

	if (task->wait.state == SAMPLE_WAIT_BLOCKED)
		tell(waits, task, waits->end, task->wait.cpu);
	else if (task->wait.state == SAMPLE_WAIT_BEFORE)
		waits->before += scan_stopped(task->process->pid, task->tid);
	task->wait.state = SAMPLE_WAIT_NONE;
}

void waits_end(struct waits *waits)
{
	tasks_each(waits->tasks, end_of, waits);
}
