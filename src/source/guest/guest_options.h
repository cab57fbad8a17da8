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
	GUEST_STACKS = 8192,			      /* half of the segments of a session */
	GUEST_STACK_BITS = 14,
	GUEST_PROGRAM_BITS = 23, /* of a stack in a program */
	GUEST_STACK_BITS_MAX = 16,
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

/* Where something happens. */
struct guest_mark {
	uint64_t address; /* of an instruction; 0: none */
	uint64_t given;	  /* the same before the kernel was moved */
	uint64_t time;	  /* since the guest began, in nanoseconds; 0: none */
	bool moves;	  /* it is in the kernel's file: KASLR moves it */
};

struct guest_range {
	uint64_t begin, end; /* end: exclusive */
	bool moves;
};

struct guest_options {
	bool kernel, user;	       /* code in the upper and in the lower half of the address space */
	bool level_kernel, level_user; /* the same before ranges left out more: whose calls are recorded */
	bool report;		       /* at the end, print counts */
	bool by_vcpu;		       /* threads of the trace are vCPUs, and not stacks */
	bool instructions;	       /* the clock counts them */
	struct guest_mark start, stop, snapshot; /* start: nothing is recorded before */
	struct guest_range given[GUEST_RANGES];	 /* as they were given */
	unsigned given_count;
	struct guest_range ranges[GUEST_RANGES]; /* moved, sorted and joined */
	unsigned range_count;			 /* 0: all functions */
	uint64_t moved;	 /* how far KASLR has moved the kernel, as far as that is known */
	uint64_t anchor; /* the kernel's first function behind its move, in its file; 0: unknown */
	bool has_tasks;	 /* `tasks` was given */
	uint64_t tasks[GUEST_TASK_PLACES];
	uint64_t task_begin, task_end; /* the part of a task that has all of these */
	uint64_t stacks;	       /* of programs that are kept, at most */
	unsigned stack_bits;	       /* a kernel's stack has 2 to the power of that many bytes */
};

extern struct guest_options guest_options;

/* guest_options_value - what is behind "KEY=" in an argument; NULL: it has another key. */
const char *guest_options_value(const char *argument, const char *key);

/* guest_options_take - an argument, "KEY=VALUE". Return: false: it is not valid. */
bool guest_options_take(const char *argument);

/* guest_options_complete - after the last argument: conclude which code has to be instrumented. */
void guest_options_complete(void);

/* guest_options_move - the same when it is known how far the kernel was moved. Context: a vCPU, before there are others. */
void guest_options_move(uint64_t distance);

/* guest_options_code - whether calls of the code at an address are instrumented. */
bool guest_options_code(uint64_t address);

/*
 * guest_options_is_shared - whether it depends on each execution if calls and returns of a kernel's code at an address are recorded. A kernel
 * runs some of its code in the lower half before its page tables have the upper one, and QEMU translates that once for both.
 */
bool guest_options_is_shared(uint64_t address);

/* guest_options_function - whether calls of a function are recorded. */
bool guest_options_function(uint64_t address);

#endif
