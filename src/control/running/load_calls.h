/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Making a running process load the library that records calls, so that it has a session (x86-64, the GNU C library). */
#ifndef BURIN_CONTROL_RUNNING_LOAD_CALLS_H
#define BURIN_CONTROL_RUNNING_LOAD_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct load_calls_result {
	uint64_t thread_ns;  /* how long a thread was away from its own work, to load the library */
	uint64_t longest_ns; /* that another one stood still, since it was looked for */
};

/*
 * load_calls - load the library, unless the process has it.
 * @library: its path
 * @problem: receives why that cannot be done, and what to do, for a message behind the process's number
 * Return: 0 or a negative errno, and the problem.
 */
int load_calls(pid_t pid, const char *library, struct load_calls_result *result, char *problem, size_t bytes);

/* process_problem - the problem of an error of ptrace or of reading the process. */
void process_problem(pid_t pid, int error, char *problem, size_t bytes);

#endif
