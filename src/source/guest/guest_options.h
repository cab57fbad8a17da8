/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments: which calls are recorded. */
#ifndef BURIN_SOURCE_GUEST_GUEST_OPTIONS_H
#define BURIN_SOURCE_GUEST_GUEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GUEST_RANGES = 2048,
	GUEST_TASK_NAME = 16,			      /* bytes */
	GUEST_TASK_MAX = (1 << 15) + GUEST_TASK_NAME, /* bytes of a task that are read */
};

/* Distances in bytes, in the order of the argument "tasks=". */
enum guest_task_place {
	GUEST_TASK_CURRENT, /* from the base of a CPU's own data: the pointer to its task, */
	GUEST_TASK_BASE,    /* and a variable that has the base as its value */
	GUEST_TASK_STACK,   /* from the begin of a task: the pointer to its stack, */
	GUEST_TASK_PID,
	GUEST_TASK_PROCESS,
	GUEST_TASK_LEADER, /* the pointer to the first thread of its process, */
	GUEST_TASK_COMM,   /* and its name */
	GUEST_TASK_PLACES
};

struct guest_options {
	bool kernel, user; /* code in the upper and in the lower half of the address space */
	bool report;	   /* at the end, print counts */
	bool instructions; /* the clock counts them */
	bool starts;	   /* `start` was given: nothing is recorded before */
	bool stops;
	bool snaps;			/* `snapshot` was given */
	uint64_t start, stop, snapshot; /* addresses of instructions */
	struct guest_range {
		uint64_t begin, end; /* end: exclusive */
	} ranges[GUEST_RANGES];
	unsigned range_count; /* 0: all functions; otherwise guest_options_complete() has sorted them */
	bool has_tasks;	      /* `tasks` was given */
	uint64_t tasks[GUEST_TASK_PLACES];
	uint64_t task_begin, task_end; /* the part of a task that has all of these */
};

extern struct guest_options guest_options;

/* guest_options_take - an argument, "KEY=VALUE". Return: false: it is not valid. */
bool guest_options_take(const char *argument);

/* guest_options_complete - after the last argument: conclude which code has to be instrumented. */
void guest_options_complete(void);

/* guest_options_code - whether calls of the code at an address are instrumented. */
bool guest_options_code(uint64_t address);

/* guest_options_function - whether calls of a function are recorded. */
bool guest_options_function(uint64_t address);

#endif
