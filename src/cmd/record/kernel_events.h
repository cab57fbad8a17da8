/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events of `burin record`: options and messages, and the source beside the drain.
 *
 * Where they are not permitted, one line reports it, and the recording goes on without them.
 */
#ifndef BURIN_CMD_RECORD_KERNEL_EVENTS_H
#define BURIN_CMD_RECORD_KERNEL_EVENTS_H

#include "control/enable_lease.h"
#include "source/kernel/mechanisms/kernel_module.h"
#include "source/kernel/kernel_source.h"
#include "view/records/selection.h"

/* --sched */
enum kernel_sched {
	KERNEL_SCHED_NONE,
	KERNEL_SCHED_SWITCHES,
	KERNEL_SCHED_STACKS, /* also of the threads that sleep */
	KERNEL_SCHED_WAKERS, /* also of the threads that wake them */
};

enum {
	KERNEL_THREADS = 1000, /* bytes of their list */
	KERNEL_CALLS_TEXT = 48,
};

struct kernel_choice {
	struct view_globs globs; /* --kernel */
	const char *where;	 /* --k-where; NULL: none */
	unsigned sched;		 /* enum kernel_sched: what that needs is among the globs */
	uint64_t buffer_bytes;	 /* --kernel-buffer */
};

struct kernel_events {
	bool opened;
	struct kernel_source source;
	bool by_module; /* the mechanism: burin.ko, else ->source's */
	struct kernel_module module;
	const char *lacks;		       /* as of ->module */
	char not_by_module[KERNEL_MODULE_WHY]; /* why, if it is loaded; else "" */
	struct enable_lease lease;	       /* of its events */
	int lease_file;
	unsigned events;
	char threads[KERNEL_THREADS]; /* recorded ones that live at the end, for the drain; "": unknown */
	uint64_t error_ns;	      /* valid after kernel_events_finish(), as the next one */
	enum kernel_mechanism mechanism;
	bool without_texts, without_unnamed; /* as of ->source */
	uint64_t unread;		     /* system calls that lack an argument */
	bool filtered;			     /* by --k-where */
	bool has_all_calls;		     /* every system call of the recorded tasks is recorded, ... */
	char calls[KERNEL_CALLS_TEXT];	     /* ... between these times, for the drain; "": before the end */
};

/*
 * kernel_events_open - attach to the tracepoints, if some were asked for.
 * @overwrite: keep the last records of each CPU, for snapshots and the end
 * @command: a child before its exec; 0: there is none
 * @processes: other processes to record, with their children
 * Return: 0, also if they cannot be recorded; CMD_USAGE: no tracepoint matches, or the filter does not fit.
 */
int kernel_events_open(struct kernel_events *kernel, const struct kernel_choice *choice,
		       struct session *session, bool all, bool overwrite, pid_t command,
		       const struct view_set *processes);

/* kernel_events_more - for the drain, or a live_reader; NULL: no kernel events are recorded. */
const struct drain_more *kernel_events_more(const struct kernel_events *kernel);

/* kernel_events_snapshot - for drain_snapshot(), if @overwrite; NULL: none, also of a kernel that is NULL. */
const struct drain_more *kernel_events_snapshot(struct kernel_events *kernel);

/* kernel_events_finish - end the recording, before the drain does. */
void kernel_events_finish(struct kernel_events *kernel);

/* kernel_events_close - free the memory, after the drain has finished. */
void kernel_events_close(struct kernel_events *kernel);

/* kernel_events_summary - print what was recorded, and how exact its times are. */
void kernel_events_summary(const struct kernel_events *kernel);

#endif
