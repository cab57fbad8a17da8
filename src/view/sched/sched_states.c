/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The states of threads; see sched_states.h.
 *
 *	record               state before          the interval that ends    state then
 *	a switch to it       runnable              runnable                  running
 *	                     blocked               blocked; runnable if `early` is set
 *	                     running               running, and a switch is missing
 *	a switch away        running               running                   blocked; runnable if preempted
 *	                     runnable, blocked     first as by a switch to it, and a switch is missing
 *	a wake-up            blocked               blocked                   runnable
 *	                     running               (none: `early` is set)    running
 *	                     runnable              (none)                    runnable
 *	a record of its own  running               (none)                    running
 *	the same, sure       runnable, blocked     as by a switch to it, and a switch is missing
 *
 * From an unknown state the same states follow, without an interval. A fork makes its child runnable.
 *
 * sched_states_change() ends an interval and begins the next one at the same time. So the intervals of a thread have no gaps, and
 * their sum is its whole time, whatever is missing. Intervals of no length are not passed on.
 *
 * `early`: the waker runs on another CPU than the thread that is on its way to sleep, so its record may come first.
 * If the thread runs again without another wake-up, that one has ended its sleep, and the time between counts as
 * runnable. If the switch shows a preemption, the thread did not go to sleep, and the note is void.
 *
 * A thread id names one thread after another. A slot leads from the id to the last of them. Indexes stay, and
 * intervals and wakers refer to threads by them. A switch of a thread that has ended is one of its successor
 * (find_alive()). A wake-up or another record may be late, so it is ignored then.
 *
 * A trace may have any content. A CPU's number is bounded before it becomes an index; thread ids are only keys. Times
 * do not decrease, since the cursor merges streams by time; they may be equal.
 */
#include "view/sched/sched_states.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"

/* ---- threads */

static size_t sched_states_add_thread(struct sched *sched, uint32_t tid, uint64_t time)
{
	if (sched->count >= UINT32_MAX - 1 || !array_reserve(sched->threads, sched->room, sched->count + 1))
		return SIZE_MAX;
	sched->threads[sched->count] = (struct sched_thread){ .tid = tid,
							      .state = SCHED_UNKNOWN,
							      .since = time,
							      .begin = time,
							      .end = time,
							      .cpu = SCHED_NO_CPU };
	return sched->count++;
}

static struct sched_slot *find_slot(struct sched *sched, uint32_t tid, uint64_t time)
{
	const uint64_t hash = hash_pair(tid, 1);
	uint32_t number;
	size_t thread;

	for (size_t at = 0; (number = hash_table_next(&sched->numbers, hash, &at));)
		if (sched->slots[number - 1].tid == tid)
			return &sched->slots[number - 1];
	if (!array_reserve(sched->slots, sched->slot_room, sched->slot_count + 1) ||
	    !hash_table_reserve(&sched->numbers))
		return NULL;
	thread = sched_states_add_thread(sched, tid, time);
	if (thread == SIZE_MAX)
		return NULL;
	sched->slots[sched->slot_count++] = (struct sched_slot){ tid, (uint32_t)thread };
	hash_table_add(&sched->numbers, hash, (uint32_t)sched->slot_count);
	return &sched->slots[sched->slot_count - 1];
}

size_t sched_find(struct sched *sched, uint32_t tid, uint64_t time)
{
	const struct sched_slot *slot = find_slot(sched, tid, time);

	return slot ? slot->thread : SIZE_MAX;
}

/* The thread of an id for a record that a thread which has ended cannot have. */
static size_t find_alive(struct sched *sched, uint32_t tid, uint64_t time)
{
	struct sched_slot *slot = find_slot(sched, tid, time);
	size_t thread;

	if (!slot)
		return SIZE_MAX;
	if (sched->threads[slot->thread].ended) {
		thread = sched_states_add_thread(sched, tid, time);
		if (thread == SIZE_MAX)
			return SIZE_MAX;
		slot->thread = (uint32_t)thread;
	}
	return slot->thread;
}

/* ---- states */

