/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's events of `burin record`: options and messages, and the source beside the drain.
 *
 * Where they are not permitted, one line reports it, and the recording goes on without them.
 */
#ifndef BURIN_CMD_RECORD_SOURCES_KERNEL_EVENTS_H
#define BURIN_CMD_RECORD_SOURCES_KERNEL_EVENTS_H

#include "cmd/record/recorder/source.h"
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
	struct view_globs where; /* --k-where: conditions */
	unsigned sched;		 /* enum kernel_sched: what that needs is among the globs */
	uint64_t buffer_bytes;	 /* --kernel-buffer */
};

struct kernel_events {
	const struct kernel_choice *choice;
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

/* Of a struct kernel_events whose choice is set. */
extern const struct source_ops kernel_events_source;

#endif
