/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments: which calls are recorded. */
#ifndef BURIN_SOURCE_GUEST_GUEST_OPTIONS_H
#define BURIN_SOURCE_GUEST_GUEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GUEST_RANGES = 2048,
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
