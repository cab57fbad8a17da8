/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads of a process, from /proc: what each does now, and its share of the time since the last reading. Nothing is stopped, and
 * nothing is written to the process.
 */
#ifndef BURIN_CMD_TOP_TOP_THREADS_H
#define BURIN_CMD_TOP_TOP_THREADS_H

#include "base/containers/arena.h"
#include "cmd/top/top_names.h"
#include "source/perf/stacks/sleeper_stack.h"
#include "view/top/top.h"

/* The counters of a thread at the last reading. */
struct top_threads_past {
	uint32_t tid;
	uint64_t begun; /* by the kernel's clock: a later thread with the same tid has another one */
	uint64_t run, queued, cpu_ns;
};

struct top_threads {
	uint32_t pid;
	/*
	 * /proc/PID/task. With ->stacks it stays open: it is never that of a later process with the same id. Otherwise it is open only
	 * during a reading: a machine has more processes than a process may have descriptors.
	 */
	int directory;
	int error;		       /* why a file could not be opened, if that is our fault; 0: none */
	bool stacks;		       /* read system calls and stacks, too */
	bool wanted;		       /* the caller's: it is shown */
	bool brief;		       /* keys wait for the reading: it takes no longer than a second */
	bool joined;		       /* threads with the same stack are one row */
	uint64_t read;		       /* when, CLOCK_MONOTONIC, ns; 0: never */
	struct top_threads_past *past; /* by tid */
	size_t past_count, past_room;
	struct top_thread *rows;
	size_t count, room;
	uint64_t sum;			/* threads in all */
	struct arena arena;		/* texts of the rows */
	struct sleeper_stacks sleepers; /* if ->stacks */
	struct top_names names;
};

/*
 * top_threads_begin - open a process.
 * @stacks: also read system calls and stacks, which must be permitted
 * Return: 0; -ESRCH: there is none; -EPERM, -EACCES: not permitted; -ENOMEM.
 */
int top_threads_begin(struct top_threads *threads, uint32_t pid, bool stacks);

/* top_threads_read - make the rows again. Return: 0; -ESRCH: it has ended; -ENOMEM, -EMFILE, -ENFILE. */
int top_threads_read(struct top_threads *threads);

/* top_threads_describe - set the system call of a row, and what it waits for, if they may be read. */
void top_threads_describe(struct top_threads *threads, struct top_thread *row);

void top_threads_end(struct top_threads *threads);

#endif