/* The CPU of an interval: where a thread runs, or will run in a moment. */
static uint32_t cpu_of(const struct sched *sched, const struct sched_thread *thread, enum sched_state as)
{
	return as == SCHED_RUNNING ? thread->cpu : as == SCHED_RUNNABLE ? sched->at_cpu - 1 : SCHED_NO_CPU;
}

/* Close the thread's interval, as one of @as, and begin the next one. */
static int sched_states_change(struct sched *sched, size_t number, uint64_t time, enum sched_state as,
			       uint32_t waker, enum sched_state next)
{
	struct sched_thread *thread = &sched->threads[number];
	const struct sched_interval interval = { .thread = (uint32_t)number,
						 .state = as,
						 .begin = thread->since,
						 .end = time,
						 .what = as == SCHED_BLOCKED ? thread->what : 0,
						 .stack = thread->stack,
						 .waker = waker,
						 .cpu = cpu_of(sched, thread, as),
						 .unseen = thread->unseen };
	const bool known = thread->state != SCHED_UNKNOWN && time > thread->since;

	if (thread->state == SCHED_UNKNOWN)
		thread->begin = time;
	thread->state = next;
	thread->since = thread->end = time;
	thread->unseen = false;
	return known ? sched->closed(sched->data, &interval) : 0;
}

/*
 * A thread that runs was put on its CPU by now. @missing: by a switch that is missing
 *
 * Two cases count as a missing switch: a thread runs that was not put on a CPU, or one is put on a CPU while it runs.
 * In the second one its run is closed and begins again, so the sum stays right. A wait that ends here without `early`
 * had a wake-up that is not in the trace.
 */
static int sched_states_run(struct sched *sched, size_t number, uint64_t time, bool missing)
{
	struct sched_thread *thread = &sched->threads[number];
	enum sched_state as = thread->state;
	uint32_t waker = as == SCHED_RUNNABLE ? thread->waker : 0;
	int error;

	/* A wake-up before the switch: the thread never slept. */
	if (as == SCHED_BLOCKED && thread->early) {
		as = SCHED_RUNNABLE;
		waker = thread->early;
	}
	/* One that is put on a CPU while it runs has left another one. */
	thread->missing += as != SCHED_UNKNOWN && missing != (as == SCHED_RUNNING);
	thread->missing_wakes += as == SCHED_BLOCKED;
	error = sched_states_change(sched, number, time, as, waker, SCHED_RUNNING);
	thread->cpu = SCHED_NO_CPU;
	thread->early = thread->waker = 0;
	return error;
}

/*
 * A thread leaves its CPU. If it did not run as far as is known, it was put there by a switch that is missing: it ran
 * for no time, up to now. `early` stays if it goes to sleep, since a wake-up that was noted while it ran may be for
 * this sleep.
 */
static int sched_states_leave(struct sched *sched, size_t number, uint64_t time, enum sched_leave how,
			      uint32_t what)
{
	struct sched_thread *thread = &sched->threads[number];
	int error = thread->state == SCHED_RUNNING || thread->state == SCHED_UNKNOWN
			    ? 0
			    : sched_states_run(sched, number, time, true);

	if (error)
		return error;
	error = sched_states_change(sched, number, time, SCHED_RUNNING, 0,
				    how == SCHED_PREEMPTED ? SCHED_RUNNABLE : SCHED_BLOCKED);
	thread = &sched->threads[number];
	thread->what = what;
	thread->waker = 0;
	if (how == SCHED_PREEMPTED)
		thread->early = 0;
	thread->ended = how == SCHED_DIES;
	return error;
}

/* Of two threads that switched at least one is recorded, and no idle task is. */
static void note_recorded(struct sched *sched, size_t prev, size_t next)
{
	struct sched_thread *one = &sched->threads[prev], *other = &sched->threads[next];

	one->switches++;
	other->switches++;
	one->recorded |= !other->tid && one->tid;
	other->recorded |= !one->tid && other->tid;
	if (!one->recorded && !other->recorded) {
		one->partner = (uint32_t)next + 1;
		other->partner = (uint32_t)prev + 1;
	}
}

