/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The end that live counts wait for: of a command, of processes, of a time, or by signals. */
#ifndef BURIN_CMD_LIVE_LIVE_COMMAND_H
#define BURIN_CMD_LIVE_LIVE_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "view/records/selection.h"

struct live_command {
	pid_t child;   /* 0: there is none */
	int go;	       /* a pipe: the child executes the command when it gets a byte */
	int report;    /* a pipe: the child's errno if that failed */
	int signals;   /* a signalfd */
	int processes; /* an epoll of the processes' pidfds; -1: there are none */
	size_t living;
	sigset_t before;
	int status;
	bool ended; /* the command, or the last of the processes */
	unsigned interrupts;
};

/* live_command_begin - fork the command, which waits; watch processes. @command: NULL: none. Return: 0 or -errno. */
int live_command_begin(struct live_command *run, char **command, const struct view_set *processes);

/* live_command_start - let the command begin, or if not @go exit. Return: 0; -errno of its exec. */
int live_command_start(struct live_command *run, bool go);

/* live_command_wait - wait for a moment (CLOCK_MONOTONIC, ns), or less long. Return: whether all is over: the command, or the processes, or signals came. */
bool live_command_wait(struct live_command *run, uint64_t until_ns);

/* live_command_status - the exit code of the command; 0: there is none. */
int live_command_status(const struct live_command *run);

#endif
