/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changes of the code of a traced process, from outside: functions that are on get their jump, others lose it
 * (wire/wire_patch.h; x86-64).
 *
 * Most code is changed while threads execute it (patch_running.h). For what is left, all threads of the process stand still, some hundred
 * microseconds. A thread that stands in the NOPs
 * of a function's begin goes on behind them. A function whose begin a signal handler will return into is tried again later.
 */
#ifndef BURIN_CONTROL_RUNNING_PATCH_PROCESS_H
#define BURIN_CONTROL_RUNNING_PATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/session.h"

struct patch_process_result {
	uint64_t changed;    /* functions */
	uint64_t missed;     /* functions that could not be changed */
	uint64_t longest_ns; /* that a thread stood still */
};

/*
 * patch_process - change the code of a process by the switches of its session.
 * @inode: of the session's file, which the process must have mapped
 * @running: rather change code that threads execute than stop them, which takes longer
 * Return: 0; -ENOENT: it has not loaded libburin-calls.so, or not of this version; -ESRCH, -EPERM; -ETIMEDOUT: a thread did
 * not stop within some seconds.
 */
int patch_process(pid_t pid, const struct session *session, uint64_t inode, bool running,
		  struct patch_process_result *result);

#endif
