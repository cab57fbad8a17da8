/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The states of threads, from switches and wake-ups: at each moment between its first and its last record a thread runs, waits for a CPU,
 * or is blocked. So the three add up to its whole time, whatever records are missing. The module knows nothing of traces; times are any
 * numbers that do not decrease.
 *
 * A wake-up may be recorded before the switch of the thread that it wakes, which is then still on its way to sleep. It counts if
 * the thread runs again without another one.
 *
 * Kernels leave out switches and wake-ups, and do not count them: those of tasks that they hide, and wake-ups by their own tracing. A thread
 * that leaves a CPU on which it was not put, or a CPU that another thread leaves, shows that a switch is missing; a wait that ends by itself
 * shows that a wake-up is.
 */
#ifndef BURIN_VIEW_SCHED_SCHED_STATES_H
#define BURIN_VIEW_SCHED_SCHED_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_table.h"

enum sched_state {
	SCHED_RUNNING,
	SCHED_RUNNABLE, /* it waits for a CPU */
	SCHED_BLOCKED,
	SCHED_STATES,
	SCHED_UNKNOWN = SCHED_STATES,
};

/* A thread; if its id is used again, the next thread is another one. */
struct sched_thread {
	uint32_t tid;
	enum sched_state state;
	uint64_t since;	     /* when this state began */
	uint64_t begin, end; /* of what is known */
	uint32_t what;	     /* that it is blocked in; the user's */
	uint32_t stack;	     /* of a thread that only sleeps: where; the user's; 0: unknown */
	uint32_t waker;	     /* runnable: the index of the thread that woke it, and 1; 0: it was not woken */
	uint32_t early;	     /* running: the same, of a wake-up that may be for its next sleep */
	uint32_t call;	     /* the user's: the system call that it is in */
	uint32_t
		partner; /* index and 1 of a thread that it switched with, when it was not sure which is recorded */
	uint32_t switches;
	uint32_t cpu;			 /* running: where; SCHED_NO_CPU: unknown */
	uint32_t missing, missing_wakes; /* switches and wake-ups that are not in the trace */
	bool recorded;			 /* all of its switches are, as far as can be known */
	bool exits, ended;
	bool unseen; /* it has left its CPU by a switch that is missing */
};

#define SCHED_NO_CPU UINT32_MAX

/* A time in one state. */
struct sched_interval {
	uint32_t thread; /* index */
	enum sched_state state;
	uint64_t begin, end;
	uint32_t what;	/* blocked */
	uint32_t stack; /* blocked all the time: as of the thread */
	uint32_t waker; /* runnable: who made it so; blocked: who ended it; index and 1; 0: unknown */
	uint32_t
		cpu; /* running: where; runnable: for which it waited; SCHED_NO_CPU: unknown, or another state */
	bool unseen; /* running: it ended earlier, by a switch that is missing */
};

enum {
	SCHED_CPUS_MAX = 8192,
};

struct sched_slot {
	uint32_t tid, thread;
};

struct sched_range {
	uint32_t first, last;
};

struct sched {
	struct sched_thread *threads;
	size_t count, room;
	struct sched_slot *slots; /* the last thread of each id */
	size_t slot_count, slot_room;
	struct hash_table numbers;
	uint32_t *running; /* by CPU: index and 1 of the thread that was put on it */
	size_t cpu_room;
	uint32_t at_cpu; /* of the switch that is taken, and 1; 0: none is, or its CPU is unknown */
	uint32_t unseen; /* the user's: that a thread is blocked in after a switch that is missing */
	bool all;	 /* every thread of the machine is recorded */
	/* Ranges of ids of the recorded threads that lived at the end; NULL: unknown. sched_free() frees them. */
	struct sched_range *living;
	size_t living_count;
	/* Called for each interval when it ends; those of a thread in their order. Return: 0, or a negative errno that ends all. */
	int (*closed)(void *data, const struct sched_interval *interval);
	void *data;
};

/* The thread of an id, now. Return: its index, which stays; SIZE_MAX: no memory. */
size_t sched_find(struct sched *sched, uint32_t tid, uint64_t time);

/* How a thread left its CPU. */
enum sched_leave {
	SCHED_PREEMPTED, /* it wants to run on */
	SCHED_SLEEPS,
	SCHED_DIES,
};

/* A thread left a CPU for another one. */
struct sched_switch {
	uint32_t cpu; /* or SCHED_NO_CPU */
	uint32_t prev, next;
	enum sched_leave leave;
	uint32_t what; /* sleeps: in what */
};

/* Each of these takes a record. Ids of 0 are the idle tasks. Return: 0; -ENOMEM, or what ->closed returned. */
int sched_take_switch(struct sched *sched, uint64_t time, const struct sched_switch *record);
/* @waker: the thread that ran; @interrupt: it was interrupted, so it is not the waker, who has no id then. */
int sched_take_wake(struct sched *sched, uint64_t time, uint32_t tid, uint32_t waker, bool interrupt);
int sched_take_fork(struct sched *sched, uint64_t time, uint32_t parent, uint32_t child);
int sched_take_exit(struct sched *sched, uint64_t time, uint32_t tid);
/* A record by a thread, which runs therefore. @sure: it cannot be one of a switch that is under way */
int sched_take_other(struct sched *sched, uint64_t time, uint32_t tid, bool sure);

/* A thread that slept from a time on until the end. It counts if it has no other record. */
int sched_take_asleep(struct sched *sched, uint64_t begin, uint32_t tid, uint32_t what, uint32_t stack);

/* sched_finish - close the intervals that are open. */
int sched_finish(struct sched *sched, uint64_t time);

/* sched_recorded - whether a thread is one of those recorded, after the last record: not only one that they met. */
bool sched_recorded(const struct sched *sched, size_t thread);

/* Missing records of the recorded threads, as far as the others show them. */
struct sched_missing {
	uint64_t switches, wakes;
};

/* sched_missing - after the last record. @wakes: whether wake-ups were recorded at all */
struct sched_missing sched_missing(const struct sched *sched, bool wakes);

void sched_free(struct sched *sched);

#endif
