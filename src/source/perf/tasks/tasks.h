/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads and their processes, built from the kernel's records in order of time.
 *
 * A thread's id may be reused: each use is a generation, which begins with FORK and ends with EXIT. A process is an address
 * space: FORK of a process copies it, an exec begins a new one. Ended tasks are kept for some seconds: the kernel writes
 * EXIT before the thread is gone, and on a busy machine samples can follow for some time.
 *
 * A task has an entry in the table of tasks for each name, program and generation that was sampled.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_TASKS_H
#define BURIN_SOURCE_PERF_TASKS_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/table_writer.h"
#include "source/perf/tasks/jitdump.h"

enum {
	TASKS_NAME_MAX = 64,
};

#define TASKS_KEPT_NS UINT64_C(5000000000) /* for which ended tasks are kept, in the time of the records */

struct sample_process {
	uint32_t pid;
	unsigned uses; /* threads */
	unsigned live; /* those of them that have not ended */
	struct mappings mappings;
	struct sample_image *program; /* NULL: unknown */
	bool exec;		      /* after an exec: the next mapped file is its program */
	bool starting;		      /* after an exec: no sample so far shows that its program has begun */
	struct jit jit;
};

/* Whether a thread runs, and where it stopped; see offcpu.h. */
struct sample_wait {
	enum {
		SAMPLE_WAIT_NONE,   /* it runs, or has not run yet */
		SAMPLE_WAIT_BEFORE, /* it existed before the recording; no switch of it was read so far */
		SAMPLE_WAIT_STOPS,  /* its stack is known; the switch follows */
		SAMPLE_WAIT_BLOCKED,
		SAMPLE_WAIT_PREEMPTED,
		SAMPLE_WAIT_ENDED,
	} state;
	int loss;	      /* enum wire_sample: why task and stack are not known */
	uint64_t since;	      /* in the kernel's clock */
	uint32_t task, stack; /* 0: unknown */
	unsigned ends;	      /* how the stack ends: `struct attributed` */
	unsigned cpu;	      /* on which it stopped */
	bool woken;	      /* it was, since it stopped */
};

/* A wake-up before the switch of a thread that is on its way to sleep. */
struct sample_wake {
	uint64_t time; /* in the kernel's clock; 0: none */
	int loss;      /* as in struct sample_wait */
	uint32_t tid;  /* of the waker */
	uint32_t task, stack;
	unsigned ends;
	unsigned cpu; /* of the waker */
};

struct sample_task {
	struct sample_task *next; /* with the same hash */
	uint32_t tid;
	uint64_t since; /* ticks */
	char name[TASKS_NAME_MAX];
	struct sample_process *process;
	uint32_t number; /* its entry in the table; 0: not written, or out of date */
	bool ended;
	uint64_t ended_time;		     /* in the kernel's clock */
	struct sample_task *earlier, *later; /* if it has ended: those that ended before and after it */
	struct sample_wait wait;
	struct sample_wake early;
	struct deep_stack *deep; /* NULL: none is kept */
};

struct tasks {
	struct sample_task **buckets;
	struct images *images;
	struct table_writer *table;
	uint32_t processes;		       /* so far */
	struct sample_task *oldest, *youngest; /* of the ended tasks, in the order in which they ended */
	uint64_t failed;		       /* records that there was no memory for */
};

/* tasks_init - @images, @table: the caller's; must live as long as @tasks. Return: 0 or -ENOMEM. */
int tasks_init(struct tasks *tasks, struct images *images, struct table_writer *table);

/* tasks_take - process a record, and free tasks that ended more than TASKS_KEPT_NS before it. @ticks: its time */
void tasks_take(struct tasks *tasks, const struct record *record, uint64_t ticks);

/*
 * tasks_add - find a thread, or add one that has no FORK record.
 * Return: the task; NULL: no memory.
 */
struct sample_task *tasks_add(struct tasks *tasks, uint32_t pid, uint32_t tid, const char *name);

/* tasks_mapping - the mapping to add for an image; a mapped jitdump is attached to the process. */
struct mapping tasks_mapping(struct sample_process *process, struct sample_image *image,
			     const struct record_map *map);

/* tasks_find - find a thread. Return: NULL: unknown. */
struct sample_task *tasks_find(const struct tasks *tasks, uint32_t tid);

/* tasks_number - the task's entry in the table, which is written if there is none. Return: 0: write error. */
uint32_t tasks_number(struct tasks *tasks, struct sample_task *task);

/* tasks_renumber - the table was replaced by an empty one: tasks get new entries. */
void tasks_renumber(struct tasks *tasks);

/* tasks_each - call for all tasks, those that ended recently, too. */
void tasks_each(const struct tasks *tasks, void (*call)(void *data, struct sample_task *task), void *data);

void tasks_free(struct tasks *tasks);

#endif
