/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who runs: threads and the processes that they belong to, as the kernel tells of them in order of time.
 *
 * A thread's id may be used again: each use is a generation of its own, begun by FORK and ended by EXIT. A process is an
 * address space: FORK of a process copies it, an exec begins a new one. What has ended stays for a second or more: the kernel
 * says so while the thread still has to go, and on a busy machine that takes its time, with samples.
 *
 * A task has an entry in the table of tasks for each name, program and generation that was sampled.
 */
#ifndef BURIN_SOURCE_SAMPLE_TASKS_H
#define BURIN_SOURCE_SAMPLE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/interned.h"
#include "source/sample/jit.h"

enum {
	TASKS_NAME_MAX = 64,
	TASKS_KEPT_ROUNDS = 200, /* who has ended is known so long: a second or more */
};

struct sample_process {
	uint32_t pid;
	unsigned uses; /* threads */
	struct mappings mappings;
	struct sample_image *program; /* NULL: unknown */
	bool exec;		      /* its program is the first file that is mapped */
	struct jit jit;
};

/* Whether a thread runs, and where it has stopped; see waits.h. */
struct sample_wait {
	enum {
		SAMPLE_WAIT_NONE,   /* it runs, or has not run yet */
		SAMPLE_WAIT_BEFORE, /* it was there, and nothing has been told of it so far */
		SAMPLE_WAIT_STOPS,  /* why will be told next */
		SAMPLE_WAIT_BLOCKED,
		SAMPLE_WAIT_PREEMPTED,
		SAMPLE_WAIT_ENDED,
	} state;
	int loss;	/* enum sample_loss: why task and stack are not known */
	uint64_t since; /* as the kernel has it */
	uint32_t task, stack;
	unsigned ends; /* the stack: `struct attributed` */
	unsigned cpu;  /* on which it stopped */
};

struct sample_task {
	struct sample_task *next; /* with the same hash */
	uint32_t tid;
	uint64_t since; /* ticks */
	char name[TASKS_NAME_MAX];
	struct sample_process *process;
	uint32_t number; /* its entry as it is now; 0: not made */
	bool ended;
	uint64_t ended_round;
	struct sample_wait wait;
};

struct tasks {
	struct sample_task **buckets;
	struct images *images;
	struct interned *table;
	uint64_t round;
	uint32_t processes; /* so far */
	unsigned ended;	    /* tasks that wait for being forgotten */
	uint64_t failed;    /* there was no memory for what was told */
};

/* tasks_init - @images, @table: the caller's, live as long. Return: 0 or -ENOMEM. */
int tasks_init(struct tasks *tasks, struct images *images, struct interned *table);

/* tasks_take - learn from a record. @ticks: its time */
void tasks_take(struct tasks *tasks, const struct record *record, uint64_t ticks);

/*
 * tasks_add - a thread that is known from elsewhere than a record.
 * Return: the task, made or found; NULL: no memory.
 */
struct sample_task *tasks_add(struct tasks *tasks, uint32_t pid, uint32_t tid, const char *name);

/* tasks_mapping - what a mapping of an image means in a process, which learns of a jitdump by it. */
struct mapping tasks_mapping(struct sample_process *process, struct sample_image *image,
			     const struct record_map *map);

/* tasks_find - NULL: nobody knows it. */
struct sample_task *tasks_find(const struct tasks *tasks, uint32_t tid);

/* tasks_number - its entry in the table, which is made if there is none for what it is now. Return: 0: it cannot be had. */
uint32_t tasks_number(struct tasks *tasks, struct sample_task *task);

/* tasks_each - all that are known, those that have ended lately too. */
void tasks_each(const struct tasks *tasks, void (*call)(void *data, struct sample_task *task), void *data);

/* tasks_round - a round has ended: forget who has ended more than TASKS_KEPT_ROUNDS ago. */
void tasks_round(struct tasks *tasks);

void tasks_free(struct tasks *tasks);

#endif
