/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree of a command, or of processes that exist, followed by the kernel, so that one event per CPU samples the tree and
 * nothing else.
 *
 * A map in the kernel has the tasks of the tree, by their address. Small BPF programs at tracepoints keep it up to date: a
 * fork in the tree adds the new task, and a task that is freed is removed. Another map has the processes that the tree
 * grows from, by id. A further program is attached to each sampling event. The kernel asks it before it writes a sample,
 * and writes none of tasks outside the tree. All of this disappears with the descriptors, so nothing stays behind a killed
 * recorder.
 *
 * Threads that exist at the beginning have events of their own. Theirs is another program, since a thread that begins while
 * they are listed may be in the tree, too: each task is sampled by the one event or by the other.
 *
 * See docs/decisions/0033-one-event-per-cpu.md.
 */
#ifndef BURIN_SOURCE_PERF_RINGS_TREE_H
#define BURIN_SOURCE_PERF_RINGS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/perf/rings/tree_state.h"

enum tree_program {
	TREE_FORK,
	TREE_EXEC,
	TREE_END,
	TREE_PROGRAMS,
};

enum {
	TREE_ROOM = 16384, /* tasks that live at once */
	TREE_ROOTS = 4096, /* processes that exist at the beginning */
};

struct tree {
	bool open;
	uint64_t refused;	    /* processes that tree_add() had no room for */
	int members;		    /* map: address of a task, which a root or another member has made */
	int roots;		    /* map: process -> enum tree_state */
	int full;		    /* array of one number: forks for which the map had no room */
	int watches[TREE_PROGRAMS]; /* of the tracepoints, and their programs */
	int programs[TREE_PROGRAMS];
	int filter, own_filter; /* the programs of sampling events: of CPUs; of tasks, if there are some */
	uint64_t namespace_device, namespace_inode; /* of our process ids */
	bool first_namespace;			    /* it is the one that the kernel began with */
};

/*
 * tree_open - load the programs, and follow forks from now on.
 * @room: for how many tasks
 * @why: what is missing, if it fails
 * Return: 0 or -errno; then tree_close() has nothing to do.
 */
int tree_open(struct tree *tree, unsigned room, char *why, size_t bytes);

/*
 * tree_add - add a process that exists; what it and its children begin is added by the kernel.
 * Return: 0, also if there is no room, which is counted; or -errno.
 */
int tree_add(struct tree *tree, pid_t process, enum tree_state state);

/* tree_knows - whether the kernel's programs can see the process's ids: those of a nested PID namespace only from the first one. */
bool tree_knows(const struct tree *tree, pid_t process);

/* tree_remove - the opposite. */
void tree_remove(const struct tree *tree, pid_t process);

/*
 * tree_filter - let an event sample only its part. Before the event is enabled.
 * @own: it is an event of a task, and samples it unless it is in the map; else one of a CPU, which samples the tree
 * Return: 0 or -errno.
 */
int tree_filter(struct tree *tree, int event, bool own);

/* tree_missed - tasks so far that were not added, so that they and their children have no samples. */
uint64_t tree_missed(const struct tree *tree);

void tree_close(struct tree *tree);

#endif
