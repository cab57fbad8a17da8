/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Off-CPU time: how long threads were blocked, and where.
 *
 * Of a thread that stops the kernel tells twice: where, with a sample of its stack; and whether it could have gone on (it was
 * preempted) or not. When it goes on, the kernel tells again. The stack and the time between make a wait. It is over when
 * the thread runs again, not when something wakes it: what it spends in the queue of a CPU is part of it.
 *
 * A stack that was lost leaves a wait without one: how long each thread waited is known all the same. A wait that is open
 * when the recording ends lasts up to there. One that was open when the recording began has no stack
 * that anybody knows: it is only counted. Preemptions are no waits: they are counted, with their time.
 *
 * What is known lies in the tasks, so memory is bound by the number of threads.
 */
#ifndef BURIN_SOURCE_SAMPLE_WAITS_H
#define BURIN_SOURCE_SAMPLE_WAITS_H

#include "source/sample/attribute.h"

struct waits_wait {
	enum sample_loss loss;	    /* if there is one, why the wait cannot be told */
	struct sample_task *thread; /* NULL: nobody knows it */
	struct attributed place;    /* ->stack 0: the kernel had no room for its stack */
	uint64_t end, ns; /* when the thread went on, as the kernel has it; for how long it had stopped */
	unsigned cpu;	  /* on which it went on */
};

typedef void waits_take(void *data, const struct waits_wait *wait);

struct waits {
	struct tasks *tasks;
	waits_take *take;
	void *data;
	uint64_t begin, end; /* only what the kernel tells of the time between is looked at */
	uint64_t gap;	     /* up to here switches may be missing; 0: none is */
	uint64_t last_gap;   /* from here on to the end; UINT64_MAX: none is */
	uint64_t preempted, preempted_ns;
	uint64_t before; /* threads that had stopped when the recording began */
};

/*
 * waits_begin - begin, with the tasks that are known by now.
 * @take: called for each wait that is over
 * @time: the present; all times here are as the kernel has them
 */
void waits_begin(struct waits *waits, struct tasks *tasks, waits_take *take, void *data, uint64_t time);

/* waits_stop - where a thread stops. @loss: if there is one, why @place is not known */
void waits_stop(struct waits *waits, const struct record *record, enum sample_loss loss,
		const struct attributed *place);

/* waits_switch - that a thread stops, or goes on. @cpu: on which */
void waits_switch(struct waits *waits, const struct record *record, unsigned cpu);

/* waits_exit - a thread ends. */
void waits_exit(struct waits *waits, const struct record *record);

/* waits_gap - switches are missing. What began before the end of the gap may have had its end in it. */
void waits_gap(struct waits *waits, uint64_t until);

/* waits_gap_at_end - switches are missing from then on; nothing came behind. */
void waits_gap_at_end(struct waits *waits, uint64_t from);

/* waits_end - what is open is over, at ->end. */
void waits_end(struct waits *waits);

#endif
