/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changes of running processes, each made by a child process of the command that has a deadline: a process may give
 * itself memory whose readers wait for ever, and the command must neither hang nor crash.
 */
#ifndef BURIN_CONTROL_RUNNING_PROCESS_CHANGE_H
#define BURIN_CONTROL_RUNNING_PROCESS_CHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/running/load_calls.h"
#include "control/running/patch_process.h"
#include "control/target.h"

struct process_change {
	struct patch_process_result patched; /* of all processes */
	struct load_calls_result loaded;
	unsigned processes; /* that were changed */
	int error;	    /* 0, or the first negative errno ... */
	pid_t pid;	    /* ... its process ... */
	char problem[256];  /* ... and what it means, and what to do */
};

/* process_change_attach - load_calls(). Context: forks. Return: the error. */
int process_change_attach(pid_t pid, const char *library, struct process_change *change);

/*
 * process_change_patch - patch_process() for each process of a session that has loaded the library.
 * Context: forks. Return: the first error; processes that have ended are none.
 */
int process_change_patch(const struct target *target, const struct session *session,
			 struct process_change *change);

#endif
