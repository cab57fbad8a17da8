/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Off-CPU time: how long threads were blocked, and where.
 *
 * When a thread stops, the kernel writes two records: a sample of its stack, and a switch, which says whether it was
 * preempted. When the thread resumes, the kernel writes another switch. The stack and the time between make a wait. It ends
 * when the thread runs again, not when it is woken: the time in a CPU's run queue is a part of it.
 *
 * If a stack was lost, the wait has none, but its length is known. A wait that is open when the recording ends lasts until
 * then. One that was open when the recording began has no stack of the kernel's: the caller may know it (offcpu_asleep()), otherwise the wait is only
 * counted. A preemption is not a wait: preemptions are counted, with their time.
 *
 * Wake-ups are samples of the waker. One belongs to the wait of the thread that it wakes. It may be recorded just before that thread's
 * switch.
 *
 * The state is stored in the tasks, so memory is bounded by the number of threads.
 */
#ifndef BURIN_SOURCE_PERF_STACKS_OFFCPU_H
#define BURIN_SOURCE_PERF_STACKS_OFFCPU_H

#include "source/perf/stacks/attribute.h"

struct offcpu_wait {
	enum wire_sample loss;	    /* why the wait is lost; WIRE_SAMPLE_KEPT: it is not */
	struct sample_task *thread; /* NULL: unknown */
	struct attributed context;  /* ->stack 0: the kernel had no room for its stack */
	uint64_t end, ns; /* when the thread resumed, in the kernel's clock; how long it had stopped */
	unsigned cpu;	  /* on which it resumed */
};

typedef void offcpu_take(void *data, const struct offcpu_wait *wait);

struct offcpu_waker {
	enum wire_sample loss;	   /* why it is lost; WIRE_SAMPLE_KEPT: it is not */
	uint32_t woken;		   /* the thread's id */
	struct attributed context; /* of the waker */
	uint64_t time, ns;	   /* of the wake-up; how long the thread had been blocked */
	unsigned cpu;		   /* of the waker */
};

typedef void offcpu_take_waker(void *data, const struct offcpu_waker *waker);

struct offcpu {
	struct tasks *tasks;
	offcpu_take *take;
	offcpu_take_waker *take_waker; /* set it after offcpu_begin(); NULL: wake-ups are not recorded */
	void *data;
	uint64_t begin, end; /* switches at other times are ignored */
	uint64_t gap;	     /* switches may be missing until then; 0: none is */
	uint64_t last_gap;   /* the same from then on; UINT64_MAX: none is */
	uint64_t preempted, preempted_ns;
	uint64_t before; /* threads that were blocked when the recording began, with an unknown stack */
};

/*
 * offcpu_begin - begin, with the tasks that are known so far.
 * @take: called for each wait that has ended
 * @time: now; all times here are in the kernel's clock
 */
void offcpu_begin(struct offcpu *waits, struct tasks *tasks, offcpu_take *take, void *data, uint64_t time);

/*
 * offcpu_asleep - a thread sleeps at this time with this stack. If it has not run since offcpu_begin(), its wait began then.
 * Call it before any switch is processed, also one that is earlier.
 */
void offcpu_asleep(struct offcpu *waits, struct sample_task *task, uint64_t time,
		   const struct attributed *context);

/* offcpu_stop - the stack of a thread that stops. @loss: why @context is unknown, or WIRE_SAMPLE_KEPT */
void offcpu_stop(struct offcpu *waits, const struct record *record, enum wire_sample loss,
		 const struct attributed *context);

/* offcpu_sleeper - the thread that a wake-up at this time wakes. Return: NULL: none whose wait is recorded. */
struct sample_task *offcpu_sleeper(struct offcpu *waits, uint32_t tid, uint64_t time);

/*
 * offcpu_wake - that thread is woken.
 * @waker: without ->woken and ->ns
 */
void offcpu_wake(struct offcpu *waits, struct sample_task *sleeper, const struct offcpu_waker *waker);

/* offcpu_switch - a thread stops or resumes on @cpu. */
void offcpu_switch(struct offcpu *waits, const struct record *record, unsigned cpu);

/* offcpu_exit - a thread ends. */
void offcpu_exit(struct offcpu *waits, const struct record *record);

/* offcpu_gap - switches are missing. A wait that began before the gap's end may have ended in it. */
void offcpu_gap(struct offcpu *waits, uint64_t until);

/* offcpu_gap_at_end - all switches from then on are missing. */
void offcpu_gap_at_end(struct offcpu *waits, uint64_t from);

/* offcpu_end - open waits end at ->end. */
void offcpu_end(struct offcpu *waits);

#endif