/* The thread that was put on this CPU, if it is not the one that leaves it now: it has left, and sleeps as far as is known. */
static int leave_unseen(struct sched *sched, uint64_t time, uint32_t cpu, size_t prev)
{
	const size_t last = sched->running[cpu] - (size_t)1;
	struct sched_thread *thread;

	if (!sched->running[cpu] || last == prev)
		return 0;
	thread = &sched->threads[last];
	if (thread->cpu != cpu || thread->state != SCHED_RUNNING)
		return 0;
	thread->missing++;
	thread->unseen = true;
	return sched_states_leave(sched, last, time, SCHED_SLEEPS, sched->unseen);
}

/*
 * Note who runs on a CPU. The number comes from the trace and becomes an index: SCHED_CPUS_MAX bounds what a forged
 * one costs. Idle tasks are not noted, since one id stands for all of them.
 */
static int put_on(struct sched *sched, uint64_t time, uint32_t cpu, size_t prev, size_t next)
{
	int error;

	if (cpu >= SCHED_CPUS_MAX)
		return 0;
	if (!array_reserve_zeroed(sched->running, sched->cpu_room, cpu + 1))
		return -ENOMEM;
	error = leave_unseen(sched, time, cpu, prev);
	sched->running[cpu] = sched->threads[next].tid ? (uint32_t)next + 1 : 0;
	sched->threads[next].cpu = cpu;
	return error;
}

int sched_take_switch(struct sched *sched, uint64_t time, const struct sched_switch *record)
{
	const size_t prev = find_alive(sched, record->prev, time),
		     next = find_alive(sched, record->next, time);
	int error = 0;

	if (prev == SIZE_MAX || next == SIZE_MAX)
		return -ENOMEM;
	if (prev == next)
		return 0;
	note_recorded(sched, prev, next);
	sched->at_cpu = record->cpu + 1;
	if (record->prev)
		error = sched_states_leave(sched, prev, time, record->leave, record->what);
	if (record->next && !error)
		error = sched_states_run(sched, next, time, false);
	sched->at_cpu = 0;
	return error ? error : put_on(sched, time, record->cpu, prev, next);
}

int sched_take_wake(struct sched *sched, uint64_t time, uint32_t tid, uint32_t by, bool interrupt)
{
	const size_t number = sched_find(sched, tid, time),
		     waker = sched_find(sched, interrupt ? 0 : by, time);
	struct sched_thread *thread;
	int error;

	if (number == SIZE_MAX || waker == SIZE_MAX)
		return -ENOMEM;
	thread = &sched->threads[number];
	if (!tid || thread->ended)
		return 0;
	thread->recorded |= !by; /* an idle task is not recorded, so the other one is */
	if (thread->state == SCHED_RUNNING)
		thread->early = (uint32_t)waker + 1;
	if (thread->state != SCHED_BLOCKED && thread->state != SCHED_UNKNOWN)
		return 0;
	error = sched_states_change(sched, number, time, SCHED_BLOCKED, (uint32_t)waker + 1, SCHED_RUNNABLE);
	thread = &sched->threads[number];
	thread->waker = (uint32_t)waker + 1;
	thread->early = 0;
	return error;
}

int sched_take_fork(struct sched *sched, uint64_t time, uint32_t parent, uint32_t child)
{
	struct sched_slot *slot = find_slot(sched, child, time);
	size_t number, by;
	int error = 0;

	if (!slot || !child)
		return slot ? 0 : -ENOMEM;
	number = slot->thread;
	if (sched->threads[number].state != SCHED_UNKNOWN) { /* the id is used again */
		if (!sched->threads[number].ended)
			error = sched_states_change(sched, number, time, sched->threads[number].state, 0,
						    SCHED_BLOCKED);
		sched->threads[number].ended = true;
		number = sched_states_add_thread(sched, child, time);
		if (number == SIZE_MAX)
			return -ENOMEM;
		slot->thread = (uint32_t)number;
	}
	by = sched_find(sched, parent, time);
	if (by == SIZE_MAX)
		return -ENOMEM;
	sched->threads[by].recorded |= parent != 0;
	sched->threads[number].recorded = true;
	sched->threads[number].begin = sched->threads[number].since = time;
	sched->threads[number].state = SCHED_RUNNABLE;
	sched->threads[number].waker = (uint32_t)by + 1;
	return error;
}

/*
 * A record of a thread that has ended is late, by its own way out: it says nothing. If it is not sure, a known state
 * stays: the record may be one of the switch by which the thread leaves, or comes.
 */
int sched_take_other(struct sched *sched, uint64_t time, uint32_t tid, bool sure)
{
	const size_t number = sched_find(sched, tid, time);
	struct sched_thread *thread;

	if (number == SIZE_MAX)
		return -ENOMEM;
	thread = &sched->threads[number];
	if (!tid || thread->ended)
		return 0;
	thread->recorded = true;
	if (thread->state == SCHED_UNKNOWN || (sure && thread->state != SCHED_RUNNING))
		return sched_states_run(sched, number, time, true);
	return 0;
}

int sched_take_exit(struct sched *sched, uint64_t time, uint32_t tid)
{
	const int error = sched_take_other(sched, time, tid, true);
	const size_t number = error ? SIZE_MAX : sched_find(sched, tid, time);

	if (number != SIZE_MAX)
		sched->threads[number].exits = true;
	return error;
}

/*
 * This record is made at the end, about a time from its begin on. If any other record has shown a state, that one is
 * right, and more exact.
 */
int sched_take_asleep(struct sched *sched, uint64_t begin, uint32_t tid, uint32_t what, uint32_t stack)
{
	const size_t number = sched_find(sched, tid, begin);
	struct sched_thread *thread;

	if (number == SIZE_MAX)
		return -ENOMEM;
	thread = &sched->threads[number];
	if (!tid || thread->ended || thread->state != SCHED_UNKNOWN)
		return 0;
	thread->recorded = true;
	thread->begin = thread->since = thread->end = begin;
	thread->state = SCHED_BLOCKED;
	thread->what = what;
	thread->stack = stack;
	return 0;
}

int sched_finish(struct sched *sched, uint64_t time)
{
	int error = 0;

	for (size_t n = 0; n < sched->count && !error; n++)
		if (!sched->threads[n].ended && sched->threads[n].state != SCHED_UNKNOWN)
			error = sched_states_change(
				sched, n, time, sched->threads[n].state,
				sched->threads[n].state == SCHED_RUNNABLE ? sched->threads[n].waker : 0,
				sched->threads[n].state);
	return error;
}

static bool sched_states_lives(const struct sched *sched, uint32_t tid)
{
	for (size_t n = 0; n < sched->living_count; n++)
		if (tid >= sched->living[n].first && tid <= sched->living[n].last)
			return true;
	return false;
}

/*
 * Of a thread that only met recorded ones, some switches are in the trace: those with them. Its states would be wrong
 * between these, so it has no row. The signs are asked in the order of how sure they are: a record of its own, the
 * list of threads that lived at the end, the number of switches.
 */
bool sched_recorded(const struct sched *sched, size_t number)
{
	const struct sched_thread *thread = &sched->threads[number], *partner;

	if (!thread->tid || thread->recorded || sched->all)
		return thread->tid;
	if (sched->living && !thread->ended)
		return sched_states_lives(sched, thread->tid);
	if (!thread->partner)
		return false;
	/* One of the two is recorded: all switches of this one are in the trace, so it has more. */
	partner = &sched->threads[thread->partner - 1];
	return !partner->recorded && thread->switches >= partner->switches;
}

struct sched_missing sched_missing(const struct sched *sched, bool wakes)
{
	struct sched_missing missing = { 0 };

	for (size_t n = 0; n < sched->count; n++)
		if (sched_recorded(sched, n)) {
			missing.switches += sched->threads[n].missing;
			missing.wakes += wakes ? sched->threads[n].missing_wakes : 0;
		}
	return missing;
}

void sched_free(struct sched *sched)
{
	free(sched->running);
	sched->running = NULL;
	free(sched->threads);
	free(sched->living);
	sched->living = NULL;
	sched->living_count = 0;
	free(sched->slots);
	hash_table_free(&sched->numbers);
	sched->threads = NULL;
	sched->slots = NULL;
}
